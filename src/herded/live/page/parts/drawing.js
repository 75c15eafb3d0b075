// A picture of two levels that the reader draws, drops, chooses or photographs.

import { make } from "./dom.js";
import { Pixels } from "./pixels.js";

/** A sheep on a hill. */
export function sheep(side) {
  const bits = new Uint8Array(side * side);
  for (let r = 0; r < side; r++) {
    for (let c = 0; c < side; c++) bits[r * side + c] = isSheep((c + 0.5) / side, (r + 0.5) / side) ? 1 : 0;
  }
  return bits;
}

/** Whether a point lies in an oval about (cx, cy). */
function inOval(x, y, cx, cy, rx, ry) {
  const across = (x - cx) / rx, down = (y - cy) / ry;
  return across * across + down * down < 1;
}

function isSheep(x, y) {
  if (y > 0.79) return y > 0.79 + 0.2 * (x - 0.5) * (x - 0.5) || (y < 0.8 && isLeg(x));
  if (y > 0.62) return isLeg(x) || isWool(x, y); // legs
  if (inOval(x, y, 0.775, 0.375, 0.017, 0.02)) return false; // the eye
  const wool = isWool(x, y);
  if (inOval(x, y, 0.755, 0.4, 0.085, 0.11)) return !wool || inOval(x, y, 0.755, 0.4, 0.07, 0.095); // the head
  return wool || inOval(x, y, 0.685, 0.335, 0.05, 0.028) || inOval(x, y, 0.17, 0.17, 0.085, 0.085); // ear and sun
}

function isLeg(x) {
  return [0.36, 0.44, 0.56, 0.64].some((at) => Math.abs(x - at) < 0.021);
}

function isWool(x, y) {
  const across = (x - 0.5) * 0.78, down = y - 0.47, far = Math.sqrt(across * across + down * down);
  return far < 0.186 || (far < 0.214 && far < 0.2 + 0.014 * Math.cos(11 * Math.atan2(down, across)));
}

export class Drawing {
  /** `onChange(bits)` is called when a stroke ends or a picture has come. */
  constructor(bits, side, onChange) {
    this.onChange = onChange;
    this.pixels = new Pixels("The clean picture, to draw on: arrow keys move a brush, space paints", side);
    this.pad = this.pixels.element;
    this.pad.className = "pad";
    this.pad.tabIndex = 0;
    this.pad.setAttribute("role", "application");
    this.at = [side >> 1, side >> 1];
    this.set(bits, side);
    this.pad.onpointerdown = (event) => this.begin(event);
    this.pad.onpointermove = (event) => this.move(event);
    this.pad.onpointerup = this.pad.onpointercancel = () => this.end();
    this.pad.onkeydown = (event) => this.key(event);
  }

  set(bits, side) {
    if (side !== this.pixels.side) this.pixels.resize(side);
    this.bits = Uint8Array.from(bits);
    this.at = this.at.map((a) => Math.min(a, side - 1));
    this.paint();
  }

  paint(brush = false) {
    const shown = this.bits.map((bit) => 255 * bit), { side } = this.pixels;
    if (brush) this.round(this.at, (i) => (shown[i] = 140));
    this.pixels.show(shown.length === side * side ? shown : new Uint8Array(side * side));
  }

  begin(event) {
    const at = this.place(event);
    this.pad.setPointerCapture(event.pointerId);
    this.ink = 1 - this.bits[at[1] * this.pixels.side + at[0]]; // white on black, black on white
    this.at = at;
    this.stroke(at);
  }

  move(event) {
    if (this.ink === undefined) return;
    const to = this.place(event), [x, y] = this.at;
    const steps = Math.max(1, Math.abs(to[0] - x), Math.abs(to[1] - y));
    for (let s = 1; s <= steps; s++) this.stroke([Math.round(x + ((to[0] - x) * s) / steps), Math.round(y + ((to[1] - y) * s) / steps)]);
    this.at = to;
  }

  end() {
    if (this.ink === undefined) return;
    this.ink = undefined;
    this.onChange(this.bits);
  }

  key(event) {
    const step = Math.max(1, this.pixels.side >> 5);
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key in moves) this.at = this.at.map((a, i) => Math.max(0, Math.min(this.pixels.side - 1, a + moves[event.key][i])));
    else if (event.key === " ") {
      const { side } = this.pixels;
      this.ink = 1 - this.bits[this.at[1] * side + this.at[0]];
      this.stroke(this.at);
      this.end();
    } else return;
    event.preventDefault();
    this.paint(true);
  }

  place(event) {
    const box = this.pad.getBoundingClientRect(), { side } = this.pixels;
    const along = (v, from, size) => Math.max(0, Math.min(side - 1, Math.floor(((v - from) / size) * side)));
    return [along(event.clientX, box.left, box.width), along(event.clientY, box.top, box.height)];
  }

  round([x, y], visit) {
    const { side } = this.pixels, r = side / 40;
    for (let v = Math.max(0, Math.ceil(y - r)); v <= Math.min(side - 1, y + r); v++) {
      for (let u = Math.max(0, Math.ceil(x - r)); u <= Math.min(side - 1, x + r); u++) {
        if ((u - x) ** 2 + (v - y) ** 2 <= r * r) visit(v * side + u);
      }
    }
  }

  stroke(at) {
    this.round(at, (i) => (this.bits[i] = this.ink));
    this.paint();
  }

  /** A file with a picture: its middle, cut into two levels where they differ most. */
  async take(file) {
    const picture = await createImageBitmap(file), { side } = this.pixels;
    const size = Math.min(picture.width, picture.height);
    const small = new OffscreenCanvas(side, side), pen = small.getContext("2d");
    pen.drawImage(picture, (picture.width - size) / 2, (picture.height - size) / 2, size, size, 0, 0, side, side);
    const { data } = pen.getImageData(0, 0, side, side), grey = new Uint8Array(side * side);
    for (let i = 0; i < grey.length; i++) grey[i] = (77 * data[4 * i] + 150 * data[4 * i + 1] + 29 * data[4 * i + 2]) >> 8;
    const level = otsu(grey);
    this.bits = grey.map((g) => (g > level ? 1 : 0));
    this.paint();
    this.onChange(this.bits);
  }
}

/** The level that leaves least variance on both sides of it (Otsu 1979). */
function otsu(grey) {
  const count = new Float64Array(256);
  for (const g of grey) count[g] += 1;
  const all = grey.reduce((a, b) => a + b, 0);
  let best = -1, level = 127, below = 0, sum = 0;
  for (let g = 0; g < 255; g++) {
    below += count[g];
    sum += g * count[g];
    const above = grey.length - below;
    if (!below || !above) continue;
    const apart = below * above * (sum / below - (all - sum) / above) ** 2;
    if (apart > best) [best, level] = [apart, g];
  }
  return level;
}

/** Buttons that choose a file or take a photograph; `take(file)` gets it. */
export function sources(take) {
  const chooser = (words, capture) => {
    const input = make("input", { type: "file", accept: "image/*", hidden: true, "aria-label": words });
    if (capture) input.setAttribute("capture", "environment");
    input.onchange = () => {
      if (input.files.length) take(input.files[0]);
      input.value = "";
    };
    return [make("button", { type: "button", onclick: () => input.click() }, words), input];
  };
  return [...chooser("Choose a picture", false), ...chooser("Photograph", true)];
}
