// Naive mean field on a grid: every pixel feels its neighbours' averages. It needs no draws, and
// gives a blurred answer that is too sure of itself.

export class MeanField {
  constructor({ height, width, field, coupling }) {
    Object.assign(this, { height, width, field, coupling, sweeps: 0 });
    this.wide = width + 2;
    this.spin = new Float64Array((height + 2) * this.wide); // averages, in a border of 0
    this.each((site, at) => (this.spin[at] = average(field[site])));
  }

  /** Call visit(pixel, its place within the border) for every pixel. */
  each(visit) {
    for (let r = 0, site = 0; r < this.height; r++) {
      for (let c = 0; c < this.width; c++, site++) visit(site, (r + 1) * this.wide + c + 1);
    }
  }

  sweep() {
    const { spin, field, coupling, wide } = this;
    for (let r = 0, site = 0; r < this.height; r++) {
      for (let at = (r + 1) * wide + 1; at <= (r + 1) * wide + this.width; at++, site++) {
        const around = spin[at - 1] + spin[at + 1] + spin[at - wide] + spin[at + wide];
        spin[at] = average(field[site] + coupling * around);
      }
    }
    this.sweeps += 1;
  }

  /** P(x = 1) of every pixel. */
  get probabilities() {
    const found = new Float32Array(this.height * this.width);
    this.each((site, at) => (found[site] = (1 + this.spin[at]) / 2));
    return found;
  }
}

function average(field) {
  return 2 / (1 + Math.exp(-2 * field)) - 1; // no bits are compared here, so that any exp will do
}
