"""The page on scale shows what its commands print, and its benchmark runs."""

import re
from pathlib import Path

from benchmarks import scale
from docs.make import FOLDER, is_current


def test_the_page_is_current():
    """If not, and rightly so: python -m docs.make scale"""
    page = Path(FOLDER / "scale.md").read_text(encoding="utf-8")
    assert is_current(page), "python -m docs.make scale"


def test_a_lattice_from_disk_is_measured(tmp_path):
    *_, row = scale.from_disk(60, 3, None, tmp_path)
    assert re.fullmatch(r"\| 60 x 60 \| 3 \| \S+ \| \S+ \| [\d.]+ [MG]iB \|", row)


def test_many_models_are_measured():
    rows = list(scale.many_models(3, 1))[-3:]
    assert rows[0].endswith("| 1.00 |") and all(row.count("|") == 4 for row in rows)
