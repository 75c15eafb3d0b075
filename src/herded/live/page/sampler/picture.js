// Noise on pictures of two levels, to the same bits as herded.live.picture_codec makes it.

import { log } from "./exp.js";
import { draw, lowBits, streamKey } from "./words.js";

const NOISE = 6; // the purpose of the stream of noise
const TRIES = 32; // for each pixel, of which four in five succeed

/** A normal number for each of n pixels: Marsaglia's polar method, one of each pair. */
export function gaussians(seed, n) {
  const key = streamKey(seed, 0, NOISE), found = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const u = draw(key, i * TRIES + attempt) * 2 ** -31 - 1, v = lowBits() * 2 ** -31 - 1;
      const s = u * u + v * v;
      if (s > 0 && s < 1) {
        found[i] = u * Math.sqrt((-2 * log(s)) / s);
        break;
      }
    }
  }
  return found;
}

/** The picture, -1 and 1, seen through noise of this standard deviation. */
export function noisyPicture(bits, sigma, seed) {
  return gaussians(seed, bits.length).map((g, i) => (bits[i] ? 1 : -1) + sigma * g);
}
