// The page: which scene is shown, and the links to the others.

import { make } from "./parts/dom.js";
import { readLink } from "./parts/link.js";
import { Scene } from "./parts/scene.js";
import { herdScene } from "./scenes/herd.js";
import { modelScene } from "./scenes/model.js";
import { namesScene } from "./scenes/names.js";
import { pictureScene } from "./scenes/picture.js";
import { twoScene } from "./scenes/two.js";
import { weightScene } from "./scenes/weight.js";

const SCENES = {
  weight: ["One weight", (words) => new Scene(weightScene(), words)],
  two: ["Two variables", (words) => new Scene(twoScene(), words)],
  picture: ["A picture", (words) => pictureScene(words)],
  herd: ["A herd", (words) => new Scene(herdScene(), words)],
  names: ["Names", (words) => namesScene(words)],
  model: ["Your model", (words) => modelScene(words)],
};

const place = document.getElementById("scene"), list = document.getElementById("scenes");
let current = null;

function show(moved) {
  const { scene: asked, words } = readLink();
  const id = asked in SCENES ? asked : "weight", [name, open] = SCENES[id];
  current?.remove();
  current = open(words);
  place.replaceChildren(current.element);
  document.title = `${name} · herded, live`;
  for (const link of list.querySelectorAll("a")) {
    if (link.dataset.scene === id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (moved) place.focus({ preventScroll: true });
}

for (const [id, [name]] of Object.entries(SCENES)) {
  list.append(make("li", {}, make("a", { href: `#${id}`, "data-scene": id }, name)));
}
document.querySelector(".skip").onclick = (event) => {
  event.preventDefault(); // the address has the scene behind its #
  place.focus();
};
addEventListener("hashchange", () => show(true));
setTimeout(() => show(false)); // the page first, then the scene: two short tasks instead of a long one
