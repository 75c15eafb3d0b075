// How links spell pictures of two levels, as herded.live.picture_codec does, and Python spells tables.

/** "r" and the lengths of runs, 0 first, or "b" and bits: whichever is shorter, in base 64. */
export function encodePicture(bits) {
  const runs = [];
  let last = 0, length = 0;
  for (const bit of bits) {
    if (bit !== last) {
      putLength(runs, length);
      length = 0;
      last = bit;
    }
    length += 1;
  }
  putLength(runs, length);
  if (8 * runs.length < bits.length) return "r" + base64(runs);
  const packed = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, i) => (packed[i >> 3] |= bit << (i & 7)));
  return "b" + base64(packed);
}

/** Seven bits to a byte, the lowest first; the highest bit says that more follow. */
function putLength(bytes, length) {
  while (length > 127) {
    bytes.push((length & 127) | 128);
    length >>>= 7;
  }
  bytes.push(length);
}

/** The bits of a text of `encodePicture`; null where it is none of n pixels. */
export function decodePicture(text, n) {
  let bytes;
  try {
    bytes = unbase64(text.slice(1));
  } catch {
    return null;
  }
  const bits = new Uint8Array(n);
  if (text[0] === "b") {
    if (bytes.length !== Math.ceil(n / 8)) return null;
    return bits.map((_, i) => (bytes[i >> 3] >> (i & 7)) & 1);
  }
  if (text[0] !== "r") return null;
  let at = 0, bit = 0, length = 0, place = 0;
  for (const byte of bytes) {
    length += (byte & 127) * 2 ** place;
    place += 7;
    if (byte & 128) continue;
    if (at + length > n) return null;
    bits.fill(bit, at, at + length);
    at += length;
    bit = 1 - bit;
    length = place = 0;
  }
  return at === n ? bits : null;
}

/** Numbers of 32 bits in base 64, the lowest byte first. */
export function decodeNumbers(text) {
  return new Uint32Array(unbase64(text).buffer);
}

/** The bytes of a text in base 64; an error where it is none. */
export function unbase64(text) {
  const packed = atob(text.replaceAll("-", "+").replaceAll("_", "/")), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
}

export function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
