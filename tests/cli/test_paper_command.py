"""`herded paper`: one page that needs nothing else, the same each time."""

import csv
import os
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from herded.cli.main import main
from herded.paper import denoising, theory_section, two_variables
from tests.support.commands import fails
from tests.support.example_budget import ALL

pytestmark = pytest.mark.usefixtures("own_folder")


class Page(HTMLParser):
    """Collects what is opened, what is closed out of turn, and what would be loaded."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.loads, self.unbalanced = [], set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href", "xlink:href", "data")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)


TABLES = {
    "herding": ["two-independent"],
    "two-variables": ["two-variables", "two-variables-herds"],
    "theory": ["theorem-2", "statements", "phase-locking", "plateau"],
    "denoising": ["denoising-picture"],
}


def drawn_once(svg):
    """`svg` that gives its answer again where a figure has nothing new in it: most of it is layout.

    What is drawn is compared number by number. That the same figure is the same text is for the
    part that has most figures, or for all of them (HERDED_TESTS=all).
    """
    known = {}

    def draw(figure):
        key = contents(figure)
        if key not in known:
            known[key] = svg(figure)
        return known[key]

    return draw


def contents(figure):
    """Every line, area, mark, picture and word of a figure."""
    found = []
    for axes in figure.axes:
        found += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), axes.axis()]
        found += [text.get_text() for text in axes.texts]
        found += [line.get_xydata().tobytes() for line in axes.lines]
        found += [image.get_array().tobytes() for image in axes.images]
        found += [patch.get_path().vertices.tobytes() for patch in axes.patches]
        for marks in axes.collections:
            found.append(np.asarray(marks.get_offsets()).tobytes())
            found += [path.vertices.tobytes() for path in marks.get_paths()]
    return tuple(found)


@pytest.mark.parametrize("part", TABLES)
def test_paper_writes_one_page_that_needs_nothing_else(part, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    monkeypatch.setitem(denoising.SIZES, "quick", (24, 2))
    monkeypatch.setitem(two_variables.SIZES, "quick", (1_000, 6))
    monkeypatch.setitem(theory_section.SIZES, "quick", (4, 2_000, 2**12))
    monkeypatch.setattr(two_variables, "EPSILONS", (0.1, 0.001))  # each has a picture
    if part != "herding" and not ALL:
        module = {"two-variables": two_variables, "theory": theory_section, "denoising": denoising}[
            part
        ]
        monkeypatch.setattr(module, "svg", drawn_once(module.svg))
    texts = []
    for _ in range(2):
        assert main(["paper", "--quick", "--only", part, "--out", "page"]) == 0
        with open("page/index.html", encoding="utf-8") as file:
            texts.append(re.sub(r"[\d.]+ seconds\.", "", file.read()))
    assert texts[0] == texts[1]
    page = Page(texts[0])
    assert page.open == [] and page.unbalanced == []
    assert "script" not in page.seen and "link" not in page.seen and "svg" in page.seen
    assert all(value.startswith(("#", "data:")) for value in page.loads)
    assert "@import" not in texts[0] and not re.search(r"url\((?!#|['\"]?#)", texts[0])
    assert f"herded paper --quick --only {part} --out page" in texts[0]
    names = sorted(f"{name}.csv" for name in TABLES[part])
    assert sorted(os.listdir("page")) == sorted([*names, "index.html"])
    for name in names:
        with open(f"page/{name}", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    out, err = capsys.readouterr()
    assert err == "" and "page/index.html written in" in out
    if part == "theory":
        assert "holds on 4 of 4 random complete graphs" in out
        for name in ("theorem-2", "statements"):
            with open(f"page/{name}.csv", newline="", encoding="utf-8") as file:
                assert {row["holds"] for row in csv.DictReader(file)} == {"yes"}


def test_paper_wrong_options(capsys):
    with open("file", "w"):
        pass
    assert "two-variables" in fails(capsys, 1, "paper", "--only", "magic")
    for place in ("file", "file/folder", "/dev/null/folder"):
        assert place in fails(capsys, 3, "paper", "--quick", "--out", place)
    assert os.listdir() == ["file"]
