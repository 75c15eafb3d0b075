// Canvases that are sharp on any screen, and colours of the page for them.

const colours = new Map();
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
let family;
dark.addEventListener("change", () => {
  colours.clear();
  listeners.forEach((redraw) => redraw());
});

/** A colour of style.css by name, such as "herded". */
export function colour(name) {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

/** The three numbers of such a colour. */
export function channels(name) {
  const hex = colour(name).slice(1);
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export class Canvas {
  /** `ratio` is width over height; `draw` is called with this when there is something to draw. */
  constructor(label, ratio, draw, least = 0) {
    this.element = document.createElement("canvas");
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", label);
    Object.assign(this, { ratio, draw, least, width: 0, height: 0 });
    this.pen = this.element.getContext("2d");
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.redraw = () => this.paint();
    listeners.add(this.redraw);
  }

  resize() {
    const width = this.element.clientWidth;
    if (!width) return;
    const height = Math.max(this.least, Math.round(width / this.ratio));
    const scale = Math.min(devicePixelRatio || 1, 3);
    if (width === this.width && height === this.height && scale === this.scale) return;
    Object.assign(this, { width, height, scale });
    this.element.width = Math.round(width * scale);
    this.element.height = Math.round(height * scale);
    this.element.style.height = `${height}px`;
    this.paint();
  }

  /** Draw anew, in units of CSS pixels. */
  paint() {
    if (!this.width) return;
    this.pen.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.draw(this);
  }

  line(points, style, width = 1.5) {
    const { pen } = this;
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.strokeStyle = style;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.stroke();
  }

  disc(x, y, r, style) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fillStyle = style;
    pen.fill();
  }

  arc(x, y, r, from, to, style, width) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, r, from, to);
    pen.strokeStyle = style;
    pen.lineWidth = width;
    pen.stroke();
  }

  text(words, x, y, { align = "left", style = colour("soft"), size = 12, weight = 400 } = {}) {
    const { pen } = this;
    pen.font = `${weight} ${size}px ${(family ??= getComputedStyle(document.body).fontFamily)}`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillStyle = style;
    pen.fillText(words, x, y);
  }

  remove() {
    this.observer.disconnect();
    listeners.delete(this.redraw);
  }
}
