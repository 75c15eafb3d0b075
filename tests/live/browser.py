"""A Chromium of the system, driven by Playwright, and what a page must be for everyone."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Each window would make a page or two for suggestions below its address bar, which takes longer
    # than to open ours. The last list is the only one that counts: the rest is Playwright's.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,"
    "MediaRouter,PaintHolding,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,"
    "PreconnectToSearch",
)


def why_no_browser() -> str:
    """Why there can be no tests in a browser; empty if there can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "there is no playwright: pip install 'herded[browser]'"
    return "" if shutil.which("chromium") else "there is no chromium: apt-get install chromium"


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that makes no requests of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page with all that went wrong on it, and all that was asked of other places."""

    def __init__(self, browser: Any, link: str, width: int = 1200, **options: Any) -> None:
        self.link = link
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("console", lambda m: self._note(m.text, m.type in ("error", "warning")))
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.on("request", lambda r: self._note(f"asked for {r.url}", not self._is_own(r.url)))

    def _is_own(self, url: str) -> bool:
        return url.startswith((self.link, "blob:", "data:", "about:"))

    def _note(self, text: str, is_wrong: bool = True) -> None:
        if is_wrong:
            self.problems.append(text)

    def go(self, place: str) -> None:
        """Load the page at a place, also where it is open: by itself that would be a turn."""
        if self.page.url.startswith(self.link):
            self.page.evaluate("place => history.replaceState(null, '', `#${place}`)", place)
            self.page.reload()
        else:
            self.page.goto(f"{self.link}#{place}")

    def turn(self, place: str) -> None:
        """To another place of the page that is open, which is not loaded again."""
        self.page.evaluate(TURN, place)

    def hashes(self) -> dict[str, tuple[int, str]]:
        """Of each method the sweeps and the hash that are shown."""
        found = self.page.eval_on_selector_all(
            "[data-hash]",
            "all => all.map(e => [e.dataset.method, e.dataset.sweeps, e.dataset.hash])",
        )
        return {method: (int(sweeps), digest) for method, sweeps, digest in found}

    def too_wide(self) -> list[str]:
        """Elements that stand out to the right of the page."""
        found: list[str] = self.page.evaluate(TOO_WIDE)
        return found

    def nameless(self) -> list[str]:
        """Controls and pictures that a screen reader has no name for."""
        found: list[str] = self.page.evaluate(NAMELESS)
        return found

    def faint(self) -> list[str]:
        """Texts that stand out too little from what is behind them (WCAG 2: 4.5, large ones 3)."""
        found: list[str] = self.page.evaluate(FAINT)
        return found


# The page heard of the new place first: it has been listening for longer.
# Where nothing changes there is no event, for which this would wait without end.
TURN = """(place) => new Promise((done) => {
  if (new URL(`#${place}`, location).hash === location.hash) throw new Error(`${place} again`);
  addEventListener("hashchange", () => done(), { once: true });
  location.hash = place;
})"""

TOO_WIDE = """() => {
  const scrolls = (e) => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX)
    || scrolls(e.parentElement));
  const drawer = (e) => e && (getComputedStyle(e).position === "fixed" || drawer(e.parentElement));
  const wide = [...document.querySelectorAll("body *")].filter((e) => e.getClientRects().length
    && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("pre, .hidden, .skip")
    && !scrolls(e.parentElement) && !drawer(e));
  const page = document.documentElement;
  const all = page.scrollWidth > innerWidth ? ["the page"] : [];
  return [...wide.map((e) => e.outerHTML.slice(0, 80)), ...all];
}"""

NAMELESS = """() => {
  const name = (e) => (e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent
    || e.getAttribute("alt") || e.title || "").trim();
  const all = "a, button, input, select, textarea, [role=img], [role=application]";
  const hidden = (e) => e.type === "hidden" || e.closest("[aria-hidden=true]");
  const nameless = [...document.querySelectorAll(all)].filter((e) => !name(e) && !hidden(e));
  nameless.push(...[...document.images].filter((e) => !e.hasAttribute("alt")));
  return nameless.map((e) => e.outerHTML.slice(0, 80));
}"""

FAINT = """() => {
  const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map(
    (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  ).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  const faint = new Map();
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest(".hidden, .skip, option, svg") || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), alpha = Number(style.opacity), back = behind(e);
    const ink = numbers(style.color).slice(0, 3).map((v, i) => v * alpha + back[i] * (1 - alpha));
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), bold = style.fontWeight >= 700;
    const least = size >= 24 || (size >= 18.66 && bold) ? 3 : 4.5;
    const words = e.textContent.slice(0, 40);
    const colours = `${style.color} on ${back}`; // the first text of each
    if ((a + 0.05) / (b + 0.05) < least) faint.set(colours, faint.get(colours) ?? words);
  }
  return [...faint].map(([colours, words]) => `${words}: ${colours}`);
}"""
