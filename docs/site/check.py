"""python -m docs.site.check [--out FOLDER] [--pictures FOLDER]: look at the site in a real browser.

Every page at three widths: nothing said on the console, nothing asked of any other place, nothing
wider than the screen, an alternative text for every picture. With --pictures screenshots are kept.
It needs Chromium and pip install playwright. The pages are opened as files.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from docs.site.__main__ import OUT

WIDTHS = (360, 768, 1200)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
NAMELESS = "[...document.images].filter(i => !i.hasAttribute('alt')).length"


def faults(browser: Any, path: Path, width: int, picture: Path | None) -> Iterator[str]:
    """What is wrong with a page at a width."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield from (f"on the console: {text}" for text in said)
    yield from (f"asks for {url}" for url in asked if not url.startswith(("file:", "data:")))
    wider = page.evaluate(WIDER)
    if wider > 0:
        yield f"{wider} pixels wider than the screen"
    if page.evaluate(NAMELESS):
        yield "a picture without alternative text"
    if picture is not None:
        page.screenshot(path=picture, full_page=True)
    page.close()


def search(browser: Any, folder: Path) -> Iterator[str]:
    """Whether the search finds a word, without any server."""
    page = browser.new_page()
    page.goto((folder / "search.html").as_uri() + "?q=tempering")
    try:
        page.wait_for_selector("#search-results li a", timeout=20_000)
    except Exception:
        yield "the search finds nothing"
    page.close()


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m docs.site.check")
    options.add_argument("--out", type=Path, default=OUT, help="the site; default: build/site")
    options.add_argument("--pictures", type=Path, help="keep screenshots here")
    options.add_argument("--browser", default="/usr/bin/chromium")
    options.add_argument("pages", nargs="*", help="such as tutorial; default: all")
    chosen = options.parse_args()
    pages = sorted(path for path in chosen.out.rglob("*.html") if "_static" not in path.parts)
    pages = [path for path in pages if not chosen.pages or path.stem in chosen.pages]
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chosen.browser, args=FLAGS)
        for path in pages:
            name = path.relative_to(chosen.out).with_suffix("").as_posix().replace("/", "-")
            for width in WIDTHS:
                picture = chosen.pictures and chosen.pictures / f"{name}-{width}.png"
                for fault in faults(browser, path, width, picture):
                    wrong += 1
                    print(f"{name} at {width}: {fault}")
        for fault in search(browser, chosen.out):
            wrong += 1
            print(fault)
        browser.close()
    print(f"{len(pages)} pages at {len(WIDTHS)} widths: {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
