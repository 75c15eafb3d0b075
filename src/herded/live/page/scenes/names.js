// Names: people, places and organisations in a text, sampled, with ties between mentions.

import { ask, served } from "../parts/ask.js";
import { card, make } from "../parts/dom.js";
import { elsewhere } from "../parts/elsewhere.js";
import { Mentions } from "../parts/mentions.js";
import { Scene } from "../parts/scene.js";

const TITLE = "Names";
const LEDE = "Every word has a label: a person, a place, an organisation, or none. It listens to its neighbours and, by a tie, to other mentions of the same word: what is clear in one sentence helps in the next. Sweep by sweep a sampler makes up its mind.";
export const KINDS = { PERSON: "Person", LOCATION: "Location", ORGANIZATION: "Organization" };
const TEXT = `Tim Roth and Amanda Plummer are having breakfast in a diner. Roth has just come back from Amsterdam.
In Washington the senator said that Washington would not accept the terms. Jackson met reporters in Jackson, Mississippi, before Jackson boarded a plane. Microsoft opened an office in Nairobi; a speaker for Microsoft in Kenya declined to comment.`;
const PATIENCE = 400; // milliseconds without a key before Python is asked
const PACE = 100; // milliseconds between two pictures: figures that change faster cannot be read

export function namesScene(words) {
  if (!served) return elsewhere(TITLE, LEDE);
  let found = null, timer = 0, turn = 0, latest = null, drawn = 0, names = null;
  const text = make("textarea", { id: "text", value: words.text ?? TEXT, spellcheck: false, maxLength: 20000 });
  const shown = make("div", { className: "text", lang: "en", tabIndex: 0, role: "region", "aria-label": "The text with its names" }), problem = make("p", { className: "error", role: "alert" });
  const tally = make("span", {}), mentions = new Mentions();

  async function load() {
    const mine = ++turn, { ties } = scene.settings;
    if (!text.value.trim()) return void (problem.textContent = "There is no word in this text.");
    try {
      const answer = await ask("names", { text: text.value, ties: Number(ties) });
      if (mine !== turn) return undefined;
      found = { ...answer, characters: Array.from(text.value) };
      scene.settings.text = text.value;
      problem.textContent = "";
      mentions.take(found);
      scene.begin();
    } catch (error) {
      if (mine === turn) problem.textContent = error.message;
    }
    return undefined;
  }

  /** The text with its names marked; marks stay where only their figures change. */
  function render() {
    const { characters, starts, lengths, kinds } = found, list = latest.names, counts = {}, pieces = [];
    const outline = list.filter((_, i) => i % 4 < 3).join();
    let at = 0;
    for (let i = 0; i < list.length; i += 4) counts[kinds[list[i + 2]]] = (counts[kinds[list[i + 2]]] ?? 0) + 1;
    if (outline === names) return shown.querySelectorAll("small").forEach((chance, i) => figure(chance, list[4 * i + 3]));
    names = outline;
    for (let i = 0; i < list.length; i += 4) {
      const [first, last, kind, chance] = list.slice(i, i + 4);
      const start = starts[first], end = starts[last - 1] + lengths[last - 1];
      const mark = make("mark", { className: kinds[kind], title: KINDS[kinds[kind]] }, characters.slice(start, end).join(""), figure(make("small"), chance));
      pieces.push(characters.slice(at, start).join(""), mark);
      at = end;
    }
    shown.replaceChildren(...pieces, characters.slice(at).join(""));
    tally.textContent = Object.entries(KINDS).map(([kind, name]) => `${name} ${counts[kind] ?? 0}`).join(", ");
    return undefined;
  }

  function figure(chance, p) {
    const words = p.toFixed(2);
    if (chance.textContent !== words) chance.textContent = words;
    return chance;
  }

  text.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(load, PATIENCE);
  };
  const legend = make("p", { className: "legend" }, ...Object.entries(KINDS).map(([kind, name]) => make("span", { className: kind }, name)));
  const scene = new Scene(
    {
      id: "names",
      title: TITLE,
      lede: LEDE,
      story: {
        label: "Pull between mentions",
        name: "ties",
        values: ["0", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "4", "6", "8"],
        show: (value) => ({ 0: "no ties", 1: "× 1, as learnt" })[value] ?? `× ${value}`,
      },
      defaults: { ties: "1", text: "", speed: 60 },
      bits: ["ties", "text"],
      stage: [
        card("half", make("label", { htmlFor: "text" }, "Your text"), text, problem),
        card("half", "What is found, and how often it was in the sweeps so far", shown, legend),
        card("", "Mentions of one word, without ties and with them", mentions.element),
      ],
      load,
      asked: ({ seed }) => ({ seed, table: found.table, sentences: found.sentences }),
      clear: () => ((latest = null), (drawn = 0), (names = null)),
      said: () => tally.textContent,
      show(frame, sweeps) {
        latest = frame;
        const now = performance.now();
        if (sweeps > 0 && scene.player.playing && now - drawn < PACE) return;
        drawn = now;
        render();
        mentions.show(frame);
      },
      remove: () => (clearTimeout(timer), (turn += 1)),
    },
    words,
  );
  load();
  return scene;
}
