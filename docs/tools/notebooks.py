"""python -m docs.tools.notebooks [--out FOLDER]: how-to pages as notebooks, made from the pages.

There is one source: the page. Its Python becomes cells, its text stays text, and what it says
is printed is left out, for the reader's own run to print. The tests run them.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from docs.tools.page_files import page_files
from docs.tools.transcripts import BLOCKS

PAGES = ("bayes-nets", "physics", "hard-models")


def notebook(page: str) -> dict[str, Any]:
    """The page as a notebook of format 4."""
    cells, done = [], 0
    for block in BLOCKS.finditer(page):
        cells += [_text(page[done : block.start()]), _code(block["code"])]
        done = block.end()
    cells.append(_text(page[done:]))
    return {
        "cells": [
            {**cell, "id": f"cell-{number}"}
            for number, cell in enumerate(cell for cell in cells if cell["source"])
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _text(source: str) -> dict[str, Any]:
    plain = re.sub(r"\[([^\]]+)\]\([\w./-]+\.md[^)]*\)", r"*\1*", source)  # no pages are next to it
    return {"cell_type": "markdown", "metadata": {}, "source": plain.strip()}


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source.rstrip("\n"),
    }


def write(folder: Path) -> list[Path]:
    """All of them, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in PAGES:
        page = page_files()[name].read_text(encoding="utf-8")
        paths.append(folder / f"{name}.ipynb")
        paths[-1].write_text(json.dumps(notebook(page), indent=1) + "\n", encoding="utf-8")
    return paths


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m docs.tools.notebooks")
    options.add_argument("--out", type=Path, default=Path("notebooks"))
    for path in write(options.parse_args().out):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
