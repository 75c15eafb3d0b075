// A text: herded Gibbs and Gibbs sampling of the labels of its words, and how often herding made
// exactly these words a name.

import { makeChain } from "../sampler/runs.js";

export class NamesWatch {
  /** `asked`: table, seed, sentences (where each begins, and the end of the last). */
  constructor(asked) {
    this.chains = { herded: makeChain("names", asked, "herded"), gibbs: makeChain("names", asked, "gibbs") };
    this.sentences = asked.sentences;
    this.kinds = asked.table.cardinalities[0];
    this.seen = new Map(); // a name: in how many sweeps
    this.sweeps = 0;
  }

  sweep() {
    for (const chain of Object.values(this.chains)) chain.sweep();
    this.sweeps += 1;
    this.spans(this.chains.herded.x, (name) => this.seen.set(name, (this.seen.get(name) ?? 0) + 1));
  }

  /** Calls `visit` with a number for each run of words of one kind in a sentence, and what it is. */
  spans(labels, visit) {
    const { sentences, kinds } = this, words = labels.length;
    for (let s = 0; s + 1 < sentences.length; s++) {
      for (let first = sentences[s], last; first < sentences[s + 1]; first = last) {
        const kind = labels[first];
        for (last = first + 1; last < sentences[s + 1] && labels[last] === kind; last++);
        if (kind) visit((first * (words + 1) + last) * kinds + kind, first, last, kind);
      }
    }
  }

  /** P(kind) of every word by both, and the names: first word, one past the last, kind, share of sweeps. */
  frame() {
    const sweeps = Math.max(1, this.sweeps), share = ({ counts }) => Float32Array.from(counts, (n) => n / sweeps);
    const herded = share(this.chains.herded), { kinds } = this, found = [];
    const best = Uint8Array.from({ length: herded.length / kinds }, (_, i) => {
      let kind = 0;
      for (let k = 1; k < kinds; k++) if (herded[i * kinds + k] > herded[i * kinds + kind]) kind = k;
      return kind;
    });
    this.spans(best, (name, first, last, kind) => found.push(first, last, kind, (this.seen.get(name) ?? 0) / sweeps));
    return { herded, gibbs: share(this.chains.gibbs), names: Float64Array.from(found) };
  }
}
