"""`herded info` and `herded compare`."""

import csv
import itertools
import json
import os
import signal

import numpy as np
import pytest

import herded as hd
from herded.cli.commands import compare as comparing
from herded.cli.main import UNFINISHED_TEXT
from tests.support.commands import fails, run, small_grid, start_quickly, weather
from tests.support.timeouts import HANGS, ticking

GRID = small_grid()


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hd.io.write_uai(GRID, "grid.uai")
    hd.io.write_bif(weather(), "weather.bif")


def told(capsys, *arguments):
    code, out, err = run(capsys, "info", *arguments, "--json")
    assert code == 0 and err == ""
    return json.loads(out)


# -- info --------------------------------------------------------------------------------------


def test_the_numbers_of_a_model(capsys):
    seen = told(capsys, "weather.bif", "--given", "slip=yes")
    assert (seen["variables"], seen["observed"], seen["factors"]) == (3, 1, 3)
    assert seen["arities"] == {"1": 1, "2": 2} and seen["cardinalities"] == {"2": 2, "3": 1}
    assert seen["entries"] == 2 + 6 + 6 and seen["zeros"] == pytest.approx(2 / 14)
    assert seen["degree"] == {"mean": pytest.approx(4 / 3), "max": 2}
    assert seen["largest_blanket"] == pytest.approx(3) and seen["components"] == 1
    assert seen["named"] and seen["treewidth"] == 1 and seen["auto"] == "exact"
    parts = hd.FactorGraph([2] * 5, [((0, 1), np.zeros((2, 2))), ((2, 3), np.zeros((2, 2)))])
    hd.io.write_uai(parts, "parts.uai")
    assert told(capsys, "parts.uai")["components"] == 3


def test_the_memory_of_weights_is_that_of_the_layout(capsys):
    seen = told(capsys, "grid.uai")["weights_memory"]
    model = hd.read_model("grid.uai")
    for weights, need in seen.items():
        assert need == hd.HerdedGibbs(weights=weights).compile(model).memory
    assert list(seen) == ["blanket", "shared", "pooled", "lazy", "full"]


def test_every_method_that_can_run_does(capsys):
    seen = {m["method"]: m for m in told(capsys, "weather.bif")["methods"]}
    assert all(verdict["can_run"] and verdict["memory"] > 0 for verdict in seen.values())
    assert list(seen) == [
        *("exact", "gibbs", "herd", "blocks", "tempered"),
        *(f"herded, {weights}" for weights in ("blanket", "shared", "pooled", "lazy", "full")),
        "bp",
        "mean-field",
    ]
    assert "heuristic" in seen["mean-field"]["reason"]


def test_why_a_method_cannot_run(capsys):
    factors = [((0, i), np.zeros((2, 2))) for i in range(1, 41)]
    hd.io.write_uai(hd.FactorGraph([2] * 41, factors), "star.uai")
    seen = {m["method"]: m for m in told(capsys, "star.uai", "--max-memory", "50M")["methods"]}
    assert {name for name, m in seen.items() if not m["can_run"]} == {
        "herded, blanket",
        "herded, shared",
        "herded, lazy",
        "herded, full",
    }
    assert seen["herded, blanket"]["reason"] == "more than 50.0 MiB"
    pairs = [(pair, np.eye(2) / 100) for pair in itertools.combinations(range(60), 2)]
    hd.io.write_uai(hd.FactorGraph([2] * 60, pairs), "dense.uai")
    seen = told(capsys, "dense.uai")
    assert seen["treewidth"] is None and seen["auto"] == "herd"
    assert seen["methods"][0]["reason"].endswith("however it is sliced")
    assert seen["methods"][0] == {
        "method": "exact",
        "can_run": False,
        "memory": None,
        "reason": seen["methods"][0]["reason"],
    }


def test_a_model_without_a_possible_state(capsys):
    with np.errstate(divide="ignore"):
        unequal, equal = np.log(1 - np.eye(2)), np.log(np.eye(2))
    odd = hd.FactorGraph([2] * 3, [((0, 1), unequal), ((1, 2), equal), ((0, 2), equal)])
    hd.io.write_uai(odd, "odd.uai")
    seen = {m["method"]: m for m in told(capsys, "odd.uai")["methods"]}
    assert len(seen) == 12 and not any(verdict["can_run"] for verdict in seen.values())
    assert "positive probability" in seen["gibbs"]["reason"]


def test_numbers_beyond_a_float_are_null(capsys):
    factors = [((0, i), np.zeros((2, 2))) for i in range(1, 1200)]
    hd.io.write_uai(hd.FactorGraph([2] * 1200, factors), "star.uai")
    seen = told(capsys, "star.uai")
    assert seen["weights_memory"]["blanket"] is None or seen["weights_memory"]["blanket"] > 1e290
    assert run(capsys, "info", "star.uai")[0] == 0


