// Names: Python finds people, places and organisations in a text.

import { ask, served } from "../parts/ask.js";
import { card, copy, make } from "../parts/dom.js";
import { elsewhere } from "../parts/elsewhere.js";
import { written } from "../parts/link.js";

const TITLE = "Names";
const LEDE = "A chain of labels, one for each word. With ties, mentions of the same word in a text pull each other: what is clear in one sentence helps in the next.";
const KINDS = { PERSON: "Person", LOCATION: "Location", ORGANIZATION: "Organization" };
const TEXT = `Tim Roth and Amanda Plummer are having breakfast in a diner. Roth has just come back from Amsterdam.
In Washington the senator said that Washington would not accept the terms. Microsoft opened an office in Nairobi; a speaker for Microsoft in Kenya declined to comment.`;
const PATIENCE = 400; // milliseconds without a key before Python is asked

export function namesScene(words) {
  if (!served) return elsewhere(TITLE, LEDE);
  const settings = { least: words.least ?? "0", ties: words.ties ?? "1" };
  let found = null, timer = 0, turn = 0;
  const text = make("textarea", { id: "text", value: words.text ?? TEXT, spellcheck: false, maxLength: 20000 });
  const shown = make("div", { className: "text" }), problem = make("p", { className: "error", role: "alert" });
  const status = make("p", { className: "note", role: "status" });
  const ties = make("button", { type: "button", "aria-pressed": String(settings.ties === "1") }, "Ties between mentions");
  const output = make("output", { htmlFor: "story" });
  const range = make("input", { type: "range", id: "story", min: 0, max: 100, step: 1, value: Math.round(100 * Number(settings.least)) });
  const link = make("button", { type: "button" }, "Copy link");

  function render() {
    settings.least = String(range.value / 100);
    output.textContent = `p ≥ ${(range.value / 100).toFixed(2)}`;
    range.setAttribute("aria-valuetext", output.textContent);
    if (!found) return;
    const characters = Array.from(found.text), pieces = [], counts = {};
    let at = 0;
    for (const { start, end, kind, probability } of settings.ties === "1" ? found.tied : found.alone) {
      if (probability < range.value / 100) continue;
      const chance = make("small", {}, probability.toFixed(2));
      const mark = make("mark", { className: kind, title: `${KINDS[kind]}, probability ${probability.toFixed(3)}` }, characters.slice(start, end).join(""), chance);
      pieces.push(characters.slice(at, start).join(""), mark);
      counts[kind] = (counts[kind] ?? 0) + 1;
      at = end;
    }
    shown.replaceChildren(...pieces, characters.slice(at).join(""));
    const tally = Object.entries(KINDS).map(([kind, name]) => `${name} ${counts[kind] ?? 0}`).join(", ");
    status.textContent = tally;
  }

  async function look() {
    const mine = ++turn, asked = text.value;
    status.textContent = "Python is reading …";
    try {
      const answer = await ask("names", { text: asked });
      if (mine !== turn) return;
      found = { text: asked, ...answer };
      problem.textContent = "";
      render();
    } catch (error) {
      if (mine === turn) [problem.textContent, status.textContent] = [error.message, ""];
    }
  }

  text.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(look, PATIENCE);
  };
  range.oninput = render;
  ties.onclick = () => {
    settings.ties = settings.ties === "1" ? "0" : "1";
    ties.setAttribute("aria-pressed", String(settings.ties === "1"));
    render();
  };
  link.onclick = async () => {
    const address = `${location.href.split("#")[0]}#${written("names", { ...settings, text: text.value.slice(0, 2000) })}`;
    history.replaceState(null, "", address);
    link.textContent = (await copy(address)) ? "Copied" : "In the address bar";
    setTimeout(() => (link.textContent = "Copy link"), 1600);
  };
  const legend = make("p", { className: "legend" }, ...Object.entries(KINDS).map(([kind, name]) => make("span", { className: kind }, name)));
  const element = make(
    "div",
    {},
    make("div", { className: "head" }, make("h1", {}, TITLE), make("p", { className: "lede" }, LEDE)),
    make(
      "div",
      { className: "stage" },
      make(
        "section",
        { className: "card controls", "aria-label": "Controls" },
        make("div", { className: "story" }, make("label", { htmlFor: "story" }, "Show names that are at least this likely"), output, range),
        make("div", { className: "row" }, ties, link),
      ),
      card("half", make("label", { htmlFor: "text" }, "Your text"), text, problem),
      card("half", "What is found, and how likely", shown, legend, status),
    ),
  );
  render();
  look();
  return { element, remove: () => (clearTimeout(timer), (turn += 1)) };
}
