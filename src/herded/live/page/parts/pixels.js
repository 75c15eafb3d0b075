// A square of grey values on a canvas, in the page's black and white or in other colours.

import { channels } from "./canvas.js";

export class Pixels {
  /** `low` and `high` name the colours of 0 and 255. */
  constructor(label, side, low = "black", high = "white") {
    Object.assign(this, { low, high });
    this.element = document.createElement("canvas");
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", label);
    this.resize(side);
  }

  resize(side) {
    this.side = side;
    this.element.width = this.element.height = side;
    this.pen = this.element.getContext("2d");
    this.image = this.pen.createImageData(side, side);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  /** The pixel of every grey value, as the four bytes it has in memory. */
  ramp() {
    const low = channels(this.low), high = channels(this.high), name = `${low} ${high}`;
    if (name === this.ramped) return this.values;
    const bytes = new Uint8Array(4 * 256);
    for (let v = 0; v < 256; v++) bytes.set([...low.map((a, c) => a + ((high[c] - a) * v) / 255), 255], 4 * v);
    this.ramped = name;
    this.values = new Uint32Array(bytes.buffer);
    return this.values;
  }

  /** Show grey values from 0 to 255. */
  show(values) {
    const { words } = this, ramp = this.ramp();
    if (values.length !== words.length) return;
    for (let i = 0; i < words.length; i++) words[i] = ramp[values[i]];
    this.pen.putImageData(this.image, 0, 0);
  }
}
