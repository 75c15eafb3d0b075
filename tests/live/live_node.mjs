// Runs the page's own sampler without a page: questions come as JSON, answers go out as JSON.

import { readFileSync } from "node:fs";

const { folder, question } = JSON.parse(readFileSync(0, "utf8"));
const part = (name) => import(`${folder}/sampler/${name}.js`);

const answers = {
  /** The hash of each run { scene, asked, method, sweeps }. */
  async hashes(runs) {
    const { makeChain } = await part("runs"), { digest } = await part("digest");
    return runs.map(({ scene, asked, method, sweeps }) => {
      const chain = makeChain(scene, asked, method);
      while (chain.sweeps < sweeps) chain.sweep();
      return digest(chain);
    });
  },

  /** exp and log of numbers, as the 16 hexadecimal digits of doubles. */
  async functions(numbers) {
    const { exp, log } = await part("exp");
    const view = new DataView(new ArrayBuffer(8));
    const spelt = (x) => (view.setFloat64(0, x), view.getBigUint64(0).toString(16).padStart(16, "0"));
    return numbers.map((text) => [spelt(exp(Number(text))), spelt(log(Number(text)))]);
  },

  /** Draws of streams [seed, chain, purpose, counter], as two words. */
  async draws(streams) {
    const { draw, lowBits, streamKey } = await part("words");
    return streams.map(([seed, chain, purpose, counter]) => [draw(streamKey(seed, chain, purpose), counter), lowBits()]);
  },

  /** Pictures, encoded and decoded again; and SHA-256 of texts. */
  async pictures(pictures) {
    const { decodePicture, encodePicture } = await part("coding");
    return pictures.map((bits) => {
      const text = encodePicture(Uint8Array.from(bits));
      return [text, Array.from(decodePicture(text, bits.length))];
    });
  },

  async sha256(texts) {
    const { sha256 } = await part("sha256");
    return texts.map((text) => sha256(new TextEncoder().encode(text)));
  },

  /** How alike neighbours are on small tori. */
  async tori(cases) {
    const { alikeness } = await part("torus");
    return cases.map(([side, coupling]) => alikeness(side, coupling));
  },

  /** What workers are sent, and errors shown, where a scene is left while its worker is at work. */
  async workers(fails) {
    const log = [], workers = [];
    globalThis.requestAnimationFrame = () => 0;
    globalThis.cancelAnimationFrame = () => {};
    globalThis.Worker = class {
      constructor() { this.name = workers.push(this) - 1; }
      postMessage({ start }) { log.push(`${this.name} starts ${start}`); }
      terminate() { log.push(`${this.name} ends`); }
    };
    const { Player } = await import(`${folder}/parts/player.js`);
    const events = { onFrame() {}, onProof() {}, onState() {}, onError: (text) => log.push(text) };
    const one = new Player("one", events);
    one.start({});
    one.remove();
    const two = new Player("two", events);
    two.start({});
    if (fails) workers[0].onerror({ message: "one failed" });
    else workers[0].onmessage({ data: { run: 1, sweeps: 1 } });
    workers.at(-1).onerror({ message: "two failed" });
    two.remove();
    new Player("three", events).start({});
    return log;
  },
};

const [name, ...given] = question;
console.log(JSON.stringify(await answers[name](...given)));
