// The hashes of a run, and the command that prints the same.

import { copy, make, whole } from "./dom.js";
import { written } from "./link.js";

export const NAMES = { herded: "Herded Gibbs", gibbs: "Gibbs", shared: "Shared weights", herd: "Herd of 16", mean: "Mean field" };

export class Proof {
  /** `command()` gives the words of a check, which decide the bits; `file()` a file that it needs. */
  constructor(scene, command, file = () => "") {
    Object.assign(this, { scene, command, file });
    this.list = make("ul", {});
    this.element = make(
      "section",
      { className: "card proof" },
      make("h2", {}, "The same bits as Python’s"),
      make("p", { className: "note" }, "SHA-256 of the states and counts after 10, 100, 1,000 … sweeps, and when you pause. Copy a command, run it, compare."),
      this.list,
    );
  }

  show(proof) {
    this.list.replaceChildren(...proof.map((one) => this.line(one)));
  }

  clear() {
    this.list.replaceChildren();
  }

  line({ method, sweeps, hash }) {
    const words = { ...this.command(), method, sweeps: String(sweeps) };
    const name = this.file(), file = name ? ` --model '${name.replaceAll("'", "'\\''")}'` : "";
    const text = `herded live --check '${written(this.scene, words)}'${file}`;
    const button = make("button", { type: "button", "aria-label": `Copy the command that checks ${NAMES[method]}` }, "Copy check");
    const code = make("code", { "data-method": method, "data-sweeps": sweeps, "data-hash": hash, title: text }, hash);
    button.onclick = async () => {
      button.textContent = (await copy(text)) ? "Copied" : "See below";
      if (button.textContent === "See below") code.textContent = text;
    };
    return make("li", {}, make("span", { className: `key ${method}` }, NAMES[method]), make("span", { className: "after" }, `${whole(sweeps)} sweeps`), code, button);
  }
}
