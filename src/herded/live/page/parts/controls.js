// The bar of every scene: its slider, run and step, speed, seed, and a link.

import { copy, make, whole } from "./dom.js";

const SPEEDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 1000, 3000, 10000, 100000];

export class Controls {
  /**
   * `story`: { label, name, values (texts), show } of the one slider. `settings`: { seed, speed and
   * the slider's value }. `act` has change(), play(), step(), restart(), link().
   */
  constructor(story, settings, act) {
    Object.assign(this, { story, settings, act });
    this.play = make("button", { className: "main", type: "button", onclick: () => act.play() }, "Pause");
    this.status = make("span", { className: "hidden", role: "status" });
    this.count = make("span", { className: "count" }, "0 sweeps");
    this.element = make(
      "section",
      { className: "card controls", "aria-label": "Controls" },
      this.slider(),
      make(
        "div",
        { className: "row" },
        this.play,
        make("button", { type: "button", onclick: () => act.step() }, "Step"),
        make("button", { type: "button", onclick: () => act.restart() }, "Restart"),
        this.count,
      ),
      make("div", { className: "row" }, this.speed(), this.seed(), this.link()),
      this.status,
    );
  }

  slider() {
    const { label, name, values, show } = this.story;
    const shown = make("output", { htmlFor: "story" }, show(this.settings[name]));
    const range = make("input", { type: "range", id: "story", min: 0, max: values.length - 1, step: 1 });
    range.value = values.indexOf(this.settings[name]);
    range.setAttribute("aria-valuetext", show(this.settings[name]));
    range.oninput = () => {
      this.settings[name] = values[range.value];
      shown.textContent = show(values[range.value]);
      range.setAttribute("aria-valuetext", shown.textContent);
      this.act.change();
    };
    return make("div", { className: "story" }, make("label", { htmlFor: "story" }, label), shown, range);
  }

  speed() {
    const nearest = SPEEDS.reduce((a, b) => (Math.abs(b - this.settings.speed) < Math.abs(a - this.settings.speed) ? b : a));
    const shown = make("output", { htmlFor: "speed" }, whole(nearest));
    const range = make("input", { type: "range", id: "speed", min: 0, max: SPEEDS.length - 1, step: 1, "aria-label": "Speed" });
    range.value = SPEEDS.indexOf(nearest);
    range.setAttribute("aria-valuetext", `${whole(nearest)} sweeps per second`);
    range.oninput = () => {
      this.settings.speed = SPEEDS[range.value];
      shown.textContent = whole(SPEEDS[range.value]);
      range.setAttribute("aria-valuetext", `${shown.textContent} sweeps per second`);
      this.act.pace();
    };
    return make("div", { className: "small" }, make("span", {}, shown, " sweeps/s"), range);
  }

  seed() {
    const number = make("input", { type: "number", min: 0, max: 2147483647, step: 1, value: this.settings.seed });
    number.onchange = () => {
      if (!number.checkValidity() || number.value === "") number.value = this.settings.seed;
      this.settings.seed = String(Number(number.value));
      this.act.change();
    };
    return make("label", { className: "small" }, "Seed", number);
  }

  link() {
    const button = make("button", { type: "button" }, "Copy link");
    button.onclick = async () => {
      const link = this.act.link();
      const copied = await copy(link);
      history.replaceState(null, "", link);
      button.textContent = copied ? "Copied" : "In the address bar";
      setTimeout(() => (button.textContent = "Copy link"), 1600);
    };
    return button;
  }

  showState(playing) {
    this.play.textContent = playing ? "Pause" : "Run";
  }

  showCount(sweeps) {
    this.count.textContent = sweeps === 1 ? "1 sweep" : `${whole(sweeps)} sweeps`;
  }

  say(words) {
    this.status.textContent = words;
  }
}
