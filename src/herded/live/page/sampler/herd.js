// A herd on a grid: members are bits of bytes, eight to a word. At every visit of a site all of
// them draw with two fresh phases, in an order that each site has of its own.

import { COUNTS, conditionals, packing, wrapBorder } from "./grid.js";
import { asKey, draw, lastShiftedModulo, lowBits, streamKey } from "./words.js";

const WORD = 8, LANES = 128, COLUMNS = LANES + 1024;

export class GridHerd {
  constructor(model, { members, seed, chain = 0 }) {
    const { height, width } = model;
    this.model = model;
    this.members = members;
    this.words = Math.ceil(members / WORD);
    this.p = Uint32Array.from(conditionals(model, COUNTS));
    this.key = streamKey(seed, chain, 4);
    this.orderKey = streamKey(seed, chain, 5);
    this.wide = width + 2;
    this.x = Array.from({ length: this.words }, () => new Uint8Array((height + 2) * this.wide));
    this.start(streamKey(seed, chain, 3));
    this.ones = new Uint32Array(height * width);
    this.sweeps = 0;
    this.pack = packing(height, width);
    const lanes = this.pack.rows * this.pack.columns;
    this.low = new Uint8Array(lanes);
    this.high = new Uint8Array(lanes);
    this.chance = new Uint8Array(lanes);
    this.fineChance = new Uint16Array(lanes);
    this.full = placeOrders(WORD);
    this.last = placeOrders(((members - 1) % WORD) + 1);
  }

  /** Bit k of the draw of a site is the state of member k, of 64 members to a draw. */
  start(key) {
    const { height, width } = this.model, draws = Math.ceil(this.members / 64);
    for (let g = 0; g < this.words; g++) {
      const live = Math.min(WORD, this.members - g * WORD), byte = g % 8;
      for (let site = 0; site < height * width; site++) {
        const top = draw(key, site * draws + (g >> 3));
        const half = byte < 4 ? lowBits() : top;
        const at = (Math.floor(site / width) + 1) * this.wide + (site % width) + 1;
        this.x[g][at] = (half >>> (8 * (byte % 4))) & (2 ** live - 1);
      }
    }
    this.wrap();
  }

  /** All members in the same state. */
  setStates(states) {
    const { height, width } = this.model;
    for (let g = 0; g < this.words; g++) {
      const every = 2 ** Math.min(WORD, this.members - g * WORD) - 1;
      for (let r = 0; r < height; r++) {
        const to = (r + 1) * this.wide + 1;
        for (let c = 0; c < width; c++) this.x[g][to + c] = states[r * width + c] ? every : 0;
      }
    }
    this.wrap();
  }

  /** Member after member. */
  get states() {
    const { height, width } = this.model, found = new Uint8Array(this.members * height * width);
    for (let k = 0, to = 0; k < this.members; k++) {
      for (let r = 0; r < height; r++) {
        const from = (r + 1) * this.wide + 1;
        for (let c = 0; c < width; c++) found[to++] = (this.x[k >> 3][from + c] >> (k & 7)) & 1;
      }
    }
    return found;
  }

  sweep() {
    const { strips } = this.pack;
    for (const colour of [0, 1]) {
      for (let strip = 0; strip < strips; strip++) this.sweepStrip(colour, strip);
      this.wrap();
    }
    this.sweeps += 1;
  }

  sweepStrip(colour, strip) {
    const { rows, columns, strips } = this.pack, { height } = this.model;
    const clock = this.sweeps * 2 * strips + colour * strips + strip;
    const a = draw(this.key, clock), b = lowBits();
    for (let lane = 0; lane < rows * columns; lane++) {
      const z = laneBits(a, b, lane);
      this.low[lane] = z >>> 25;
      this.high[lane] = (z >>> 18) & 127;
      this.chance[lane] = (z >>> 10) & 255;
    }
    draw(this.orderKey, clock);
    const key = asKey(), windows = new Int32Array(Math.ceil((rows * columns) / LANES));
    this.drawFineChances(key, rows * columns);
    shuffled(this.words, key).forEach((word, turn) => {
      for (let cell = 0; cell < windows.length; cell++) {
        windows[cell] = draw(key, (1 + cell) * this.words + turn) >>> 22;
      }
      const first = strip * rows;
      for (let r = first; r < Math.min(first + rows, height); r++) {
        this.drawRow(r, colour, word, turn, windows);
      }
    });
  }

