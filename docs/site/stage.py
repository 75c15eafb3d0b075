"""Gather the site's sources in one folder: pages of docs/, and those made of code and tables."""

import re
import shutil
from pathlib import Path

from docs.site import gallery, navigation, reference
from docs.tools import notebooks
from docs.tools.benchmark_plots import __main__ as measured

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
SITE = Path(__file__).parent
OUTSIDE = re.compile(r"\]\(\.\./(?P<path>[^)#]+)(?P<place>#[^)]*)?\)")
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}


def stage(folder: Path, kept: Path) -> None:
    """Fill `folder`, which must be empty; the runs of the gallery are kept in `kept`."""
    shutil.copytree(SITE / "theme", folder / "theme")
    shutil.copytree(DOCS / "pictures", folder / "pictures")
    for page in DOCS.glob("*.md"):
        (folder / page.name).write_text(_inside(page.read_text(encoding="utf-8")), encoding="utf-8")
    for path in notebooks.write(folder / "notebooks"):
        _offer(folder / f"{path.stem}.md", path.name)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        (folder / PAGES[name]).write_text(text, encoding="utf-8")
    with open(folder / "index.md", "a", encoding="utf-8") as index:
        index.write("\n" + navigation.toctrees())
    gallery.write(folder, kept)
    _measure(folder)
    reference.write(folder / "reference")


def _measure(folder: Path) -> None:
    """Pictures and leaderboard of the tables as they are now."""
    page = folder / measured.PAGE.name
    measured.write(folder / "pictures" / "measured")
    page.write_text(measured.with_board(page.read_text(encoding="utf-8")), encoding="utf-8")


def _offer(page: Path, notebook: str) -> None:
    """A link to the notebook below the title of the page that it was made from."""
    title, rest = page.read_text(encoding="utf-8").split("\n", 1)
    link = f"{{download}}`This page as a notebook <notebooks/{notebook}>`"
    page.write_text(f"{title}\n\n{link}\n{rest}", encoding="utf-8")


def _inside(text: str) -> str:
    """Links to files of the repository become links to pages, or the name of the file."""

    def replaced(found: re.Match[str]) -> str:
        path = found["path"]
        if path.startswith("examples/"):
            return f"](gallery/{Path(path).stem}.md)"
        return f"]({PAGES.get(path, 'index.md')}{found['place'] or ''})"

    return OUTSIDE.sub(replaced, text)
