// Your model: drop a file, click what you know, and watch the rest make up its mind.

import { ask, served } from "../parts/ask.js";
import { acceptDrops, card, make } from "../parts/dom.js";
import { elsewhere } from "../parts/elsewhere.js";
import { Scene } from "../parts/scene.js";
import { GARDEN } from "./garden.js";

const TITLE = "Your model";
const LEDE = "Drop a Bayes net or a Markov network (.bif, .uai, .xmlbif). Click on a state to observe it. Bars are the mean of independent Gibbs chains, thin lines their 95 % intervals, red ticks one herded chain.";

export function modelScene(words) {
  if (!served) return elsewhere(TITLE, LEDE);
  let file = { name: "garden.bif", content: GARDEN }, net = null, given = parsed(words.given ?? ""), rows = [];
  const variables = make("div", { className: "variables" }), problem = make("p", { className: "error", role: "alert" });
  const title = make("span", {}, "…");
  const input = make("input", { type: "file", accept: ".uai,.bif,.xmlbif,.xml,.bifxml", hidden: true, "aria-label": "A model file" });
  const choose = make("button", { type: "button", onclick: () => input.click() }, "Choose a file");
  const forget = make("button", { type: "button", onclick: () => ((given = {}), load()) }, "Forget what is observed");
  const garden = make("a", { className: "button", download: "garden.bif", href: URL.createObjectURL(new Blob([GARDEN])) }, "Save garden.bif");
  const stage = card("", title, make("div", { className: "row" }, choose, input, forget, garden, make("span", { className: "note" }, "or drop a file here")), problem, variables);

  function parsed(text) {
    return Object.fromEntries(text.split(",").filter(Boolean).map((pair) => pair.split(":").map(Number)));
  }

  const evidence = () => Object.entries(given).map(([variable, state]) => `${variable}:${state}`).join(",");

  async function load(until = 0) {
    try {
      const { chains, seed } = scene.settings;
      const answer = await ask("model", { ...file, given: evidence(), chains: Number(chains), seed: Number(seed) });
      const other = net === null || answer.names.join() !== net.names.join();
      net = answer;
      if (other) build();
      mark();
      problem.textContent = "";
      scene.settings.given = evidence();
      scene.begin(until);
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  function build() {
    garden.hidden = file.content !== GARDEN;
    title.textContent = `${file.name}: ${net.names.length} variables`;
    rows = [];
    variables.replaceChildren(
      ...net.names.map((name, i) => {
        const states = net.states[i].map((state, k) => {
          const bar = make("i"), half = make("b"), tick = make("em"), number = make("span", {}, "");
          const button = make("button", { type: "button", className: "state", "aria-pressed": "false", "aria-label": `${name} is ${state}: observe` }, make("span", { title: state }, state), make("span", { className: "bar" }, bar, half, tick), number);
          button.onclick = () => observe(i, k);
          rows.push({ i, k, bar, half, tick, number, button });
          return button;
        });
        return make("section", { className: "card variable" }, make("h3", {}, name), ...states);
      }),
    );
  }

  function observe(i, k) {
    const before = { ...given };
    if (given[i] === k) delete given[i];
    else given[i] = k;
    load().then(() => {
      if (problem.textContent) given = before;
    });
  }

  function mark() {
    for (const { i, k, button } of rows) {
      button.setAttribute("aria-pressed", String(given[i] === k));
      button.parentElement.classList.toggle("seen", i in given);
    }
  }

  async function take(dropped) {
    if (dropped.size > 1.5e6) problem.textContent = "That file is larger than 1.5 MB: herded infer takes files of any size.";
    else {
      file = { name: dropped.name, content: await dropped.text() };
      given = {};
      net = null;
      load();
    }
  }

  input.onchange = () => input.files.length && take(input.files[0]);
  acceptDrops(stage, take);

  const scene = new Scene(
    {
      id: "model",
      title: TITLE,
      lede: LEDE,
      story: { label: "Independent chains", name: "chains", values: ["2", "4", "8", "16", "32"], show: (value) => `${value} chains` },
      defaults: { chains: "8", given: "", speed: 120 },
      bits: ["given"],
      file: () => file.name,
      ready: false,
      stage: [stage],
      asked: (settings) => ({ seed: settings.seed, table: net.table }),
      changed: () => load(),
      show({ means, halves, herded, width }) {
        for (const { i, k, bar, half, tick, number } of rows) {
          const at = i * width + k, percent = (v) => `${100 * Math.max(0, Math.min(1, v))}%`;
          const low = Math.max(0, means[at] - halves[at]), high = Math.min(1, means[at] + halves[at]);
          bar.style.width = percent(means[at]);
          half.style.left = percent(low);
          half.style.width = percent(high - low);
          tick.style.left = percent(herded[at]);
          number.textContent = means[at].toFixed(3);
        }
      },
    },
    words,
  );
  load(Number(words.sweeps) || 0);
  return scene;
}
