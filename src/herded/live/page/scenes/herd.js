// A herd: members that draw together, beside one chain whose weights fall into step.

import { Canvas, colour } from "../parts/canvas.js";
import { card, make, short } from "../parts/dom.js";
import { Pixels } from "../parts/pixels.js";
import { LogPlot } from "../parts/plot.js";

const SIDE = 20, MEMBERS = 16, TURN = 2 * Math.PI;
const ACROSS = 4, GAP = 2, FLOCK = ACROSS * SIDE + (ACROSS - 1) * GAP;
const LINES = { shared: "One herded chain", gibbs: "One Gibbs chain", herd: "Herd of 16" };

export function herdScene() {
  let frame = null;
  const flock = new Pixels("Sixteen members of a herd, each a grid of 20 by 20 spins", FLOCK, "card", "herd");
  const locked = new Canvas("Weights of one chain: each site keeps its own, so that differences stay for ever", 1, (canvas) => drawDial(canvas, "phases", "shared"));
  const free = new Canvas("Phases of the herd: thrown anew at every visit, so that nothing can lock", 1, (canvas) => drawDial(canvas, "fresh", "herd"));
  const plot = new LogPlot("Error of how alike neighbours are, over samples", {
    x: [10, 1e5], y: [1e-4, 1e-1], across: "samples", up: "error of the energy", ratio: 1.9,
  });
  const values = Object.fromEntries(Object.keys(LINES).map((name) => [name, make("b", {}, "–")]));

  /** Members beside each other, with lines between them. */
  function showFlock() {
    const cell = SIDE + GAP, shown = new Uint8Array(FLOCK * FLOCK);
    for (let k = 0; k < MEMBERS; k++) {
      const left = (k % ACROSS) * cell, top = Math.floor(k / ACROSS) * cell;
      for (let i = 0; i < SIDE * SIDE; i++) {
        const up = frame.members[k * SIDE * SIDE + i];
        shown[(top + Math.floor(i / SIDE)) * FLOCK + left + (i % SIDE)] = up ? 255 : 36;
      }
    }
    flock.show(shown);
  }

  /** Every site's phase as a dot around a circle; two sites have hands. */
  function drawDial(canvas, name, style) {
    const { width, height } = canvas, x = width / 2, y = height / 2, r = Math.min(width, height) / 2 - 12;
    canvas.arc(x, y, r * 0.74, 0, TURN, colour("faint"), r * 0.5);
    if (!frame) return;
    const phases = frame[name];
    canvas.pen.globalAlpha = 0.75;
    phases.forEach((phase, i) => {
      const angle = TURN * phase - TURN / 4, out = r * (0.5 + 0.48 * ((i * 0.618034) % 1));
      canvas.disc(x + out * Math.cos(angle), y + out * Math.sin(angle), 2, colour(style));
    });
    canvas.pen.globalAlpha = 1;
    for (const phase of phases.slice(0, 2)) {
      const angle = TURN * phase - TURN / 4;
      canvas.line([[x, y], [x + r * Math.cos(angle), y + r * Math.sin(angle)]], colour("ink"), 2);
    }
    canvas.disc(x, y, 4, colour("ink"));
  }

  const key = (name, words) => make("span", { className: `key ${name}` }, words);
  return {
    id: "herd",
    title: "A herd",
    lede: "On a grid, one herded chain stops improving: each weight turns like a clock, clocks keep their distance, and neighbours learn each other’s beat. A herd throws its phase anew at every visit and shares it among sixteen chains: nothing locks, and they make up for each other’s luck.",
    story: {
      label: "How strongly neighbours pull",
      name: "coupling",
      values: Array.from({ length: 22 }, (_, i) => (0.02 * (i + 1)).toFixed(2)),
      show: (value) => `J = ${value}`,
    },
    defaults: { coupling: "0.36", speed: 20 },
    bits: ["coupling"],
    stage: [
      card("third middle", key("herd", "Sixteen members, drawing together"), make("div", { className: "flock" }, flock.element)),
      card(
        "twothirds",
        "The plateau, and its cure",
        plot.canvas.element,
        make("p", { className: "legend" }, ...Object.entries(LINES).map(([name, words]) => make("span", { className: `key ${name}` }, `${words} `, values[name]))),
        make("p", {}, "How far the average energy is from the exact one (Kaufman 1949), at as many samples. The herded chain has shared weights."),
      ),
      card("half", key("shared", "One chain: clocks keep their distance"), make("div", { className: "dial" }, locked.element), make("p", {}, "The weights of all 400 sites where two of four neighbours are up: p is ½, and each has two places, for ever. Two sites have hands.")),
      card("half", key("herd", "A herd: thrown anew at every visit"), make("div", { className: "dial" }, free.element), make("p", {}, "The phases after the last visit. Members share a phase; sites and visits do not.")),
    ],
    asked: (settings) => settings,
    clear: () => ((frame = null), plot.clear()),
    said: () => frame?.at.length && Object.entries(LINES).map(([name, words]) => `${words}: error ${short(frame[name].at(-1))}`).join(", "),
    show(shown) {
      frame = shown;
      showFlock();
      [locked, free].forEach((canvas) => canvas.paint());
      for (const name of Object.keys(LINES)) values[name].textContent = short(frame[name].at(-1) ?? NaN);
      plot.show(Object.keys(LINES).map((name) => ({ name, xs: frame.at, ys: frame[name] })));
    },
    remove: () => [locked, free, plot].forEach((part) => part.remove()),
  };
}
