"""The benchmark on models from files, which makes a page of the docs."""

import re

import numpy as np

import herded as hd
from benchmarks import uai
from tests.command import small_grid, warning


def write(folder, name, model, reference=None, evidence=None):
    (folder / name).mkdir()
    path = folder / name / f"{name}.uai"
    hd.write_uai(model, path)
    if evidence:
        hd.write_evidence(evidence, f"{path}.evid")
    if reference is not None:
        hd.write_mar(reference, f"{path}.MAR")


def test_the_page_of_models(tmp_path, monkeypatch):
    small, large = small_grid(4), small_grid(40)
    exact = hd.infer(small.given({3: 1}), hd.Exact()).marginals
    write(tmp_path, "a", small, exact, {3: 1})
    write(tmp_path, "b", large, np.full((1600, 2), 0.5))
    write(tmp_path, "c", small)
    monkeypatch.setenv("HERDED_UAI", str(tmp_path))
    monkeypatch.setattr(hd, "infer", warning(hd.infer, "look | here"))
    page = list(uai.lines(quick=True))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page[-3:]]
    assert all(len(row) == 10 for row in rows)
    a, b, c = rows
    assert a[:4] == ["a", "16", "exact", "-"] and float(a[4]) < 1e-12
    assert float(a[7]) < 0.01 and float(a[8]) < 0.03 and a[9] == "look / here"
    assert b[:4] == ["b", "1,600", "herded", "1,000"] and 0.1 < float(b[4]) < 0.5
    assert c[4] == c[7] == c[8] == "-" and re.fullmatch(r"\d+\.\d", c[5])


def test_without_models_it_says_so(monkeypatch, tmp_path):
    monkeypatch.delenv("HERDED_UAI", raising=False)
    assert "--models DIR" in list(uai.lines(quick=False))[-1]
    monkeypatch.setenv("HERDED_UAI", str(tmp_path))
    assert "skipped" in list(uai.lines(quick=False))[-1]
