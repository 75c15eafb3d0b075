"""python -m tests.live_look FOLDER: pictures of every scene of the live page, to be looked at.

At 360, 768, 1200 and 1600 pixels, light, and at 1200 dark. Also prints the frames a second of each
scene, and the processor's time that the longest task of the page's main thread took, loading
included: 50 ms would be felt.
"""

import argparse
import json
import threading
from pathlib import Path
from typing import Any

from herded.live.server import LiveServer
from tests.browser import Visit, chromium, why_no_browser

SCENES = ("weight", "two", "picture?size=256", "herd", "names", "model")
LOOKS = ((360, "light"), (768, "light"), (1200, "light"), (1200, "dark"), (1600, "light"))
SECONDS = 5
COUNT = """() => {
  window.frames_seen = 0;
  const count = () => { window.frames_seen += 1; requestAnimationFrame(count); };
  count();
}"""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.live_look")
    options.add_argument("folder", type=Path)
    options.add_argument("--scenes", default=",".join(SCENES))
    chosen = options.parse_args()
    if why_no_browser():
        print(why_no_browser())
        return 1
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with LiveServer() as live, chromium() as browser:
        threading.Thread(target=live.serve_forever, daemon=True).start()
        for width, scheme in LOOKS:
            visit = Visit(browser, live.link, width, color_scheme=scheme)
            for scene in chosen.scenes.split(","):
                name = f"{scene.partition('?')[0]}-{width}{'-dark' * (scheme == 'dark')}"
                browser.start_tracing(page=visit.page, categories=["toplevel"])
                frames = look(visit, scene)
                longest = longest_task(json.loads(browser.stop_tracing())["traceEvents"])
                visit.page.screenshot(path=chosen.folder / f"{name}.png", full_page=True)
                print(f"{name}: {frames:.0f} frames a second, longest task {longest:.0f} ms")
            print(*visit.problems, sep="\n", end="")
            visit.context.close()
        live.shutdown()
    return 0


def look(visit: Visit, scene: str) -> float:
    """Open a scene; give its frames a second."""
    visit.go(scene)
    visit.page.wait_for_selector("mark" if scene == "names" else "h1")
    visit.page.evaluate(COUNT)
    visit.page.wait_for_timeout(1000 * SECONDS)
    frames: float = visit.page.evaluate("window.frames_seen")
    return frames / SECONDS


def longest_task(events: list[dict[str, Any]]) -> float:
    """Milliseconds of the processor, whatever else the machine does."""
    names = [e for e in events if e.get("name") == "thread_name"]
    mains = {(e["pid"], e["tid"]) for e in names if e["args"]["name"] == "CrRendererMain"}
    tasks = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) in mains]
    return max((e.get("tdur", 0) for e in tasks if "RunTask" in e["name"]), default=0) / 1000


if __name__ == "__main__":
    raise SystemExit(main())
