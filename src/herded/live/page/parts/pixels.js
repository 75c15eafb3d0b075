// A square of grey values on a canvas, in the page's black and white.

import { channels } from "./canvas.js";

export class Pixels {
  constructor(label, side) {
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
    this.image.data.fill(255);
  }

  /** Show grey values from 0 to 255. */
  show(values) {
    const { data } = this.image, black = channels("black"), white = channels("white");
    if (values.length !== this.side * this.side) return;
    const ramp = black.map((low, c) => Uint8Array.from({ length: 256 }, (_, v) => low + ((white[c] - low) * v) / 255));
    const [red, green, blue] = ramp;
    for (let i = 0, to = 0; i < values.length; i++, to += 4) {
      data[to] = red[values[i]];
      data[to + 1] = green[values[i]];
      data[to + 2] = blue[values[i]];
    }
    this.pen.putImageData(this.image, 0, 0);
  }
}
