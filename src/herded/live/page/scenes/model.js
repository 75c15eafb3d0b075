// Your model: drop a file, click what you know, and watch the rest make up its mind.

import { ask, served } from "../parts/ask.js";
import { acceptDrops, card, make } from "../parts/dom.js";
import { elsewhere } from "../parts/elsewhere.js";
import { pack, unpack } from "../parts/packed.js";
import { Scene } from "../parts/scene.js";
import { Variables } from "../parts/variables.js";
import { GARDEN } from "./garden.js";

const TITLE = "Your model";
const LEDE = "Drop a Bayes net or a Markov network (.bif, .uai, .xmlbif). Click on a state to observe it. Bars are the mean of independent Gibbs chains, thin lines their 95 % intervals, red ticks one herded chain.";
const LONGEST = 16000; // characters of a file in a link, packed

export function modelScene(words) {
  if (!served) return elsewhere(TITLE, LEDE);
  let file = { name: "garden.bif", content: GARDEN }, net = null, given = parsed(words.given ?? ""), turn = 0;
  const problem = make("p", { className: "error", role: "alert" }), note = make("p", { className: "note" });
  const title = make("span", {}, "…"), variables = new Variables(observe);
  const input = make("input", { type: "file", accept: ".uai,.bif,.xmlbif,.xml,.bifxml", hidden: true, "aria-label": "A model file" });
  const choose = make("button", { type: "button", onclick: () => input.click() }, "Choose a file");
  const forget = make("button", { type: "button", onclick: () => load({}) }, "Forget what is observed");
  const stage = card("", title, make("div", { className: "row" }, choose, input, forget, make("span", { className: "note" }, "or drop a file here")), problem, variables.element, note);

  function parsed(text) {
    return Object.fromEntries(text.split(",").filter(Boolean).map((pair) => pair.split(":").map(Number)));
  }

  const spelt = (evidence) => Object.entries(evidence).map(([variable, state]) => `${variable}:${state}`).join(",");

  /** Ask Python for the model given `seen`; where it refuses, all stays as it was. */
  async function load(seen = given, asked = file) {
    const mine = ++turn, { chains, seed } = scene.settings;
    try {
      const answer = await ask("model", { ...asked, given: spelt(seen), chains: Number(chains), seed: Number(seed) });
      const packed = await pack(asked.content);
      if (mine !== turn) return;
      const other = net === null || asked !== file;
      [net, given, file] = [answer, seen, asked];
      if (other) build();
      variables.mark(given);
      problem.textContent = "";
      const fits = packed.length <= LONGEST;
      note.textContent = fits ? "" : "This file is too long for a link: whoever opens yours must drop it again.";
      Object.assign(scene.settings, { given: spelt(given), file: fits ? file.name : "", z: fits ? packed : "" });
      scene.begin();
    } catch (error) {
      if (mine === turn) problem.textContent = error.message;
    }
  }

  function build() {
    title.textContent = `${file.name}: ${net.names.length} variables`;
    variables.take(net);
  }

  function observe(i, k) {
    const { [i]: before, ...seen } = given;
    load(before === k ? seen : { ...seen, [i]: k });
  }

  async function take(dropped) {
    if (dropped.size > 1.5e6) problem.textContent = "That file is larger than 1.5 MB: herded infer takes files of any size.";
    else load({}, { name: dropped.name, content: await dropped.text() });
  }

  /** The file that a link has in it. */
  async function open() {
    try {
      if (words.z) file = { name: words.file ?? "model.bif", content: await unpack(words.z) };
    } catch {
      problem.textContent = "The file in this link is broken.";
    }
    return load();
  }

  input.onchange = () => {
    if (input.files.length) take(input.files[0]);
    input.value = "";
  };
  acceptDrops(stage, take);

  const scene = new Scene(
    {
      id: "model",
      title: TITLE,
      lede: LEDE,
      story: { label: "Independent chains", name: "chains", values: ["2", "4", "8", "16", "32"], show: (value) => `${value} chains` },
      defaults: { chains: "8", given: "", file: "", z: "", speed: 120 },
      bits: ["file", "z", "given"],
      file: () => (scene.settings.z ? "" : file.name),
      stage: [stage],
      load,
      asked: (settings) => ({ seed: settings.seed, table: net.table }),
      show: (frame) => variables.show(frame),
      remove: () => (variables.remove(), (turn += 1)),
    },
    words,
  );
  open();
  return scene;
}
