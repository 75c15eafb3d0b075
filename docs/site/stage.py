"""Gather the site's sources in one folder: pages of docs/, and those made of code and tables."""

import os
import re
import shutil
from pathlib import Path

from docs.site import gallery, navigation, reference
from docs.tools import notebooks
from docs.tools.benchmark_plots import __main__ as measured
from docs.tools.page_files import DOCS, RESULTS, page_files

ROOT = DOCS.parent
SITE = Path(__file__).parent
LINK = re.compile(r"\]\((?P<path>[^)#\s:]+)(?P<place>#[^)\s]*)?\)")
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}


def stage(folder: Path, kept: Path) -> None:
    """Fill `folder`, which must be empty; the runs of the gallery are kept in `kept`."""
    shutil.copytree(SITE / "theme", folder / "theme")
    shutil.copytree(DOCS / "pictures", folder / "pictures")
    files = [
        *page_files().values(),
        *RESULTS.glob("*.md"),
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
    ]
    for path in files:
        page = folder / place(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        text = with_site_links(path.read_text(encoding="utf-8"), path)
        page.write_text(text, encoding="utf-8")
    for path in notebooks.write(folder / "notebooks"):
        _offer(folder / place(page_files()[path.stem]), path.name)
    with open(folder / "index.md", "a", encoding="utf-8") as index:
        index.write("\n" + navigation.toctrees())
    gallery.write(folder, kept)
    measured.write(folder / "pictures" / "measured")
    reference.write(folder / "reference")


def place(path: Path) -> Path:
    """Return where a file of the repository is in the site."""
    name = path.relative_to(ROOT).as_posix()
    if name in PAGES:
        return Path(PAGES[name])
    if path.is_relative_to(RESULTS):
        return Path("results") / path.relative_to(RESULTS)
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS)
    if path.is_relative_to(ROOT / "examples"):
        return Path("gallery.md") if path.suffix != ".py" else Path("gallery", f"{path.stem}.md")
    return Path("index.md")


def with_site_links(text: str, path: Path) -> str:
    """Return the text of the file `path` with links that lead to the same pages of the site."""

    def replaced(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(path.parent / found["path"]))
        if not target.exists():  # a page that is generated, or no link at all
            return found[0]
        relative = os.path.relpath(place(target), place(path).parent)
        return f"]({relative}{found['place'] or ''})"

    return LINK.sub(replaced, text)


def _offer(page: Path, notebook: str) -> None:
    """A link to the notebook below the title of the page that it was made from."""
    title, rest = page.read_text(encoding="utf-8").split("\n", 1)
    link = f"{{download}}`This page as a notebook <../notebooks/{notebook}>`"
    page.write_text(f"{title}\n\n{link}\n{rest}", encoding="utf-8")
