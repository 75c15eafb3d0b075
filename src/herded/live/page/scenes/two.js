// Two variables: the paper's first experiment, as a race.

import { Canvas, colour } from "../parts/canvas.js";
import { card, make, short } from "../parts/dom.js";
import { LogPlot, slope } from "../parts/plot.js";

const NAMES = { herded: "Herded Gibbs", gibbs: "Gibbs" };

export function twoScene() {
  let frame = null, eps = 0.01;
  const boards = Object.fromEntries(Object.keys(NAMES).map((name) => [name, board(name)]));
  const plot = new LogPlot("Error of P(X₁ = 1) over sweeps, both on logarithmic scales", {
    x: [1, 1e4], y: [1e-4, 1], across: "sweeps", up: "mean error of 16 runs", ratio: 1.75,
  });
  const keys = Object.fromEntries(Object.keys(NAMES).map((name) => [name, make("b", {}, "–")]));

  /** Four cells: how often each was visited beside how often it should be, and where the chain is. */
  function board(name) {
    const canvas = new Canvas(`Where ${NAMES[name]} has been: how often in each of four states`, 1.55, draw, 150);
    function draw({ pen, width, height }) {
      const target = [0.25 - eps, eps, eps, 0.75 - eps], joint = frame?.[`${name}Joint`] ?? [0, 0, 0, 0];
      const gap = 10, left = 40, w = (width - left - gap) / 2, h = (height - 22 - gap) / 2;
      for (let state = 0; state < 4; state++) {
        const x = left + (state & 1) * (w + gap), y = (state >> 1) * (h + gap);
        pen.fillStyle = colour("faint");
        pen.fillRect(x, y, w, h);
        const part = Math.sqrt(Math.min(1, joint[state] || 0)), due = Math.sqrt(target[state]);
        pen.fillStyle = colour(name);
        pen.globalAlpha = 0.85;
        pen.fillRect(x + (w - w * part) / 2, y + (h - h * part) / 2, w * part, h * part);
        pen.globalAlpha = 1;
        pen.strokeStyle = colour("ink");
        pen.lineWidth = 1.5;
        pen.strokeRect(x + (w - w * due) / 2, y + (h - h * due) / 2, w * due, h * due);
        if (frame && frame[`${name}State`] === state) {
          canvas.disc(x + w / 2, y + h / 2, 8, colour("card"));
          canvas.disc(x + w / 2, y + h / 2, 5.5, colour("ink"));
        }
      }
      for (const k of [0, 1]) {
        canvas.text(`x₁=${k}`, 0, k * (h + gap) + h / 2, { size: 11 });
        canvas.text(`x₂=${k}`, left + k * (w + gap) + w / 2, height - 8, { size: 11, align: "center" });
      }
    }
    return canvas;
  }

  return {
    id: "two",
    title: "Two variables",
    lede: "Two variables that nearly always agree. The smaller ε, the harder it is to cross between both zeros and both ones. Gibbs crosses by luck, herding on schedule: its error falls as 1/T, that of Gibbs as 1/√T.",
    story: {
      label: "How rarely they disagree",
      name: "eps",
      values: ["0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001", "0.0005", "0.0002", "0.0001"],
      show: (value) => `ε = ${value}`,
    },
    defaults: { eps: "0.01", speed: 300 },
    bits: ["eps"],
    stage: [
      make(
        "div",
        { className: "third stack" },
        ...Object.keys(NAMES).map((name) => card("", make("span", { className: `key ${name}` }, NAMES[name]), boards[name].element)),
      ),
      card(
        "twothirds",
        "Error of P(X₁ = 1)",
        plot.canvas.element,
        make("p", { className: "legend" }, ...Object.keys(NAMES).map((name) => make("span", { className: `key ${name}` }, `${NAMES[name]}, slope `, keys[name]))),
        make("p", {}, "Outlines are the truth, filled areas what has been seen; the dot is where a chain is now. Dashed lines fall as 1/T and as 1/√T."),
      ),
    ],
    asked: (settings) => ((eps = Number(settings.eps)), settings),
    clear: () => ((frame = null), plot.clear()),
    said: () => frame && `Error of herded Gibbs ${short(frame.herded.at(-1))}, of Gibbs ${short(frame.gibbs.at(-1))}.`,
    show(shown, sweeps) {
      frame = shown;
      Object.values(boards).forEach((canvas) => canvas.paint());
      const from = Math.min(1 / eps, sweeps / 10);
      for (const name of Object.keys(NAMES)) {
        const found = slope(frame.at, frame[name], from);
        keys[name].textContent = Number.isFinite(found) ? found.toFixed(2).replace("-", "−") : "–";
      }
      plot.show(
        Object.keys(NAMES).map((name) => ({ name, xs: frame.at, ys: frame[name] })),
        [{ slope: -1, through: [0.5 / eps, 0.15] }, { slope: -0.5, through: [0.5 / eps, 0.15] }],
      );
    },
    remove: () => [...Object.values(boards), plot].forEach((part) => part.remove()),
  };
}
