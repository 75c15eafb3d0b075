"""The benchmarks on models from files, which make pages of the docs, and of settings."""

import re
import time

import numpy as np
import pytest

import herded as hd
from benchmarks.__main__ import APART, header
from benchmarks.hard_models import block_moves, exact_inference, ladder_settings, uai_competition
from tests.support.commands import small_grid
from tests.support.timeouts import ticking


def write(folder, name, model, reference=None, evidence=None):
    (folder / name).mkdir()
    path = folder / name / f"{name}.uai"
    hd.io.write_uai(model, path)
    if evidence:
        hd.io.write_evidence(evidence, f"{path}.evid")
    if reference is not None:
        hd.io.write_mar(reference, f"{path}.MAR")


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_of_models(tmp_path, monkeypatch):
    small, large = small_grid(4), small_grid(10)
    exact = hd.infer(small.given({3: 1}), hd.Exact()).marginals
    write(tmp_path, "a", small, exact, {3: 1})
    write(tmp_path, "b", large, np.full((100, 2), 0.5))
    write(tmp_path, "c", small)
    monkeypatch.setenv("HERDED_UAI", str(tmp_path))
    monkeypatch.setattr(uai_competition, "QUICK_UPDATES", 1_000)
    monkeypatch.setattr(uai_competition, "PATIENCE", 0.01)  # by the formula, which takes no clock
    monkeypatch.setattr(time, "process_time", ticking(monkeypatch, 0.003))
    page = list(uai_competition.lines(quick=True, seconds=0.1))
    rows = [cells(line) for line in page if line.startswith(("| a ", "| b ", "| c "))]
    a, b, c = ([row for row in rows if row[0] == name and len(row) == 7] for name in "abc")
    methods = ["exact", "belief propagation", "single sites", "blocks", "tempered"]
    assert [row[2] for row in a[:-1]] == methods and a[-1][2].startswith("auto, not exact: ")
    assert a[0][:2] == ["a", "16"] and float(a[0][3]) < 1e-12 and a[0][4] == "-"
    assert all(float(row[3]) < 0.1 and re.fullmatch(r"[\d.e-]+", row[5]) for row in a)
    assert all(0 < float(row[4]) < 0.5 for row in a[2:])
    assert "exact" not in [row[2] for row in b]  # which would take longer
    assert [row[3] for row in c] == ["-"] * len(c)
    log_z = next(row for row in rows if row[0] == "a" and len(row) == 8)
    middle, reach = (float(part) for part in log_z[2].split(" +- "))
    assert float(log_z[1]) == pytest.approx(middle, abs=0.5) and 0 < reach < 0.5
    assert "have a known log Z" in page[-1]


def test_without_models_it_says_so(monkeypatch, tmp_path):
    monkeypatch.delenv("HERDED_UAI", raising=False)
    assert "--models DIR" in list(uai_competition.lines(quick=False))[-1]
    monkeypatch.setenv("HERDED_UAI", str(tmp_path))
    assert "skipped" in list(uai_competition.lines(quick=False))[-1]


@pytest.mark.parametrize("name", APART)
def test_pages_of_their_own_have_titles(name):
    title, *_ = header(name)
    assert title.startswith("# ")


def test_blocks_beside_single_moves(tmp_path, monkeypatch):
    """A generated model and one from a file: a row for every way, and blocks are nearer."""
    rng = np.random.default_rng(2)
    model = block_moves.checks(rng, 4)
    write(tmp_path, "wall", model, hd.infer(model.given({0: 1}), hd.Exact()).marginals, {0: 1})
    write(tmp_path, "unknown", model)
    monkeypatch.setenv("HERDED_UAI", str(tmp_path))
    made = [case for case in block_moves.generated(quick=True) if case[0] == "causes"]
    monkeypatch.setattr(block_moves, "generated", lambda quick: made)
    table = [cells(line) for line in block_moves.lines(quick=True) if line.startswith("| ")][1:]
    assert [row[0] for row in table] == ["causes"] * 4 + ["wall"] * 4
    assert [row[2] for row in table[:4]] == ["single, as recommended", *block_moves.METHODS]
    errors = [float(row[3].split()[0]) for row in table]
    assert max(errors[1:4]) < 0.5 * errors[0] and max(errors[5:]) < 0.5 * errors[4]
    assert table[0][5] == "1.00" and [row[6] for row in table[1:4]] == ["0 of 2"] * 3


