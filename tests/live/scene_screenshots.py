"""python -m tests.live.scene_screenshots FOLDER: pictures of every scene of the live page.

At 360, 768, 1200 and 1600 pixels, light and dark. Also prints the frames a second of each scene,
and the processor's time that the longest task of the page's main thread took, loading included:
50 ms would be felt, and end this with an error. After the six scenes come the longest text and
the largest model that the page takes.
"""

import argparse
import base64
import json
import threading
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from herded.live.server import LiveServer
from tests.live.browser import Visit, chromium, why_no_browser

SCENES = ("weight", "two", "picture?size=256", "herd", "names", "model")
LOOKS = tuple((width, scheme) for width in (360, 768, 1200, 1600) for scheme in ("light", "dark"))
SECONDS, LONGEST = 5, 50  # LONGEST in milliseconds
SENTENCE = "Roth met her in the garden before the others came back and had their dinner. "
COUNT = """() => {
  window.frames_seen = 0;
  const count = () => { window.frames_seen += 1; requestAnimationFrame(count); };
  count();
}"""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.live.scene_screenshots")
    options.add_argument("folder", type=Path)
    options.add_argument("--scenes", default=",".join(SCENES))
    options.add_argument("--width", type=int, help="of these widths only one")
    chosen = options.parse_args()
    if why_no_browser():
        print(why_no_browser())
        return 1
    chosen.folder.mkdir(parents=True, exist_ok=True)
    widths = [look for look in LOOKS if chosen.width in (None, look[0])]
    looks = [(scene, *look) for look in widths for scene in chosen.scenes.split(",")]
    looks += [(scene, 1200, "light") for scene in largest()] * (chosen.scenes == ",".join(SCENES))
    worst = 0.0
    with LiveServer() as live, chromium() as browser:
        threading.Thread(target=live.serve_forever, daemon=True).start()
        for scene, width, scheme in looks:
            visit = Visit(browser, live.link, width, color_scheme=scheme)
            name = f"{scene.partition('?')[0]}{'-large' * (len(scene) > 100)}-{width}"
            name += "-dark" * (scheme == "dark")
            browser.start_tracing(page=visit.page, categories=["toplevel", "devtools.timeline"])
            frames = look(visit, scene)
            events = json.loads(browser.stop_tracing())["traceEvents"]
            worst = max(worst, longest := longest_task(events, live.link))
            visit.page.screenshot(path=chosen.folder / f"{name}.png", full_page=True)
            print(f"{name}: {frames:.0f} frames a second, longest task {longest:.0f} ms")
            for problem in visit.problems:
                print("   ", problem)
            visit.context.close()
        live.shutdown()
    print(f"the longest task of all: {worst:.0f} ms")
    return int(worst > LONGEST)


def largest() -> list[str]:
    """Links to a text of 20,000 characters, and to 500 variables of three states."""
    text = (SENTENCE * 300)[:20_000]
    nodes = "".join(
        f"variable v{i} {{ type discrete [3] {{ a, b, c }}; }}\n"
        f"probability (v{i}) {{ table 0.2, 0.3, 0.5; }}\n"
        for i in range(500)
    )
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = packer.compress(f"network many {{}}\n{nodes}".encode()) + packer.flush()
    word = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return [f"names?text={quote(text)}", f"model?file=many.bif&z={word}"]


def look(visit: Visit, scene: str) -> float:
    """Open a scene; give its frames a second."""
    visit.go(scene)
    visit.page.wait_for_selector("[data-hash]", state="attached", timeout=60_000)
    visit.page.evaluate(COUNT)
    visit.page.wait_for_timeout(1000 * SECONDS)
    frames: float = visit.page.evaluate("window.frames_seen")
    return frames / SECONDS


def longest_task(events: list[dict[str, Any]], link: str) -> float:
    """Milliseconds of the processor, whatever else the machine and the browser itself do."""
    opened = [e for e in events if e["name"] in ("CommitLoad", "ParseHTML", "v8.compileModule")]
    own = {e["pid"] for e in opened if link in json.dumps(e["args"])}
    names = [e for e in events if e["name"] == "thread_name" and e["pid"] in own]
    mains = {(e["pid"], e["tid"]) for e in names if e["args"]["name"] == "CrRendererMain"}
    if not mains:
        raise ValueError("expected a main thread of the page in the trace, got none")
    tasks = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) in mains]
    return max((e.get("tdur", 0) for e in tasks if "RunTask" in e["name"]), default=0) / 1000


if __name__ == "__main__":
    raise SystemExit(main())
