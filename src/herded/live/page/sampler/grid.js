// Layout "grid": an Ising model on a grid, equal couplings, first one colour of the checkerboard
// and then the other. Weights by the neighbours' four bits ("herded"), by how many of them are 1
// ("shared"), or draws at random ("gibbs"). Phases and draws are named as herded names them: by
// the place of a site where colours lie packed in strips.

import { fixedScalar } from "./exp.js";
import { draw, lastModulo, streamKey } from "./words.js";

const STRIP = 512; // sites of a strip, at least
export const COUNTS = 5, BITS = 16;

/** Where herded has its sites: columns of a half-lattice, rows of a strip, strips. */
export function packing(height, width) {
  const columns = (width + 1) >> 1;
  const rows = Math.min(height, Math.ceil(STRIP / columns));
  return { columns, rows, strips: Math.ceil(height / rows) };
}

/** Every conditional, (sites, contexts), at scale 2^31; `model` has height, width, field, coupling,
 * periodic. */
export function conditionals({ height, width, field, coupling, periodic }, contexts) {
  const p = new Uint32Array(height * width * contexts), edges = new Uint8Array(4);
  for (let r = 0, site = 0; r < height; r++) {
    for (let c = 0; c < width; c++, site++) {
      // Left, right, up, down in the order of the model's factors: edges around the border come last.
      let n = 0;
      if (c > 0) edges[n++] = 0;
      if (periodic || c < width - 1) edges[n++] = 1;
      if (periodic && c === 0) edges[n++] = 0;
      if (r > 0) edges[n++] = 2;
      if (periodic || r < height - 1) edges[n++] = 3;
      if (periodic && r === 0) edges[n++] = 2;
      for (let q = 0; q < contexts; q++) {
        let zero = -field[site], one = field[site];
        for (let e = 0; e < n; e++) {
          const up = contexts === BITS ? (q >> edges[e]) & 1 : e < q;
          zero += up ? -coupling : coupling;
          one += up ? coupling : -coupling;
        }
        p[site * contexts + q] = fixedScalar(zero, one);
      }
    }
  }
  return p;
}

/** A uniform state, as a chain starts. */
export function uniformState(key, n, states = 2) {
  return Uint8Array.from({ length: n }, (_, i) => (draw(key, i), lastModulo(states)));
}

export class GridChain {
  constructor(model, { method, seed, chain = 0 }) {
    const { height, width } = model;
    this.model = model;
    this.herded = method !== "gibbs";
    this.contexts = method === "herded" ? BITS : COUNTS;
    this.p = conditionals(model, this.contexts);
    this.key = streamKey(seed, chain, 1);
    this.wide = width + 2;
    this.x = new Uint8Array((height + 2) * this.wide); // in a border: zeros, or the other side
    this.setStates(uniformState(streamKey(seed, chain, 3), height * width));
    this.ones = new Uint32Array(height * width);
    this.sweeps = 0;
    this.members = 1;
    this.pack = packing(height, width);
    this.w = this.herded ? this.startWeights(streamKey(seed, chain, 2)) : null;
  }

  setStates(states) {
    const { height, width } = this.model;
    for (let r = 0; r < height; r++) {
      this.x.set(states.subarray(r * width, (r + 1) * width), (r + 1) * this.wide + 1);
    }
    this.wrap();
  }

  get states() {
    const { height, width } = this.model, found = new Uint8Array(height * width);
    for (let r = 0; r < height; r++) {
      const at = (r + 1) * this.wide + 1;
      found.set(this.x.subarray(at, at + width), r * width);
    }
    return found;
  }

  startWeights(key) {
    const { height, width } = this.model, { columns, rows, strips } = this.pack;
    const { contexts } = this, sites = rows * columns;
    const w = new Uint32Array(height * width * contexts);
    for (let r = 0; r < height; r++) {
      for (let c = 0; c < width; c++) {
        const strip = ((r + c) & 1) * strips + Math.floor(r / rows);
        const site = (r % rows) * columns + (c >> 1);
        for (let q = 0; q < contexts; q++) {
          const plane = (strip * contexts + q) * sites + site;
          const line = (strip * sites + site) * contexts + q;
          w[(r * width + c) * contexts + q] = draw(key, contexts === COUNTS ? plane : line) >>> 1;
        }
      }
    }
    return w;
  }

  sweep() {
    for (const colour of [0, 1]) {
      for (let r = 0; r < this.model.height; r++) {
        if (!this.herded) this.drawRow(r, colour);
        else if (this.contexts === BITS) this.herdRow(r, colour);
        else this.shareRow(r, colour);
      }
      this.wrap();
    }
    this.sweeps += 1;
  }

  herdRow(r, colour) {
    const { x, w, p, wide, ones } = this, { width } = this.model;
    for (let c = (r + colour) & 1, site = r * width + c; c < width; c += 2, site += 2) {
      const at = (r + 1) * wide + c + 1;
      const bits = x[at - 1] | (x[at + 1] << 1) | (x[at - wide] << 2) | (x[at + wide] << 3);
      const phi = w[site * BITS + bits] + p[site * BITS + bits];
      w[site * BITS + bits] = phi & 0x7fffffff;
      const state = phi >>> 31;
      x[at] = state;
      ones[site] += state;
    }
  }

  shareRow(r, colour) {
    const { x, w, p, wide, ones } = this, { width } = this.model;
    for (let c = (r + colour) & 1, site = r * width + c; c < width; c += 2, site += 2) {
      const at = (r + 1) * wide + c + 1;
      const count = x[at - 1] + x[at + 1] + x[at - wide] + x[at + wide];
      const phi = w[site * COUNTS + count] + p[site * COUNTS + count];
      w[site * COUNTS + count] = phi & 0x7fffffff;
      const state = phi >>> 31;
      x[at] = state;
      ones[site] += state;
    }
  }

  drawRow(r, colour) {
    const { x, p, wide, ones, key } = this, { width } = this.model;
    const { columns, rows, strips } = this.pack;
    const strip = colour * strips + Math.floor(r / rows);
    const clock = (this.sweeps * 2 * strips + strip) * rows * columns + (r % rows) * columns;
    for (let c = (r + colour) & 1, site = r * width + c; c < width; c += 2, site += 2) {
      const at = (r + 1) * wide + c + 1;
      const count = x[at - 1] + x[at + 1] + x[at - wide] + x[at + wide];
      const state = draw(key, clock + (c >> 1)) >>> 1 < p[site * COUNTS + count] ? 1 : 0;
      x[at] = state;
      ones[site] += state;
    }
  }

  wrap() {
    if (this.model.periodic) wrapBorder(this.x, this.model.height, this.wide);
  }
}

/** Copy the outermost states to the other side. */
export function wrapBorder(x, height, wide) {
  for (let at = wide; at < (height + 1) * wide; at += wide) {
    x[at] = x[at + wide - 2];
    x[at + wide - 1] = x[at + 1];
  }
  x.copyWithin(0, height * wide, (height + 1) * wide);
  x.copyWithin((height + 1) * wide, wide, 2 * wide);
}
