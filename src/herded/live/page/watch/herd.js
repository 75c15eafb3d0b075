// A torus of spins: a herd of sixteen beside single chains that make as many updates.

import { makeChain, MEMBERS, SIDE } from "../sampler/runs.js";
import { alikeIn, alikeness } from "../sampler/torus.js";

const WARM = 20, PER_DECADE = 24; // sweeps of the herd that are not averaged
export const METHODS = ["shared", "gibbs", "herd"];

export class HerdWatch {
  constructor(asked) {
    this.chains = Object.fromEntries(METHODS.map((method) => [method, makeChain("herd", asked, method)]));
    this.truth = alikeness(SIDE, Number(asked.coupling));
    this.sums = { shared: 0, gibbs: 0, herd: 0 };
    this.curve = { at: [], shared: [], gibbs: [], herd: [] };
    this.next = WARM + 1;
    this.sweeps = 0;
  }

  /** One sweep of all members, or as many of a chain. */
  sweep() {
    const counted = this.sweeps >= WARM;
    for (const method of METHODS) {
      const chain = this.chains[method], sweeps = MEMBERS / chain.members;
      for (let s = 0; s < sweeps; s++) {
        chain.sweep();
        if (counted) this.sums[method] += this.alike(chain);
      }
    }
    this.sweeps += 1;
    if (this.sweeps >= this.next) this.note();
  }

  /** The sum over the members of how alike neighbours are. */
  alike(chain) {
    const states = chain.states;
    let sum = 0;
    for (let k = 0; k < chain.members; k++) sum += alikeIn(states, SIDE, k * SIDE * SIDE);
    return sum;
  }

  note() {
    const samples = (this.sweeps - WARM) * MEMBERS;
    this.curve.at.push(samples);
    for (const method of METHODS) this.curve[method].push(Math.abs(this.sums[method] / samples - this.truth));
    this.next = Math.max(this.sweeps + 1, WARM + (this.sweeps - WARM) * 10 ** (1 / PER_DECADE));
  }

  /** The members, the phases of both kinds at a scale of 1, and the curves. */
  frame() {
    const { shared, herd } = this.chains;
    const phases = Float32Array.from({ length: SIDE * SIDE }, (_, i) => shared.w[5 * i + 2] / 2 ** 31);
    const fresh = Float32Array.from(herd.low, (phase) => phase / 128);
    const curves = Object.fromEntries(Object.entries(this.curve).map(([name, ys]) => [name, Float64Array.from(ys)]));
    return { members: herd.states, phases, fresh, ...curves };
  }
}
