// One weight: herding a single variable, as a saw, as a rotor, and as counts.

import { Canvas, colour } from "../parts/canvas.js";
import { card, make, short } from "../parts/dom.js";

const TURN = 2 * Math.PI;

export function weightScene() {
  let rows = new Float64Array(0), phase = 0, p = 0.3, worst = { herded: 0, gibbs: 0 };
  const count = () => rows.length / 5;

  const dial = new Canvas("A point goes round a circle by the same arc every time; it is a 1 when it passes the top", 1, drawDial);
  const saw = new Canvas("The weight rises by p at every visit, and falls by 1 whenever it is above 0", 2.6, drawSaw, 170);
  const drift = new Canvas("Count of ones less what was due: herding stays between −1 and 1, fair draws wander off", 2.6, drawDrift, 170);
  const beads = new Canvas("The ones of both, as filled dots: evenly spread by herding, in clumps by chance", 16, drawBeads, 60);
  const herdedWorst = make("b", {}, "0"), gibbsWorst = make("b", {}, "0");

  function drawDial({ width, height }) {
    const x = width / 2, y = height / 2, r = Math.min(width, height) / 2 - 26;
    const angle = (part) => TURN * part - TURN / 4;
    dial.arc(x, y, r, 0, TURN, colour("faint"), 14);
    dial.arc(x, y, r, angle(1 - p), angle(1), colour("herded"), 14);
    const from = Math.min(count(), 40);
    for (let i = count() - from; i < count(); i++) {
      const a = angle(rows[5 * i]), fade = 1 - (count() - i) / 44;
      dial.pen.globalAlpha = 0.35 * fade;
      dial.disc(x + (r - 22) * Math.cos(a), y + (r - 22) * Math.sin(a), 3, colour("ink"));
    }
    dial.pen.globalAlpha = 1;
    const a = angle(phase);
    dial.line([[x, y], [x + r * Math.cos(a), y + r * Math.sin(a)]], colour("ink"), 2);
    dial.disc(x + r * Math.cos(a), y + r * Math.sin(a), 9, colour("ink"));
    const state = count() ? rows[rows.length - 4] : 0;
    dial.disc(x, y, 24, state ? colour("herded") : colour("card"));
    dial.arc(x, y, 24, 0, TURN, colour(state ? "herded" : "line"), 2);
    dial.text(String(state), x, y + 1, { align: "center", size: 20, weight: 650, style: state ? colour("card") : colour("soft") });
  }

  /** The last visits, as far as there is room. */
  function shown(canvas, room) {
    const n = Math.min(count(), Math.floor((canvas.width - 48) / room));
    return Array.from({ length: n }, (_, i) => count() - n + i).map((i, at) => [48 + at * room + room / 2, 5 * i]);
  }

  function axis(canvas, low, high, marks) {
    const place = (v) => 12 + ((high - v) / (high - low)) * (canvas.height - 24);
    for (const v of marks) {
      canvas.line([[40, place(v)], [canvas.width, place(v)]], colour(v === 0 ? "line" : "faint"), 1);
      canvas.text(v > 0 ? `+${v}` : String(v).replace("-", "−"), 32, place(v), { align: "right" });
    }
    return place;
  }

  function drawSaw() {
    const place = axis(saw, -1, 1, [-1, 0, 1]), points = [];
    for (const [x, at] of shown(saw, 16)) {
      const raised = rows[at] - 1 + p; // the weight after its step up
      points.push([x - 8, place(raised - p)], [x, place(raised)]);
      if (rows[at + 1]) points.push([x, place(raised - 1)]);
    }
    saw.line(points, colour("herded"), 2);
    for (const [x, at] of shown(saw, 16)) if (rows[at + 1]) saw.disc(x, place(rows[at] - 1 + p), 3.5, colour("herded"));
  }

  function drawDrift() {
    const points = shown(drift, 4), largest = Math.max(2, ...points.map(([, at]) => Math.abs(rows[at + 4])));
    const high = 2 ** Math.ceil(Math.log2(largest)), place = axis(drift, -high, high, [-high, -1, 0, 1, high]);
    drift.pen.fillStyle = colour("herded");
    drift.pen.globalAlpha = 0.12;
    drift.pen.fillRect(40, place(1), drift.width - 40, place(-1) - place(1));
    drift.pen.globalAlpha = 1;
    drift.line(points.map(([x, at]) => [x, place(rows[at + 4])]), colour("gibbs"), 2);
    drift.line(points.map(([x, at]) => [x, place(rows[at + 3])]), colour("herded"), 2);
  }

  function drawBeads({ height }) {
    const room = 11;
    [["herded", 1], ["gibbs", 2]].forEach(([name, column], line) => {
      const y = height * (0.28 + 0.44 * line);
      beads.text(name === "herded" ? "herded" : "fair", 0, y, { size: 11 });
      for (const [x, at] of shown(beads, room)) {
        const on = rows[at + column];
        beads.disc(x, y, on ? 4.2 : 1.6, on ? colour(name) : colour("line"));
      }
    });
  }

  return {
    id: "weight",
    title: "One weight",
    lede: "A coin forgets. Herding remembers: it adds p to a weight, says 1 when the weight is above 0, and takes 1 off. Nothing is random, and the count of ones is never off by more than one.",
    story: {
      label: "Probability of a 1",
      name: "p",
      values: Array.from({ length: 99 }, (_, i) => ((i + 1) / 100).toFixed(2)),
      show: (value) => `p = ${value}`,
    },
    defaults: { p: "0.30", speed: 5 },
    bits: ["p"],
    stage: [
      card("third middle", "The circle: turn by p; passing the top is a 1", dial.element),
      make(
        "div",
        { className: "twothirds stack" },
        card("", "The weight", saw.element),
        card(
          "",
          "Count of ones, less what is due",
          drift.element,
          make(
            "p",
            { className: "legend" },
            make("span", { className: "key herded" }, "Herded, at most ", herdedWorst, " off"),
            make("span", { className: "key gibbs" }, "Fair draws, up to ", gibbsWorst, " off"),
          ),
        ),
      ),
      card("", "The ones", beads.element),
    ],
    asked: (settings) => ((p = Number(settings.p)), settings),
    clear: () => ((rows = new Float64Array(0)), [dial, saw, drift, beads].forEach((canvas) => canvas.paint())),
    said: () => `Herding was at most ${short(worst.herded)} off, fair draws ${short(worst.gibbs)}.`,
    show(frame) {
      ({ rows, phase, worst } = frame);
      herdedWorst.textContent = worst.herded.toFixed(2);
      gibbsWorst.textContent = worst.gibbs.toFixed(2);
      [dial, saw, drift, beads].forEach((canvas) => canvas.paint());
    },
    remove: () => [dial, saw, drift, beads].forEach((canvas) => canvas.remove()),
  };
}
