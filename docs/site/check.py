"""python -m docs.site.check [--out FOLDER] [--pictures FOLDER]: look at the site in a real browser.

Every page at three widths, light and dark: nothing said on the console, nothing asked of any other
place, nothing wider than the screen, a name for every control and picture, contrast of all texts
(WCAG 2, level AA). Then the scenes of the live page likewise, at four widths. With --pictures
screenshots are kept. It needs Chromium and pip install playwright. The pages are opened as files.
"""

import argparse
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site.__main__ import OUT
from herded.live.server import LiveServer
from tests.live.browser import Visit, chromium

WIDTHS = (360, 768, 1200)
SCENES = ("weight", "two", "picture?size=64", "herd", "names", "model")
SCHEMES = ("light", "dark")


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m docs.site.check")
    options.add_argument("--out", type=Path, default=OUT, help="the site; default: build/site")
    options.add_argument("--pictures", type=Path, help="keep screenshots here")
    options.add_argument("--no-live", action="store_true", help="leave out the live page")
    options.add_argument("pages", nargs="*", help="such as tutorial; default: all")
    chosen = options.parse_args()
    pages = sorted(path for path in chosen.out.rglob("*.html") if "_static" not in path.parts)
    pages = [path for path in pages if not chosen.pages or path.stem in chosen.pages]
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with chromium() as browser:
        found = [
            check_site(browser, chosen.out, pages, chosen.pictures),
            search(browser, chosen.out),
        ]
        if not (chosen.no_live or chosen.pages):
            found.append(check_live(browser, chosen.pictures))
        for part in found:
            for fault in part:
                wrong += 1
                print(fault, flush=True)
    print(f"{len(pages)} pages at {len(WIDTHS)} widths: {wrong} faults")
    return 1 if wrong else 0


def check_site(
    browser: Any, folder: Path, pages: list[Path], pictures: Path | None
) -> Iterator[str]:
    """What is wrong with the pages."""
    for scheme in SCHEMES:
        visit = Visit(browser, folder.as_uri(), color_scheme=scheme)
        for path in pages:
            name = path.relative_to(folder).with_suffix("").as_posix().replace("/", "-")
            visit.page.goto(path.as_uri())
            yield from faults(visit, name, WIDTHS, scheme, pictures)
        visit.context.close()


def check_live(browser: Any, pictures: Path | None) -> Iterator[str]:
    """What is wrong with the scenes."""
    with LiveServer() as live:
        threading.Thread(target=live.serve_forever, daemon=True).start()
        for scheme in SCHEMES:
            visit = Visit(browser, live.link, color_scheme=scheme)
            for scene in SCENES:
                visit.go(scene)
                visit.page.wait_for_selector("[data-hash]", state="attached", timeout=120_000)
                name = f"live-{scene.partition('?')[0]}"
                yield from faults(visit, name, (*WIDTHS, 1600), scheme, pictures)
            visit.context.close()
        live.shutdown()


def faults(
    visit: Visit, name: str, widths: tuple[int, ...], scheme: str, pictures: Path | None
) -> Iterator[str]:
    """What is wrong with the page that is open."""
    for width in widths:
        visit.page.set_viewport_size({"width": width, "height": 900})
        yield from (f"{name} at {width}, too wide: {what}" for what in visit.too_wide())
        if pictures is not None:
            picture = pictures / f"{name}-{width}-{scheme}.png"
            visit.page.screenshot(path=picture, full_page=True)
    yield from (f"{name}, without a name: {what}" for what in visit.nameless())
    yield from (f"{name}, {scheme}, faint: {what}" for what in visit.faint())
    yield from (f"{name}: {what}" for what in visit.problems)
    visit.problems.clear()


def search(browser: Any, folder: Path) -> Iterator[str]:
    """Whether the search finds a word, without any server."""
    page = browser.new_page()
    page.goto((folder / "search.html").as_uri() + "?q=tempering")
    try:
        page.wait_for_selector("#search-results li a", timeout=20_000)
    except Exception:
        yield "the search finds nothing"
    page.close()


if __name__ == "__main__":
    sys.exit(main())
