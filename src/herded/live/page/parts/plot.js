// Curves over logarithmic axes, which grow while a run goes on.

import { Canvas, colour } from "./canvas.js";

const LEFT = 46, RIGHT = 14, TOP = 10, BOTTOM = 30;
const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10^e as it is printed. */
function power(e) {
  if (e === 0) return "1";
  if (e === 1) return "10";
  const digits = String(Math.abs(e)).split("").map((d) => DIGITS[d]).join("");
  return `10${e < 0 ? "⁻" : ""}${digits}`;
}

export class LogPlot {
  /** Axes from `x` = [least, most] and `y`; they grow by decades as curves need it. */
  constructor(label, { x, y, across, up, ratio = 1.6, linear = false }) {
    Object.assign(this, { x, y, across, up, linear, curves: [], guides: [] });
    this.first = { x: [...x], y: [...y] };
    this.canvas = new Canvas(label, ratio, () => this.draw(), 220);
  }

  /** Curves { name (a colour), xs, ys }, and lines { slope, through: [x, y], words }. */
  show(curves, guides = []) {
    this.curves = curves;
    this.guides = guides;
    for (const { xs, ys } of curves) {
      for (let i = 0; i < xs.length; i++) {
        while (xs[i] > this.x[1]) this.x[1] *= 10;
        while (!this.linear && ys[i] > 0 && ys[i] < this.y[0] && this.y[0] > 1e-9) this.y[0] /= 10;
      }
    }
    this.canvas.paint();
  }

  clear() {
    this.x = [...this.first.x];
    this.y = [...this.first.y];
    this.show([]);
  }

  place(x, y) {
    const { width, height } = this.canvas;
    const part = (v, [a, b], plain) => (plain ? (v - a) / (b - a) : Math.log(v / a) / Math.log(b / a));
    const right = part(x, this.x, false), high = part(y, this.y, this.linear);
    return [LEFT + right * (width - LEFT - RIGHT), height - BOTTOM - high * (height - TOP - BOTTOM)];
  }

  draw() {
    const { canvas } = this, { pen, width, height } = canvas;
    this.grid();
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP - 4, width - LEFT - RIGHT + 6, height - TOP - BOTTOM + 4);
    pen.clip();
    pen.setLineDash([4, 5]);
    for (const { slope, through } of this.guides) {
      const ends = this.x.map((x) => this.place(x, through[1] * (x / through[0]) ** slope));
      canvas.line(ends, colour("soft"), 1);
    }
    pen.setLineDash([]);
    for (const { name, xs, ys, thin } of this.curves) {
      const points = [];
      for (let i = 0; i < xs.length; i++) if (this.linear || ys[i] > 0) points.push(this.place(xs[i], ys[i]));
      canvas.line(points, colour(name), thin ? 1 : 2.25);
      if (points.length) canvas.disc(...points[points.length - 1], 3.5, colour(name));
    }
    pen.restore();
  }

  grid() {
    const { canvas } = this, { width, height } = canvas, line = colour("faint");
    const decades = Math.round(Math.log10(this.x[1] / this.x[0])), each = Math.ceil(decades / 8);
    for (let e = Math.round(Math.log10(this.x[0])), i = 0; i <= decades; e++, i++) {
      const [x] = this.place(10 ** e, this.y[0]);
      canvas.line([[x, TOP], [x, height - BOTTOM]], line, 1);
      if (i % each === 0) canvas.text(power(e), x, height - BOTTOM + 13, { align: "center" });
    }
    for (const [y, words] of this.marks()) {
      const [, at] = this.place(this.x[0], y);
      canvas.line([[LEFT, at], [width - RIGHT, at]], line, 1);
      canvas.text(words, LEFT - 7, at, { align: "right" });
    }
    canvas.text(this.across, width - RIGHT, height - BOTTOM - 10, { align: "right", size: 11 });
    canvas.text(this.up, width - RIGHT, TOP + 8, { align: "right", size: 11 });
  }

  marks() {
    const [low, high] = this.y, found = [];
    if (this.linear) {
      for (let i = 0; i <= 4; i++) found.push([low + (i * (high - low)) / 4, String(low + (i * (high - low)) / 4)]);
      return found;
    }
    const each = Math.ceil(Math.log10(high / low) / 7);
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e += each) found.push([10 ** e, power(e)]);
    return found;
  }

  remove() {
    this.canvas.remove();
  }
}

/** The slope of log y over log x, by least squares over points from x = `from` on; NaN of few. */
export function slope(xs, ys, from) {
  let n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (let i = 0; i < xs.length; i++) {
    if (xs[i] < from || !(ys[i] > 0)) continue;
    const x = Math.log(xs[i]), y = Math.log(ys[i]);
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return n < 8 ? NaN : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}
