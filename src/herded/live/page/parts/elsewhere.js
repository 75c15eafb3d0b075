// What the static page shows in place of scenes that Python answers.

import { make } from "./dom.js";

export function elsewhere(title, lede) {
  const code = (words) => make("code", {}, words);
  const element = make(
    "div",
    {},
    make("div", { className: "head" }, make("h1", {}, title), make("p", { className: "lede" }, lede)),
    make(
      "div",
      { className: "stage" },
      make(
        "section",
        { className: "card half" },
        make("h2", {}, "Python answers here"),
        make("p", {}, "This copy of the page has no Python behind it. To get this scene, install the package from a checkout of its repository, and let it serve the page:"),
        make("pre", {}, code("pip install .\nherded live")),
      ),
    ),
  );
  return { element, remove() {} };
}