  /** What decides how conditionals are rounded to 15 bits; 32 random bits serve two lanes. */
  drawFineChances(key, lanes) {
    const a = draw(key, 0), b = lowBits();
    for (let lane = 0; lane < lanes; lane++) {
      const half = lane & 64, z = laneBits(a, b, lane - half);
      this.fineChance[lane] = half ? z : z >>> 16;
    }
  }

  drawRow(r, colour, word, turn, windows) {
    const { wide, ones, p, low, high, chance, fineChance } = this, { width } = this.model;
    const { rows, columns } = this.pack, x = this.x[word];
    const whole = word < this.words - 1 || this.members % WORD === 0;
    const orders = whole ? this.full : this.last, end = orders.length;
    const shift = 64 * (turn >> 1);
    for (let c = (r + colour) & 1; c < width; c += 2) {
      const at = (r + 1) * wide + c + 1, site = r * width + c;
      const left = x[at - 1], right = x[at + 1], up = x[at - wide], down = x[at + wide];
      // How many neighbours of each member are 1, in binary, eight members at once.
      const ab = left ^ right, cd = up ^ down, e = left & right, f = up & down;
      const counts = (ab ^ cd) | ((e ^ f ^ (ab & cd)) << 8) | ((e & f) << 16);
      const lane = (r % rows) * columns + (c >> 1);
      const column = windows[lane >> 7] + (lane & 127), rounding = (chance[lane] + shift) & 255;
      const fine = fineChance[lane];
      // Both phases in one number: conditionals of 1/2 and more, but for 1, add to the upper one.
      let phases = low[lane] | (high[lane] << 16), state = 0;
      for (let rank = column; rank < end; rank += COLUMNS) {
        const k = orders[rank], mine = counts >> k;
        const count = (mine & 1) | ((mine >> 7) & 2) | ((mine >> 14) & 4);
        const whole = p[site * COUNTS + count];
        const q = ((whole >>> 16) + ((whole & 0xffff) > fine) + rounding) >> 8;
        const which = ((q >> 6) & 1) << 4;
        phases += q << which;
        state |= ((phases >> (7 + which)) & 1) << k;
        phases &= 0x7f007f;
      }
      low[lane] = phases;
      high[lane] = phases >> 16;
      x[at] = state;
      ones[site] += bitCount(state);
    }
  }

  wrap() {
    if (this.model.periodic) this.x.forEach((x) => wrapBorder(x, this.model.height, this.wide));
  }
}

function bitCount(byte) {
  byte -= (byte >> 1) & 0x55;
  byte = (byte & 0x33) + ((byte >> 2) & 0x33);
  return (byte + (byte >> 4)) & 15;
}

/** 32 random bits of a lane; a and b are the key of its strip. */
function laneBits(a, b, lane) {
  let z = (Math.imul(lane, 0x9e3779b9) + a) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = z ^ (z >>> 15) ^ b;
  z = Math.imul(z, 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** A random order of 0 .. n - 1 (Fisher and Yates). */
function shuffled(n, key) {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let last = n - 1; last > 0; last--) {
    draw(key, last);
    const other = lastShiftedModulo(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/** (live, COLUMNS): the places of a word in the order of their turns, another for each column. */
function placeOrders(live) {
  const key = streamKey(0, live, 5), orders = new Uint8Array(live * COLUMNS);
  const tops = new Float64Array(live), lows = new Float64Array(live);
  for (let column = 0; column < COLUMNS; column++) {
    const ranks = Array.from({ length: live }, (_, row) => row);
    for (let row = 0; row < live; row++) {
      tops[row] = draw(key, row * COLUMNS + column);
      lows[row] = lowBits();
    }
    ranks.sort((a, b) => tops[a] - tops[b] || lows[a] - lows[b]);
    ranks.forEach((row, rank) => (orders[rank * COLUMNS + column] = row));
  }
  return orders;
}
