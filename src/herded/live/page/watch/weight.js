// One variable: the herded chain's phase and count beside those of fair draws.

import { makeChain } from "../sampler/runs.js";

const KEPT = 240; // visits that are drawn

export class WeightWatch {
  constructor(asked) {
    this.p = Number(asked.p);
    this.chains = { herded: makeChain("weight", asked, "herded"), gibbs: makeChain("weight", asked, "gibbs") };
    this.history = [];
    this.worst = { herded: 0, gibbs: 0 };
    this.sweeps = 0;
    this.phase = this.chains.herded.w[0];
  }

  sweep() {
    const { herded, gibbs } = this.chains, before = this.phase;
    herded.sweep();
    gibbs.sweep();
    this.sweeps += 1;
    this.phase = herded.w[0];
    const offset = (chain) => chain.counts[1] - this.p * this.sweeps;
    const off = { herded: offset(herded), gibbs: offset(gibbs) };
    for (const name of ["herded", "gibbs"]) this.worst[name] = Math.max(this.worst[name], Math.abs(off[name]));
    this.history.push([before, herded.x[0], gibbs.x[0], off.herded, off.gibbs]);
    if (this.history.length > KEPT) this.history.shift();
  }

  /** Rows of five: phase before the visit (of 1), states, and counts less p T; and the phase now. */
  frame() {
    const rows = new Float64Array(5 * this.history.length);
    this.history.forEach(([phase, ...rest], i) => rows.set([phase / 2 ** 31, ...rest], 5 * i));
    return { rows, phase: this.phase / 2 ** 31, worst: this.worst };
  }
}
