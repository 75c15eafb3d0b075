// Layout "table": variable by variable, one row of conditionals for every state of the neighbours.
// Algorithm 1 with a weight for each row ("herded"), or draws at random ("gibbs").

import { draw, keyPlus, streamKey } from "./words.js";

const ONE = 2 ** 24; // of herding; random draws of several states have 2 ** 30

export class TableChain {
  /**
   * `table`: cardinalities, order (of visits), entryStart, neighbourStart, neighbour, scalar,
   * and the conditionals p, those of herding in herdedP where they differ.
   * `start`: the first state of every variable.
   */
  constructor(table, { method, seed, chain = 0, start }) {
    this.table = table;
    this.n = table.cardinalities.length;
    this.width = Math.max(...table.cardinalities);
    this.herded = method === "herded";
    this.p = (this.herded && table.herdedP) || table.p;
    this.key = streamKey(seed, chain, 1);
    this.x = Uint8Array.from(start);
    this.counts = new Float64Array(this.n * this.width);
    this.sweeps = 0;
    this.members = 1;
    this.w = this.herded ? startWeights(table, this.p, streamKey(seed, chain, 2)) : null;
  }

  get states() {
    return this.x;
  }

  sweep() {
    const { order, entryStart, neighbourStart, neighbour, cardinalities, scalar } = this.table;
    const { p, x, w, counts, n, width } = this;
    const clock = this.sweeps * n;
    for (const i of order) {
      let row = 0;
      for (let e = neighbourStart[i]; e < neighbourStart[i + 1]; e++) {
        row = row * cardinalities[neighbour[e]] + x[neighbour[e]];
      }
      const states = cardinalities[i], at = entryStart[i] + row * (scalar ? 1 : states);
      if (scalar) x[i] = this.herded ? herdScalar(w, at, p[at]) : drawScalar(this.key, clock + i, p[at]);
      else if (this.herded) x[i] = herdVector(w, p, at, states);
      else x[i] = drawVector(draw(this.key, clock + i) >>> 2, p, at);
    }
    for (let i = 0; i < n; i++) counts[i * width + x[i]] += 1;
    this.sweeps += 1;
  }
}

/** The carry of phase + p; the phase stays below 2^31. */
function herdScalar(w, at, p) {
  const phi = (w[at] + p) >>> 0;
  w[at] = phi & 0x7fffffff;
  return phi >>> 31;
}

function drawScalar(key, counter, p) {
  return draw(key, counter) >>> 1 < p ? 1 : 0;
}

/** The argmax of w + p over the possible states, the first of equals. */
function herdVector(w, p, at, states) {
  let best = -1;
  for (let k = at; k < at + states; k++) {
    w[k] += p[k];
    if (p[k] > 0 && (best < 0 || w[k] > w[best])) best = k;
  }
  w[best] -= ONE;
  return best - at;
}

function drawVector(left, p, at) {
  let k = at;
  while (left >= p[k]) left -= p[k++];
  return k - at;
}

function startWeights(table, p, key) {
  const { cardinalities, entryStart, scalar } = table;
  if (scalar) return Uint32Array.from(p, (_, at) => draw(key, at) >>> 1);
  const w = new Int32Array(p.length);
  for (let i = 0; i < cardinalities.length; i++) {
    const states = cardinalities[i];
    const keys = Array.from({ length: states }, (_, k) => keyPlus(key, k));
    for (let at = entryStart[i]; at < entryStart[i + 1]; at += states) {
      let total = 0;
      for (let k = 0; k < states; k++) total += w[at + k] = draw(keys[k], at) >>> 8;
      const mean = Math.floor(total / states);
      for (let k = 0; k < states; k++) w[at + k] -= mean;
      w[at] -= total - states * mean;
    }
  }
  return w;
}