def test_generated_models_are_walls_to_single_moves():
    for name, load in block_moves.generated(quick=True):
        model, exact = load()
        assert model.has_hard_zeros and exact.shape == (model.n_variables, 2)
        with pytest.warns(hd.HerdedWarning, match="cannot reach"):
            hd.infer(model, hd.Gibbs(), sweeps=2)
        assert name in ("causes", "copies", "checks")


def test_exact_inference_beside_others(tmp_path, monkeypatch):
    pytest.importorskip("pyagrum")
    write(tmp_path, "a", small_grid(4), evidence={3: 1})
    monkeypatch.setenv("HERDED_UAI", str(tmp_path))
    title, _, row = list(exact_inference.lines(quick=True))[:3]
    assert "pyAgrum" in title and cells(row)[0] == "a" and float(cells(row)[4]) < 1e-12
    limits = exact_inference._in_less_memory(((6, "4M"),))
    *_, row = limits
    assert cells(row)[0] == "6 x 6" and cells(row)[4:6] == ["1", "1"]
    monkeypatch.delenv("HERDED_UAI")
    assert "--models DIR" in next(exact_inference.lines(quick=True))


# -- settings of ladders and blocks ----------------------------------------------------------------


def test_settings_beside_the_defaults(monkeypatch):
    """A quick run has all tables and every setting; the defaults come first."""
    few = {
        name: dict(list(getattr(ladder_settings, name).items())[:3])
        for name in ("LADDERS", "BLOCKS")
    }
    for name, value in {**few, "QUICK_SWEEPS": 50, "QUICK_BLOCK_SWEEPS": 10}.items():
        monkeypatch.setattr(ladder_settings, name, value)
    tables = [cells(line) for line in ladder_settings.lines(quick=True) if line.startswith("| ")]
    heads = [row for row in tables if row[1] == "error"]
    assert [row[0] for row in heads] == ["1 models"] * 3
    assert [row[5] for row in heads] == ["strong grid", "spins", "diagnoses"]
    assert [row[0] for row in tables if row not in heads] == [
        *few["LADDERS"],
        *few["LADDERS"],
        *few["BLOCKS"],
    ]
    assert all(row[1:6] == ["1.00", "0.00", "1.0", "1.00", "1.00"] for row in tables[1::4])


def test_settings_are_held_against_the_first():
    """Errors that are known: twice as large, and a quarter in one of two families."""
    model = small_grid(2)
    known = [
        ladder_settings.Known(family, model, np.full((4, 2), 0.5)) for family in ("a", "a", "b")
    ]
    asked = []

    def work(model, setting, sweeps, seed):
        asked.append((setting, sweeps, seed))
        return np.full((4, 2), 0.5 + setting)

    settings = {"default": 0.01, ladder_settings.AGAIN: 0.01, "worse": 0.02, "nothing": 0.0}
    rows = [cells(line) for line in ladder_settings._table(iter(known), settings, work, 100, 2)]
    assert rows[0][0] == "3 models" and rows[0][5:] == ["a", "b"]
    assert rows[4][:4] == ["worse", "2.00", "1.00", "2.0"] and rows[4][5:] == ["2.00", "2.00"]
    assert rows[5][:4] == ["nothing", "0.01", "0.00", "0.0"]  # errors below 1e-4 are alike
    assert {seed for setting, _, seed in asked if setting == 0.01} == {0, 1, 2, 3}
    assert {seed for setting, _, seed in asked if setting == 0.02} == {0, 1}


def test_models_for_blocks_are_cut():
    families = []
    for known in ladder_settings.cut_models(4, 0):
        assert known.model.has_hard_zeros and len(hd.Blocks(4096).choose(known.model).blocks) > 1
        assert known.truth.shape == (known.model.n_variables, known.model.cardinalities.max())
        families.append(known.family)
    assert families == ["diagnoses", "pedigrees", "copies", "nets"]
