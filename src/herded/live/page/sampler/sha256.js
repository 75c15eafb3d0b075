// SHA-256 (FIPS 180-4). The browser has one of its own, but not on every page, and never at once.

/** The constants: first bits of the fractions of roots of primes. */
function roots() {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const bits = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
  return [primes.slice(0, 8).map((p) => bits(Math.sqrt(p))), primes.map((p) => bits(Math.cbrt(p)))];
}

const [START, K] = roots();
const turned = (x, n) => (x >>> n) | (x << (32 - n));

/** The hash of bytes, as 64 hexadecimal digits. */
export function sha256(bytes) {
  const length = ((bytes.length + 8) >> 6) + 1;
  const padded = new Uint8Array(64 * length);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(64 * length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(64 * length - 4, (bytes.length << 3) >>> 0);
  const state = Int32Array.from(START), w = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let t = 0; t < 16; t++) w[t] = view.getInt32(at + 4 * t);
    for (let t = 16; t < 64; t++) {
      const a = w[t - 15], b = w[t - 2];
      const first = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
      const second = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
      w[t] = (w[t - 16] + first + w[t - 7] + second) | 0;
    }
    block(state, w);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function block(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + one + ((e & f) ^ (~e & g)) + K[t] + w[t]) | 0;
    const zero = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const second = (zero + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (state[i] + word) | 0));
}
