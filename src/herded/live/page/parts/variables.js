// The variables of a model as cards: bars for their states, which can be clicked on. Only cards on
// the screen are filled and kept up to date: a model may have thousands of states.

import { make } from "./dom.js";

const ROW = 1.9; // rem, the height of a state in style.css

export class Variables {
  /** `observe(i, k)` is called when state k of variable i is clicked on. */
  constructor(observe) {
    this.observe = observe;
    this.element = make("div", { className: "variables" });
    this.cards = [];
    this.near = new Set();
    this.watcher = new IntersectionObserver((entries) => entries.forEach((entry) => this.pass(entry)), { rootMargin: "2000px" });
  }

  /** The names and states of another model. */
  take({ names, states }) {
    this.watcher.disconnect();
    this.near.clear();
    this.cards = names.map((name, i) => {
      const rows = make("div", { className: "states" });
      rows.style.minHeight = `${ROW * states[i].length}rem`;
      return { i, name, states: states[i], rows, element: make("section", { className: "card variable" }, make("h3", {}, name), rows), filled: null };
    });
    this.element.replaceChildren(...this.cards.map(({ element }) => element));
    for (const card of this.cards) {
      card.element.dataset.number = card.i;
      this.watcher.observe(card.element);
    }
    this.frame = null;
  }

  pass({ target, isIntersecting }) {
    const card = this.cards[target.dataset.number];
    if (card?.element !== target) return; // of an earlier model
    if (!isIntersecting) return void this.near.delete(card);
    this.near.add(card);
    if (!card.filled) this.fill(card);
    this.draw(card);
  }

  fill(card) {
    const { i, name, states, rows } = card;
    card.filled = states.map((state, k) => {
      const bar = make("i"), half = make("b"), tick = make("em"), number = make("span", {}, "");
      const button = make("button", { type: "button", className: "state", "aria-label": `${name} is ${state}: observe` }, make("span", { title: state }, state), make("span", { className: "bar" }, bar, half, tick), number);
      button.onclick = () => this.observe(i, k);
      rows.append(button);
      return { bar, half, tick, number, button };
    });
    this.press(card);
  }

  /** What is observed: an object from variables to states. */
  mark(given) {
    this.given = given;
    for (const card of this.cards) this.press(card);
  }

  press({ i, element, filled }) {
    element.classList.toggle("seen", i in (this.given ?? {}));
    filled?.forEach(({ button }, k) => button.setAttribute("aria-pressed", String(this.given?.[i] === k)));
  }

  show(frame) {
    this.frame = frame;
    for (const card of this.near) this.draw(card);
  }

  draw({ i, filled }) {
    if (!this.frame) return;
    const { means, halves, herded, width } = this.frame, percent = (v) => `${100 * Math.max(0, Math.min(1, v))}%`;
    filled.forEach(({ bar, half, tick, number }, k) => {
      const at = i * width + k, low = Math.max(0, means[at] - halves[at]), high = Math.min(1, means[at] + halves[at]);
      bar.style.width = percent(means[at]);
      half.style.left = percent(low);
      half.style.width = percent(high - low);
      tick.style.left = percent(herded[at]);
      number.textContent = means[at].toFixed(3);
    });
  }

  remove() {
    this.watcher.disconnect();
  }
}
