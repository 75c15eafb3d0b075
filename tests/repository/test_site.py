"""The site: code on its pages runs, every page has a place, tables are read, text means itself."""

import math
import os
import re
from pathlib import Path

import pytest

from docs.site import docstrings, gallery, navigation
from docs.tools import transcripts
from docs.tools.benchmark_plots import __main__ as measured
from docs.tools.benchmark_plots import tables
from docs.tools.notebooks import notebook
from docs.tools.page_files import DOCS, RESULTS, page_files
from tests.support.page_transcripts import transcripts as run


@pytest.mark.filterwarnings("ignore::herded.errors.HerdedWarning")
@pytest.mark.parametrize(
    "name", ["index", "tutorial", "choose", "theory", "herds", "blocks-and-tempering"]
)
def test_code_on_the_pages_prints_what_they_say(name):
    """If not, and rightly so: python -m docs.tools.refresh_pages"""
    found = run(name)
    assert found
    for said, printed in found:
        assert said == printed


def test_code_of_the_readme_prints_what_it_says():
    """On the net of the tutorial."""
    tutorial = page_files()["tutorial"].read_text(encoding="utf-8")
    [net] = [m["code"] for m in transcripts.BLOCKS.finditer(tutorial) if "write_text" in m["code"]]
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    found = transcripts.transcripts(f"```python\n{net}```\n{readme}")
    assert len(found) == 3
    for said, printed in found:
        assert said == printed


def test_a_new_user_needs_ten_lines():
    """The end of the tutorial: load, evidence by name, marginals with intervals, a plot."""
    page = page_files()["tutorial"].read_text(encoding="utf-8")
    blocks = [match["code"] for match in transcripts.BLOCKS.finditer(page)]
    code = blocks[-1]
    assert len(code.strip().splitlines()) <= 10
    for word in ("read_model", "given", "interval", "plot"):
        assert word in code


def test_every_page_has_one_place():
    placed = [name for names in navigation.sections().values() for name in names]
    assert len(placed) == len(set(placed))
    there = {path for path in DOCS.rglob("*.md") if path != DOCS / "index.md"}
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in there}
    tables = {f"results/{path.stem}" for path in RESULTS.glob("*.md")}
    assert set(placed) == written | tables | navigation.GENERATED
    for name in placed:
        assert re.search(rf"^(.* <)?{name}>?$", navigation.toctrees(), re.MULTILINE)


def test_links_between_pages_lead_somewhere():
    for path in [*page_files().values(), *RESULTS.glob("*.md")]:
        text = transcripts.BLOCKS.sub("", path.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([\w./-]+)\.(?:md|rst)", text):
            target = Path(os.path.normpath(path.parent / link))
            generated = target.is_relative_to(DOCS) and (
                target.relative_to(DOCS).as_posix() in navigation.GENERATED
            )
            assert target.with_suffix(".md").exists() or generated, (path, link)


PAGE = """# A page

## One

| a | ratio | b | ratio |
|---|---|---|---|
| x, y | 1 | 2.50 (384) | - |

## Two
"""


def test_tables_are_read():
    [[row]] = tables.tables(PAGE, "One")
    assert row == {"a": "x, y", "ratio": "1", "b": "2.50 (384)", "ratio1": "-"}
    assert tables.number(row["b"]) == 2.5 and math.isnan(tables.number("-"))
    assert tables.number("9.2e-05") == 9.2e-05 and tables.number("1,024 s") == 1024


def test_the_best_setting_of_a_package_counts():
    rows = [
        {"sampler": "herded, shared, visits", "0.01": "3.0 (1)"},
        {"sampler": "pymc 5, Gibbs", "0.01": "-"},
        {"sampler": "herded, pooled, averages", "0.01": "0.5 (24)"},
        {"sampler": "herded, Gibbs, visits", "0.01": "2.0 (9)"},
    ]
    assert tables.best_of_each(rows, "0.01") == [
        ("herded: herded Gibbs", "0.5 (24)"),
        ("herded: Gibbs", "2.0 (9)"),
        ("PyMC", "-"),
    ]


def test_every_package_has_a_name():
    """In the tables as they are: a row that nobody knows is an error."""
    text = tables.TABLES.read_text(encoding="utf-8")
    found = set()
    for work in tables.REACH:
        [rows] = tables.tables(text, f"{work}, to accuracy")
        found |= {name for name, _ in tables.best_of_each(rows, "0.01")}
    assert found == set(tables.PACKAGES.values()) - {"mcising"}


def test_pictures_are_as_old_as_their_tables():
    """If not: python -m docs.tools.benchmark_plots"""
    pages = [page_files()["benchmarks"], RESULTS / "herds.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for name in measured.PLOTS:
        picture = (measured.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
        assert picture.endswith(measured.mark(name)), name
        assert f"/pictures/measured/{name}.svg)" in text


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("sum |a_i| of x_-i", r"sum \|a_i\| of x\_-i"),
        ("`|a|` and P_ and 2 * J", r"`|a|` and P\_ and 2 \* J"),
        ("(*shape, K)", r"(\*shape, K)"),
        ("an *emphasis* stays", "an *emphasis* stays"),
        (">>> a_ * b | c", ">>> a_ * b | c"),
    ],
)
def test_docstrings_mean_what_they_say(said, means):
    assert docstrings.escaped(said) == means


def test_columns_of_a_docstring_stay_columns():
    lines = ["First.", "", "one    two", "three  four", "", "Examples", "--------", ">>> f()  # x"]
    assert docstrings.plain(lines) == [
        *("First.", "", "::", "", "    one    two", "    three  four", ""),
        *("Examples", "--------", ">>> f()  # x", ""),
    ]


def test_titles_of_the_gallery():
    for script in gallery.EXAMPLES.glob("*.py"):
        title = gallery.title_of(script)
        assert 10 < len(title) < 110 and "\n" not in title


def test_a_page_becomes_a_notebook():
    page = "# T\n\ntext [here](a.md)\n\n```python\nx = 1\n```\n\n```text\n1\n```\n\nend\n"
    cells = notebook(page)["cells"]
    kinds = [(cell["cell_type"], cell["source"]) for cell in cells]
    assert kinds == [("markdown", "# T\n\ntext *here*"), ("code", "x = 1"), ("markdown", "end")]
