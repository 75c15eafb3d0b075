// Words that are mentioned more than once: what each is taken for, alone and with the others.

import { make } from "./dom.js";

const MOST = 12, AROUND = 3; // mentions shown, words around them
const ROWS = { alone: "alone", herded: "herded", gibbs: "Gibbs" };

export class Mentions {
  constructor() {
    this.list = make("ul", { className: "mentions" });
    this.note = make("p", { className: "note" });
    this.element = make("div", {}, this.list, this.note);
    this.bars = [];
  }

  /** A text as Python has read it. */
  take(text) {
    const tied = [...new Set(text.ties.flat())].sort((a, b) => a - b), alone = Float32Array.from(text.alone);
    const shown = this.doubtful(tied, alone, text.kinds.length);
    this.kinds = text.kinds;
    this.bars = [];
    this.list.replaceChildren(...shown.map((word) => this.mention(word, text)));
    this.note.textContent = shown.length
      ? `Bars are P(label) of a word${tied.length > shown.length ? `, of the ${shown.length} least certain among ${tied.length} tied mentions` : ""}: exactly where every sentence stands alone, and by two samplers of the text with its ties.`
      : "No capitalised word stands here twice: there is nothing to tie.";
    this.fill("alone", alone);
  }

  /** The mentions that the chain alone is least sure of, in the order of the text. */
  doubtful(tied, alone, kinds) {
    const certain = (word) => Math.max(...alone.slice(word * kinds, (word + 1) * kinds));
    return [...tied].sort((a, b) => certain(a) - certain(b)).slice(0, MOST).sort((a, b) => a - b);
  }

  mention(word, { characters, starts, lengths, sentences, kinds }) {
    const sentence = sentences.findLastIndex((first) => first <= word);
    const from = Math.max(sentences[sentence], word - AROUND), to = Math.min(sentences[sentence + 1], word + AROUND + 1);
    const cut = (a, b) => characters.slice(a, b).join("").replace(/\s+/g, " ");
    const start = starts[word], end = start + lengths[word], stop = starts[to - 1] + lengths[to - 1];
    const place = make("p", {}, from > sentences[sentence] ? "… " : "", cut(starts[from], start), make("b", {}, cut(start, end)), cut(end, stop), to < sentences[sentence + 1] ? " …" : "");
    const rows = Object.entries(ROWS).map(([name, words]) => {
      const parts = kinds.map((kind) => make("i", { className: kind === "O" ? "none" : kind })), said = make("span", { className: "said" });
      this.bars.push({ name, word, parts, said });
      return make("div", { className: "stacked" }, make("span", {}, words), make("span", { className: "parts" }, ...parts), said);
    });
    return make("li", {}, place, ...rows);
  }

  fill(name, chances) {
    const kinds = this.kinds.length;
    for (const bar of this.bars) {
      if (bar.name !== name) continue;
      const at = bar.word * kinds;
      let best = 0;
      for (let k = 0; k < kinds; k++) {
        bar.parts[k].style.width = `${100 * chances[at + k]}%`;
        if (chances[at + k] > chances[at + best]) best = k;
      }
      bar.said.textContent = `${this.kinds[best] === "O" ? "none" : this.kinds[best].toLowerCase()} ${chances[at + best].toFixed(2)}`;
    }
  }

  show({ herded, gibbs }) {
    this.fill("herded", herded);
    this.fill("gibbs", gibbs);
  }
}