def test_info_as_text(capsys):
    code, out, err = run(capsys, "info", "weather.bif", "--given", "rain=yes")
    assert code == 0 and err == ""
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "model weather.bif: 3 variables of 2 to 3 states, 3 factors, 1 observed" in lines
    assert "factors 1 of 1 variable, 2 of 2 variables" in lines
    assert "entries 14 in tables, 14.3% of them zero" in lines
    assert "states 2 x 2, 1 x 3" in lines
    assert any(line.startswith("exact yes ") for line in lines)
    assert any(line.startswith("auto exact: elimination fits") for line in lines)


def test_info_of_what_is_no_model(capsys):
    assert "missing" in fails(capsys, 3, "info", "missing.uai")


# -- compare -----------------------------------------------------------------------------------


def test_compare_against_the_exact_answer(capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    ticking(monkeypatch, 0.002)
    monkeypatch.setattr(
        "herded.run.sampler_run.BLOCK_ENTRIES", 16 * 200
    )  # two hundred sweeps between looks
    methods = "herded,gibbs,pooled,bp,mean-field,exact"
    options = ("--methods", methods, "--seconds", "0.4", "--out", "here/there")
    code, out, err = run(capsys, "compare", "grid.uai", *options)
    assert code == 0 and err == ""
    assert "reference  exact, in " in out
    with open("here/there/errors.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in methods.split(","):
        curve = [row for row in rows if row["method"] == name]
        seconds = [float(row["seconds"]) for row in curve]
        sweeps = [int(row["sweeps"]) for row in curve]
        assert seconds == sorted(seconds) and sweeps == sorted(sweeps)
        error = float(curve[-1]["mean_absolute"])
        assert error < {"bp": 0.05, "mean-field": 0.2, "exact": 1e-12}.get(name, 0.01)
        assert f"{error:.2e}" in next(x for x in out.splitlines() if x.startswith(f"{name} "))
        if name in ("herded", "gibbs"):
            assert len(curve) >= 10 and 0.4 <= seconds[-1] < 0.45
            assert error < float(curve[0]["mean_absolute"])
    with open("here/there/errors.svg", encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("<svg") and "exact (no error)" in text and "mean-field" in text
    with open("here/there/errors.png", "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    assert sorted(os.listdir("here/there")) == ["errors.csv", "errors.png", "errors.svg"]


def test_compare_with_a_given_reference(capsys):
    hd.io.write_mar(np.full((16, 2), 0.5), "flat.MAR")
    options = ("--methods", "mean-field", "--seconds", "0.1", "--reference", "flat.MAR")
    code, out, _ = run(capsys, "compare", "grid.uai", *options)
    assert code == 0 and "reference  flat.MAR\n" in out
    found = hd.infer(GRID, hd.MeanField(damping=0.5)).marginals
    assert f"{np.abs(found - 0.5).mean():.2e}" in out


def test_compare_names_what_cannot_run(capsys):
    factors = [((0, i), np.zeros((2, 2))) for i in range(1, 41)]
    hd.io.write_uai(hd.FactorGraph([2] * 41, factors), "star.uai")
    options = ("--seconds", "0.1", "--max-memory", "50M")
    code, out, _ = run(capsys, "compare", "star.uai", "--methods", "gibbs,blanket", *options)
    assert code == 0 and "cannot run blanket: expected tables of at most 50.0 MiB" in out
    code, out, err = run(capsys, "compare", "star.uai", "--methods", "blanket", *options)
    assert code == 4 and "50.0 MiB" in err


def test_compare_wrong_options(capsys):
    with open("file", "w"):
        pass
    assert "'magic'" in fails(capsys, 1, "compare", "grid.uai", "--methods", "gibbs,magic")
    assert "above 0" in fails(capsys, 1, "compare", "grid.uai", "--seconds", "0")
    assert "file" in fails(capsys, 3, "compare", "grid.uai", "--out", "file")
    assert "file/x" in fails(capsys, 3, "compare", "grid.uai", "--out", "file/x")
    hd.io.write_uai(small_grid(14), "large.uai")
    assert "expected --reference" in fails(capsys, 4, "compare", "large.uai", "--max-memory", "2M")


def test_compare_slack_is_for_herded_methods():
    model = hd.read_model("grid.uai")

    class Options:
        slack, seed, max_memory = 0.7, 3, None

    for name in ("herded", "blanket", "pooled"):
        method = comparing._method(name, model, Options)
        assert method.slack == 0.7 and method.seed == 3
    Options.slack = None
    assert comparing._method("pooled", model, Options).slack == 4
    assert comparing._method("lazy", model, Options).slack == 0
    assert comparing._method("gibbs", model, Options) == hd.Gibbs(seed=3)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_comparison_writes_nothing(number, code):
    child = start_quickly("compare", "grid.uai", "--seconds", HANGS, "--out", "out")
    assert child.stdout is not None
    child.stdout.readline()  # it has begun
    child.send_signal(number)
    _, err = child.communicate(timeout=HANGS)
    word = "interrupted" if code == 130 else "terminated"
    assert child.returncode == code and err == f"herded: {word}{UNFINISHED_TEXT}\n"
    assert os.listdir("out") == []
