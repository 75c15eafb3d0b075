// Denoising: all methods sweep side by side; what each thinks of a pixel, and how wrong it is.

import { decodePicture } from "../sampler/coding.js";
import { noisyPicture } from "../sampler/picture.js";
import { makeChain } from "../sampler/runs.js";

export const METHODS = ["gibbs", "herded", "shared", "herd", "mean"];
const PER_DECADE = 30;

export class PictureWatch {
  constructor(asked) {
    const side = Number(asked.size);
    this.clean = decodePicture(asked.p, side * side);
    this.noisy = noisyPicture(this.clean, Number(asked.noise), Number(asked.seed));
    this.runs = METHODS.map((method) => makeChain("picture", asked, method));
    this.chains = Object.fromEntries(METHODS.map((method, m) => [method, this.runs[m]]));
    delete this.chains.mean; // it is no sampler, and has no hash
    this.curves = METHODS.map(() => []);
    this.at = [];
    this.next = 1;
    this.sweeps = 0;
  }

  sweep() {
    for (const run of this.runs) run.sweep();
    this.sweeps += 1;
    if (this.sweeps >= this.next) this.note();
  }

  note() {
    this.at.push(this.sweeps);
    this.runs.forEach((run, m) => this.curves[m].push(this.error(this.estimate(run))));
    this.next = Math.max(this.sweeps + 1, this.sweeps * 10 ** (1 / PER_DECADE));
  }

  /** P(white) of every pixel so far. */
  estimate(run) {
    if (run.probabilities) return run.probabilities;
    const { ones } = run, total = Math.max(1, run.sweeps * run.members), found = new Float32Array(ones.length);
    for (let i = 0; i < ones.length; i++) found[i] = ones[i] / total;
    return found;
  }

  /** The mean squared error, times 1000 as in the paper. */
  error(estimate) {
    let sum = 0;
    for (let i = 0; i < estimate.length; i++) sum += (estimate[i] - this.clean[i]) ** 2;
    return (1000 * sum) / estimate.length;
  }

  /** Grey values of what is seen and of what each method makes of it, and the curves of errors. */
  frame() {
    const frame = { at: Float64Array.from(this.at) }, { noisy } = this;
    if (this.sweeps === 0) frame.noisy = greys(noisy, (y) => 127.5 + 63.75 * y);
    METHODS.forEach((method, m) => {
      const begun = this.sweeps > 0;
      frame[method] = begun ? greys(this.estimate(this.runs[m]), (p) => 255 * p) : greys(noisy, (y) => (y > 0 ? 255 : 0));
      frame[`${method}Errors`] = Float64Array.from(this.curves[m]);
    });
    return frame;
  }
}

/** Bytes of numbers, cut off where they are too large or too small. */
function greys(values, grey) {
  const found = new Uint8ClampedArray(values.length);
  for (let i = 0; i < values.length; i++) found[i] = grey(values[i]);
  return found;
}
