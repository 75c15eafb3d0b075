// exp and log of herded.system.numerics.exp_log: the same steps on the same doubles, so the same bits.
// The tables are found from whole numbers of any length, once.

const BITS = 160n, ONE = 1n << BITS, PARTS = 128, FINE = 42n;

/** The double nearest to a quotient of whole numbers. */
function quotient(top, bottom) {
  if (top === 0n) return 0;
  const negative = top < 0n;
  const size = negative ? -top : top;
  const lift = BigInt(Math.max(0, 66 + bottom.toString(2).length - size.toString(2).length));
  let whole = (size << lift) / bottom;
  if (whole * bottom !== size << lift) whole |= 1n; // what is cut off still decides a tie
  const found = Number(whole) * 2 ** -Number(lift);
  return negative ? -found : found;
}

function isqrt(n) {
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/** Rounded down, as Python divides. */
function floored(a, b) {
  return a < 0n && a % b !== 0n ? a / b - 1n : a / b;
}

function scaledLog(top, bottom) {
  const z = floored((top - bottom) * ONE, top + bottom);
  const square = (z * z) >> BITS;
  let power = z, total = 0n, odd = 1n;
  while (power !== 0n && power !== -1n) {
    total += floored(power, odd);
    power = (power * square) >> BITS;
    odd += 2n;
  }
  return 2n * total;
}

function split(number) {
  const high = (number + (1n << (BITS - FINE - 1n))) >> (BITS - FINE);
  return [quotient(high, 1n << FINE), quotient(number - (high << (BITS - FINE)), ONE)];
}

function expTable() {
  let root = 2n * ONE;
  for (let halvings = 0; halvings < 7; halvings++) root = isqrt(root * ONE);
  const table = new Float64Array(2 * PARTS);
  let power = ONE;
  for (let j = 0; j < PARTS; j++) {
    const rounded = quotient(power, ONE);
    const exactly = BigInt(rounded * 2 ** 52) << (BITS - 52n);
    table[2 * j] = rounded;
    table[2 * j + 1] = quotient(power - exactly, exactly);
    power = (power * root) >> BITS;
  }
  return table;
}

const words = new Uint32Array(2), double = new Float64Array(words.buffer);

const AT_ONE = 75;
// The high word of the doubles where the table of logarithms begins; the low word is 0.
const FIRST = 0x3ff00000 - ((2 * AT_ONE + 1) << 12);

function logTable() {
  const table = new Float64Array(3 * PARTS);
  for (let j = 0; j < PARTS; j++) {
    words[0] = 0;
    words[1] = FIRST + ((2 * j + 1) << 12);
    // Whole numbers are told apart by halves nowhere here, so that rounding up is rounding.
    const inverse = j === AT_ONE ? 65536 : Math.round(65536 / double[0]);
    table[3 * j] = inverse / 65536;
    [table[3 * j + 1], table[3 * j + 2]] = split(scaledLog(65536n, BigInt(inverse)));
  }
  return table;
}

const LOG_2 = scaledLog(2n, 1n);
const EXP = expTable(), LOG = logTable();
const PER_PART = quotient(BigInt(PARTS) * ONE, LOG_2);
const [PART_HIGH, PART_LOW] = split(LOG_2 / BigInt(PARTS));
const [TWO_HIGH, TWO_LOW] = split(LOG_2);
const SHIFT = 1.5 * 2 ** 52;

/** A power of two that is no subnormal number. */
function twoTo(n) {
  words[0] = 0;
  words[1] = (n + 1023) << 20;
  return double[0];
}

/** e^x */
export function exp(x) {
  if (x !== x) return NaN;
  if (x > 710) return Infinity;
  if (x < -746) return 0;
  const whole = x * PER_PART + SHIFT - SHIFT;
  const r = x - whole * PART_HIGH - whole * PART_LOW;
  const square = r * r;
  const j = ((whole % PARTS) + PARTS) % PARTS, octave = (whole - j) / PARTS;
  const rest =
    r + (EXP[2 * j + 1] + square * (0.5 + r * (1 / 6) + square * (1 / 24 + r * (1 / 120))));
  const power = EXP[2 * j];
  const half = octave >> 1; // two steps, of which only the second can round or overflow
  return (power + power * rest) * twoTo(half) * twoTo(octave - half);
}

/** The natural logarithm. */
export function log(x) {
  let lifted = 0;
  if (!(x >= 2 ** -1022 && x < Infinity)) {
    if (x === 0) return -Infinity;
    if (x === Infinity) return Infinity;
    if (!(x > 0)) return NaN;
    x *= 2 ** 54;
    lifted = 54;
  }
  double[0] = x;
  const above = words[1] - FIRST;
  const octave = above >> 20;
  words[1] -= octave << 20;
  const j = 3 * ((above >> 13) & (PARTS - 1));
  const m = double[0];
  words[0] = 0;
  const high = double[0], inverse = LOG[j];
  const rHigh = high * inverse - 1, rLow = (m - high) * inverse;
  const r = rHigh + rLow;
  const e = octave - lifted;
  const whole = e * TWO_HIGH + LOG[j + 1];
  const low = rHigh - r + rLow + (e * TWO_LOW + LOG[j + 2]);
  const square = r * r;
  const tail = r * (1 / 5) - 1 / 4 + square * (r * (1 / 7) - 1 / 6);
  const series = square * (r * (1 / 3) - 0.5 + square * tail);
  const total = whole + r;
  return total + (whole - total + r + low + series);
}

/** round(pi(X = 1) * 2^31) from both log-potentials. */
export function fixedScalar(zero, one) {
  if (zero === one) return 2 ** 30;
  return Math.floor(2 ** 31 / (1 + exp(zero - one)) + 0.5);
}
