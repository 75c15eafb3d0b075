// What all scenes share: a heading, a stage, controls, proof; a player; and a link that restores.

import { Controls } from "./controls.js";
import { make, whole } from "./dom.js";
import { written } from "./link.js";
import { Player } from "./player.js";
import { Proof } from "./proof.js";

export class Scene {
  /**
   * `plan`: id, title, lede, story (the slider), defaults (texts), stage (elements), bits (names of
   * settings that decide the bits), asked(settings), show(frame, sweeps), clear(). Where Python must
   * answer first, `load` is called for a start, and again when a setting changes; it then calls
   * `begin` or `restart`. `words` are those of a link.
   */
  constructor(plan, words) {
    this.plan = plan;
    this.settings = { seed: "0", speed: 30, ...plan.defaults };
    for (const name of Object.keys(this.settings)) if (name in words) this.settings[name] = words[name];
    this.settings.speed = Number(this.settings.speed) || 30;
    this.mend();
    this.proof = new Proof(plan.id, () => this.bits(), plan.file);
    this.begun = false; // until then there is nothing to run
    this.controls = new Controls(plan.story, this.settings, {
      change: () => (plan.load ? plan.load() : this.restart()),
      pace: () => (this.player.speed = this.settings.speed),
      play: () => this.begun && this.player.setPlaying(!this.player.playing),
      step: () => this.begun && this.player.step(),
      restart: () => this.begun && this.restart(true),
      link: () => this.link(),
    });
    this.player = new Player(plan.id, {
      onFrame: (frame, sweeps) => (this.controls.showCount(sweeps), plan.show(frame, sweeps)),
      onProof: (proof) => this.prove(proof),
      onState: (playing) => this.controls.showState(playing),
      onError: (message) => this.controls.say(message),
    });
    this.player.speed = this.settings.speed;
    const head = make("div", { className: "head" }, make("h1", {}, plan.title), make("p", { className: "lede" }, plan.lede));
    this.element = make("div", {}, head, make("div", { className: "stage" }, this.controls.element, ...plan.stage, this.proof.element));
    this.first = Math.min(Number(words.sweeps) || 0, 1e6); // where a link points
    if (!plan.load) this.begin();
  }

  /** Settings of a link that make no sense become the usual ones. */
  mend() {
    const { story, defaults } = this.plan;
    if (!story.values.includes(this.settings[story.name])) this.settings[story.name] = defaults[story.name];
    if (!(Number.isInteger(Number(this.settings.seed)) && this.settings.seed >= 0 && this.settings.seed < 2 ** 31)) this.settings.seed = "0";
    this.settings.seed = String(Number(this.settings.seed));
  }

  /** The first run, to where the link points, or any later one. */
  begin() {
    if (this.begun) return this.restart();
    this.begun = true;
    const moving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    return this.restart(!this.first && moving, this.first);
  }

  restart(runs = this.player.playing, until = 0) {
    this.plan.clear?.();
    this.proof.clear();
    this.player.start(this.plan.asked(this.settings), until);
    this.player.setPlaying(runs);
  }

  prove(proof) {
    this.proof.show(proof);
    this.controls.say(`${whole(this.player.sweeps)} sweeps. ${this.plan.said?.() ?? ""}`);
  }

  /** Settings that decide the bits, but those that are empty. */
  bits() {
    return Object.fromEntries([...this.plan.bits, "seed"].map((name) => [name, this.settings[name]]).filter(([, word]) => word !== ""));
  }

  link() {
    const { story } = this.plan, words = { ...this.bits(), [story.name]: this.settings[story.name], speed: this.settings.speed, sweeps: this.player.sweeps };
    return `${location.href.split("#")[0]}#${written(this.plan.id, words)}`;
  }

  remove() {
    this.player.remove();
    this.plan.remove?.();
  }
}
