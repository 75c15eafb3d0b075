// A model from a file: independent Gibbs chains, what they think of each state, and how sure they
// can be; and one herded chain beside them.

import { makeChain } from "../sampler/runs.js";

const STUDENT = { 1: 12.706, 3: 3.182, 7: 2.365, 15: 2.131, 31: 2.04 }; // 97.5 % by chains - 1

export class ModelWatch {
  constructor(asked) {
    const { table } = asked;
    this.gibbs = table.starts.map((_, chain) => makeChain("model", { ...asked, chain }, "gibbs"));
    this.herded = makeChain("model", asked, "herded");
    this.chains = { gibbs: this.gibbs[0], herded: this.herded };
    this.sweeps = 0;
  }

  sweep() {
    for (const chain of this.gibbs) chain.sweep();
    this.herded.sweep();
    this.sweeps += 1;
  }

  /** For every variable and state: the mean over chains, half of its 95 % interval, and herded's. */
  frame() {
    const size = this.herded.counts.length, n = this.gibbs.length, sweeps = Math.max(1, this.sweeps);
    const means = new Float64Array(size), halves = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      let sum = 0, squares = 0;
      for (const { counts } of this.gibbs) sum += counts[i] / sweeps;
      means[i] = sum / n;
      for (const { counts } of this.gibbs) squares += (counts[i] / sweeps - means[i]) ** 2;
      halves[i] = STUDENT[n - 1] * Math.sqrt(squares / (n - 1) / n);
    }
    return { means, halves, herded: this.herded.counts.map((count) => count / sweeps), width: this.herded.width };
  }
}
