// The paper's two variables: sixteen runs of each method, their error together, and the first of
// each as it moves.

import { makeChain } from "../sampler/runs.js";

const RUNS = 16, PER_DECADE = 24, TRUTH = 0.75;

export class TwoWatch {
  constructor(asked) {
    const runs = (method) => Array.from({ length: RUNS }, (_, chain) => makeChain("two", { ...asked, chain }, method));
    this.runs = { gibbs: runs("gibbs"), herded: runs("herded") };
    this.chains = { herded: this.runs.herded[0], gibbs: this.runs.gibbs[0] };
    this.joint = { gibbs: new Float64Array(4), herded: new Float64Array(4) };
    this.curve = { at: [], gibbs: [], herded: [] };
    this.next = 1;
    this.sweeps = 0;
  }

  sweep() {
    for (const method of ["gibbs", "herded"]) {
      for (const chain of this.runs[method]) chain.sweep();
      const { x } = this.chains[method];
      this.joint[method][2 * x[0] + x[1]] += 1;
    }
    this.sweeps += 1;
    if (this.sweeps >= this.next) this.note();
  }

  /** The mean error of P(X_1 = 1) over the runs. */
  note() {
    this.curve.at.push(this.sweeps);
    for (const method of ["gibbs", "herded"]) {
      const errors = this.runs[method].map((chain) => Math.abs(chain.counts[1] / this.sweeps - TRUTH));
      this.curve[method].push(errors.reduce((a, b) => a + b) / RUNS);
    }
    this.next = Math.max(this.sweeps + 1, this.sweeps * 10 ** (1 / PER_DECADE));
  }

  frame() {
    const state = ({ x }) => 2 * x[0] + x[1];
    return {
      at: Float64Array.from(this.curve.at),
      gibbs: Float64Array.from(this.curve.gibbs),
      herded: Float64Array.from(this.curve.herded),
      gibbsJoint: this.joint.gibbs.map((n) => n / this.sweeps),
      herdedJoint: this.joint.herded.map((n) => n / this.sweeps),
      gibbsState: state(this.chains.gibbs),
      herdedState: state(this.chains.herded),
    };
  }
}
