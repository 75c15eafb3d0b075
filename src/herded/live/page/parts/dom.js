// Elements in one line each.

/** An element with properties, attributes (data-*, aria-*, role, for) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** A card of the stage: a heading, and what is under it. */
export function card(size, title, ...children) {
  return make("section", { className: `card ${size}` }, make("h2", {}, title), ...children);
}

/** A number in few digits. */
export function short(x) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return x.toExponential(1).replace("e-", "e−").replace("e+", "e");
  return x.toPrecision(3).replace(/^-/, "−");
}

/** A whole number with commas. */
export function whole(n) {
  return Math.round(n).toLocaleString("en");
}

/** Copy a text; true where that worked. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not allowed here: it is shown instead
  }
}

/** Let a file be dropped on an element; `take(file)` gets it. */
export function acceptDrops(element, take) {
  element.ondragover = (event) => {
    event.preventDefault();
    element.classList.add("over");
  };
  element.ondragleave = () => element.classList.remove("over");
  element.ondrop = (event) => {
    event.preventDefault();
    element.classList.remove("over");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  };
}
