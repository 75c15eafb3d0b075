// A picture: noise, and five ways to see through it.

import { decodePicture, encodePicture } from "../sampler/coding.js";
import { acceptDrops, make, short } from "../parts/dom.js";
import { Drawing, sheep, sources } from "../parts/drawing.js";
import { Pixels } from "../parts/pixels.js";
import { LogPlot } from "../parts/plot.js";
import { NAMES } from "../parts/proof.js";
import { Scene } from "../parts/scene.js";

const METHODS = ["gibbs", "herded", "shared", "herd", "mean"];
const SIZES = ["64", "128", "256"];

function tile(title, pixels, note) {
  return make("section", { className: "tile" }, make("h2", {}, title), pixels, note);
}

export function pictureScene(words) {
  const size = SIZES.includes(words.size) ? words.size : "128", side = Number(size);
  const given = words.p ? decodePicture(words.p, side * side) : null;
  const first = given ?? sheep(side), spelt = given ? words.p : encodePicture(first);
  let latest = null;

  const drawing = new Drawing(first, side, () => redrawn());
  const noisy = new Pixels("The picture seen through noise", side);
  const results = Object.fromEntries(METHODS.map((method) => [method, new Pixels(`What ${NAMES[method]} makes of it`, side)]));
  const errors = Object.fromEntries(METHODS.map((method) => [method, make("b", {}, "–")]));
  const plot = new LogPlot("Mean squared error of each method over sweeps", {
    x: [1, 100], y: [1, 1000], across: "sweeps", up: "mean squared error × 1000", ratio: 2.6,
  });
  const problem = make("p", { className: "error", role: "alert" });

  function redrawn() {
    scene.settings.p = encodePicture(drawing.bits);
    scene.restart(true);
  }

  async function take(file) {
    try {
      await drawing.take(file);
      problem.textContent = "";
    } catch {
      problem.textContent = "That file is no picture that this browser can read.";
    }
  }

  const sizes = make("select", { "aria-label": "Size of the picture" }, ...SIZES.map((s) => make("option", { value: s }, `${s} × ${s}`)));
  sizes.value = size;
  sizes.onchange = () => {
    location.hash = `picture?size=${sizes.value}&noise=${scene.settings.noise}&seed=${scene.settings.seed}`;
  };
  const clear = make("button", { type: "button", onclick: () => (drawing.set(new Uint8Array(side * side), side), redrawn()) }, "Clear");
  const again = make("button", { type: "button", onclick: () => (drawing.set(sheep(side), side), redrawn()) }, "Sheep");

  const tiles = make(
    "div",
    { className: "card tiles" },
    tile("Draw here", drawing.pad, make("p", {}, "or drop a picture")),
    tile("What is seen", noisy.element, make("p", {}, "through noise")),
    ...METHODS.map((method) => tile(make("span", { className: `key ${method}` }, method === "shared" ? "Shared" : NAMES[method]), results[method].element, make("p", {}, "error ", errors[method]))),
    make("div", { className: "tools" }, ...sources(take), clear, again, sizes, problem),
  );
  acceptDrops(tiles, take);
  const stage = [tiles, make("section", { className: "card" }, make("h2", {}, "Error of each method"), plot.canvas.element)];

  const scene = new Scene(
    {
      id: "picture",
      title: "A picture",
      lede: "Every pixel listens to what was seen and to its four neighbours. Samplers guess the picture again and again, and average. Draw one, and watch five of them see through the noise.",
      story: {
        label: "Noise",
        name: "noise",
        values: ["0.5", "0.75", "1", "1.5", "2", "2.5", "3", "3.5", "4", "5", "6"],
        show: (value) => `σ = ${value}`,
      },
      defaults: { noise: "2", size, p: spelt, speed: 30 },
      bits: ["size", "noise", "p"],
      stage,
      asked: (settings) => settings,
      clear: () => plot.clear(),
      said: () => latest && METHODS.map((method) => `${NAMES[method]}: error ${short(latest[`${method}Errors`].at(-1))}`).join(", "),
      show(frame) {
        latest = frame;
        if (frame.noisy) noisy.show(frame.noisy);
        for (const method of METHODS) {
          results[method].show(frame[method]);
          errors[method].textContent = short(frame[`${method}Errors`].at(-1));
        }
        plot.show(METHODS.map((method) => ({ name: method, xs: frame.at, ys: frame[`${method}Errors`] })));
      },
      remove: () => plot.remove(),
    },
    { ...words, size, p: spelt },
  );
  return scene;
}
