// Files in links: deflate and base 64; herded.live.scene_links reads the same.

import { base64, unbase64 } from "../sampler/coding.js";

/** A text as a word of a link. */
export async function pack(text) {
  return base64(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text)));
}

/** And back; an error where it is none. */
export async function unpack(word) {
  return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), unbase64(word)));
}

async function through(stream, bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
