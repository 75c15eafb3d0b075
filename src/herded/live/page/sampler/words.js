// 64-bit words as pairs of 32-bit ones, and the streams of herded.system.numerics.counter_rng: SplitMix64.
// A draw gives its high half; the low half is asked for where it is needed.

const GOLDEN_HIGH = 0x9e3779b9, GOLDEN_LOW = 0x7f4a7c15;
const A_HIGH = 0xbf58476d, A_LOW = 0x1ce4e5b9;
const B_HIGH = 0x94d049bb, B_LOW = 0x133111eb;
const HALF = 2 ** 32;

let high = 0, low = 0;

/** The high half of the product of two 32-bit words. */
function highOfProduct(a, b) {
  const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
  // Each sum is below 2^32: what Math.imul has as negative comes right as an unsigned number.
  const middle = Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16);
  const cross = Math.imul(a0, b1) + (middle & 0xffff);
  return (Math.imul(a1, b1) + (middle >>> 16) + (cross >>> 16)) | 0;
}

/** (high, low) *= (h, l), modulo 2^64. */
function multiply(h, l) {
  const top = highOfProduct(low, l) + Math.imul(high, l) + Math.imul(low, h);
  low = Math.imul(low, l);
  high = top | 0;
}

/** (high, low) ^= (high, low) >> n, for n below 32. */
function fold(n) {
  low ^= (low >>> n) | (high << (32 - n));
  high ^= high >>> n;
}

function mix() {
  fold(30);
  multiply(A_HIGH, A_LOW);
  fold(27);
  multiply(B_HIGH, B_LOW);
  fold(31);
}

/** The high 32 of the 64 random bits for `counter` (below 2^53) in the stream `key`. */
export function draw(key, counter) {
  low = counter | 0;
  high = (counter / HALF) | 0;
  multiply(GOLDEN_HIGH, GOLDEN_LOW);
  const sum = (low >>> 0) + key.low;
  low = sum | 0;
  high = (high + key.high + (sum >= HALF ? 1 : 0)) | 0;
  mix();
  return high >>> 0;
}

/** The low 32 bits of the last draw. */
export function lowBits() {
  return low >>> 0;
}

/** The key made of the last draw. */
export function asKey() {
  return { high: high >>> 0, low: low >>> 0 };
}

/** The last draw modulo a small number. */
export function lastModulo(n) {
  return (((high >>> 0) % n) * (HALF % n) + ((low >>> 0) % n)) % n;
}

/** The last draw, shifted right by 11, modulo a small number. */
export function lastShiftedModulo(n) {
  return ((high >>> 0) * 0x200000 + (low >>> 11)) % n;
}

/** The key of a stream named by whole numbers, such as (seed, chain, purpose). */
export function streamKey(...numbers) {
  high = low = 0;
  for (const number of numbers) {
    const sum = ((low ^ number % HALF) >>> 0) + GOLDEN_LOW;
    high = ((high ^ Math.floor(number / HALF)) + GOLDEN_HIGH + (sum >= HALF ? 1 : 0)) | 0;
    low = sum | 0;
    mix();
  }
  return asKey();
}

/** A key a small number further. */
export function keyPlus(key, n) {
  const sum = key.low + n;
  return { high: (key.high + (sum >= HALF ? 1 : 0)) >>> 0, low: sum >>> 0 };
}
