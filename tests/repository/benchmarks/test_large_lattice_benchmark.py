"""The benchmark that the page on scale quotes runs; the page itself is in `test_docs.py`."""

import re

from benchmarks.speed import large_lattices


def test_a_lattice_from_disk_is_measured(tmp_path):
    *_, row = large_lattices.from_disk(60, 3, None, tmp_path)
    assert re.fullmatch(r"\| 60 x 60 \| 3 \| \S+ \| \S+ \| [\d.]+ [MG]iB \|", row)


def test_many_models_are_measured():
    rows = list(large_lattices.many_models(3, 1))[-3:]
    assert rows[0].endswith("| 1.00 |") and all(row.count("|") == 4 for row in rows)
