"""Names in results, commands and files; how models, methods and results are shown; suggestions."""

import csv
import json

import numpy as np
import pytest

import herded as hd
from herded.cli.main import main
from herded.system.suggestions import did_you_mean
from tests.support.commands import fails, found, run, weather, write_small_files

GRID = hd.ising_grid(np.array([[0.5, 0.0], [0.0, -1.0]]), 0.3)


@pytest.fixture(autouse=True)
def _files(own_folder):
    write_small_files()


# -- names ---------------------------------------------------------------------------------------


def test_one_marginal_by_name_number_or_pixel():
    model = weather()
    result = hd.infer(model, hd.Exact())
    for i, name in enumerate(model.names):
        states = model.state_names[i]
        expected = dict(zip(states, result.marginals[i, : len(states)].tolist(), strict=True))
        assert result.marginal(name) == result.marginal(i) == expected
    picture = hd.infer(GRID, hd.Exact())
    expected = dict(enumerate(picture.marginals[1, 0].tolist()))
    assert picture.marginal((1, 0)) == picture.marginal(2) == expected
    with pytest.raises(hd.ModelError, match="which the model does not have: did you mean 'slip'"):
        result.marginal("slpi")


def test_best_states_and_pairs_by_name():
    model = weather()
    for method, keep in ((hd.Exact(), None), (hd.Gibbs(), [hd.BestState(), hd.PairMarginals()])):
        result = hd.infer(model, method, sweeps=50, keep=keep)
        state = result.best.state
        names = zip(model.names, model.state_names, state, strict=True)
        assert result.best.named == {name: states[k] for name, states, k in names}
        i, j = result.pair_marginals.edges[0]
        table = result.pair_marginals[model.names[j], model.names[i]]
        assert (table == result.pair_marginals[i, j].T).all()
    strong = hd.ising_grid([[0.5, -2.0]], 0.1)
    assert hd.infer(strong, hd.Exact()).best.named == {(0, 0): 1, (0, 1): 0}


def test_names_in_json(capsys):
    answer = found(capsys, "infer", "weather.bif")
    model = hd.read_model("weather.bif")
    result = hd.infer(model, hd.Exact())
    assert answer["named"] == {name: result.marginal(name) for name in model.names}
    answer = found(capsys, "infer", "weather.bif", "--task", "map")
    assert answer["named"] == result.best.named
    assert "named" not in found(capsys, "infer", "grid.uai")


def test_answers_as_csv(capsys):
    model = hd.read_model("weather.bif")
    result = hd.infer(model, hd.Exact())
    run(capsys, "infer", "weather.bif", "--out", "out.csv")
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == model.cardinalities.sum()
    for row in rows:
        assert float(row["probability"]) == result.marginal(row["variable"])[row["state"]]
    run(capsys, "infer", "weather.bif", "--task", "map", "--out", "best.CSV")
    with open("best.CSV", newline="") as file:
        assert {row["variable"]: row["state"] for row in csv.DictReader(file)} == result.best.named
    run(capsys, "infer", "grid.uai", "--task", "pr", "--out", "z.csv")
    with open("z.csv", newline="") as file:
        [row] = csv.DictReader(file)
    truth = hd.infer(hd.read_model("grid.uai"), hd.Exact()).log_z
    assert float(row["log_z"]) == truth and float(row["log10_z"]) == truth / np.log(10.0)


def test_sampled_answers_as_csv_have_an_error(capsys):
    run(capsys, "infer", "grid.uai", "--method", "gibbs", "--sweeps", 50, "--out", "out.csv")
    with open("out.csv", newline="") as file:
        first, *_ = csv.reader(file)
    assert first[:3] == ["variable", "state", "probability"] and len(first) > 3


@pytest.mark.parametrize(
    ("task", "name", "message"),
    [
        ("mar", "out.cvs", "expected --out with the ending .MAR (the UAI format) or .csv for "),
        ("mar", "out.cvs", "--task mar, got 'out.cvs': did you mean '.csv'?"),
        ("map", "out.MAR", "expected --out with the ending .MPE (the UAI format) or .csv"),
        ("pr", "out.xlsx", "expected --out with the ending .PR"),
    ],
)
def test_unknown_endings(capsys, task, name, message):
    assert message in fails(capsys, 3, "infer", "grid.uai", "--task", task, "--out", name)


# -- close spellings -----------------------------------------------------------------------------


def test_what_is_close():
    assert did_you_mean("HRPB", ["HISTORY", "HRBP", "HR"]) == ": did you mean 'HRBP'?"
    assert did_you_mean("history", ["HISTORY", "HIS"]) == ": did you mean 'HISTORY'?"
    assert did_you_mean("quite different", ["HISTORY", "HR"]) == ""


def test_suggestions_in_python():
    model = weather()
    states = model.state_names[0]
    with pytest.raises(hd.ModelError, match=f"did you mean '{states[0]}'"):
        model.given({0: states[0] + "x"})
    with pytest.raises(hd.MethodError, match="did you mean 'shared'"):
        hd.HerdedGibbs(weights="sharde")
    with pytest.raises(hd.MethodError, match="did you mean 'table'"):
        hd.infer(model, hd.Gibbs(), layout="tabel")
    with pytest.raises(AttributeError, match="no attribute 'Gibs'") as caught:
        _ = hd.Gibs
    assert caught.value.name == "Gibs" and caught.value.obj is hd


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["infer", "grid.uai", "--sweps", "10"], "'--sweeps'"),
        (["infer", "grid.uai", "--outt=x.MAR"], "'--out'"),
        (["info", "grid.uai", "--gvien", "0=1"], "'--given'"),
        (["ifner", "grid.uai"], "'infer'"),
        (["infer", "grid.uai", "--task", "amr"], "'mar'"),
        (["infer", "grid.uai", "--method", "gibs"], "'gibbs'"),
    ],
)
def test_suggestions_on_the_command_line(capsys, words, suggestion):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert f"did you mean {suggestion}?" in capsys.readouterr().err


def test_suggestions_for_evidence_on_the_command_line(capsys):
    assert "did you mean 'slip'?" in fails(capsys, 1, "infer", "weather.bif", "--given", "slpi=yes")
    assert "did you mean 'yes'?" in fails(capsys, 1, "infer", "weather.bif", "--given", "slip=yse")


# -- shown ---------------------------------------------------------------------------------------


def test_models_are_shown_in_a_line():
    assert repr(weather()) == "FactorGraph(3 variables of 2 to 3 states, 3 factors)"
    assert repr(GRID.given({0: 1})) == "Lattice(2 x 2 variables of 2 states, 1 observed)"
    page = weather()._repr_html_()
    assert "1 of 1 variable, 2 of 2 variables" in page and "of them zero" in page
    page = GRID._repr_html_()
    assert "0.3 (Ising: s_i s_j)" in page and "-1 to 1" in page and "free" in page
    names = hd.FactorGraph([2], [], names=["<b>"])
    assert "<b>FactorGraph(1 variable of 2 states, no factors)</b>" in names._repr_html_()


def test_methods_are_shown_as_they_are_written():
    assert repr(hd.Gibbs()) == "Gibbs()" and repr(hd.Gibbs(herd=64)) == "Gibbs(herd=64)"
    assert repr(hd.HerdedGibbs("pooled", seed=3)) == "HerdedGibbs(weights='pooled', seed=3)"
    assert repr(hd.MeanField(damping=0.5)) == "MeanField(damping=0.5)"
    assert hd.Exact()._repr_html_() == "<code>Exact()</code>"
    assert len(repr(hd.Gibbs(scan=range(1000)))) < 90


def test_results_are_shown_in_a_few_lines():
    keep = [hd.Marginals(), hd.Samples(every=5), hd.BestState(), hd.Observable(hd.energy)]
    result = hd.infer(GRID, hd.Gibbs(herd=4), sweeps=100, burn_in=20, chains=2, keep=keep)
    first, *rest = repr(result).splitlines()
    assert first.startswith(
        "Result of Gibbs(herd=4): 100 sweeps after a burn-in of 20, 2 herds of "
    )
    assert [line.split()[0] for line in rest] == ["model", "marginals", "best", "samples", "energy"]
    page = result._repr_html_()
    assert "0, 1" in page and "1: 0." in page and "95 % interval" in page
    text = repr(hd.infer(weather(), hd.Exact(), keep=[hd.Marginals(), hd.BestState()]))
    assert "log Z" in text and "log-score" in text
    assert "log-score" not in repr(hd.infer(weather(), hd.Exact()))
    equal = hd.FactorGraph([2, 2], [((0, 1), [[0.0, -np.inf], [-np.inf, 0.0]])])
    with pytest.warns(hd.HerdedWarning):
        assert "warning   " in repr(hd.infer(equal, hd.Gibbs(), sweeps=10, chains=2))
    many = hd.infer(hd.ising_grid(np.zeros((4, 4))), hd.Exact())._repr_html_()
    assert "... and 6 more variables" in many
    names = hd.FactorGraph([2], [], names=["<b>"])
    assert "&lt;b&gt;" in hd.infer(names, hd.Exact())._repr_html_()


# -- the next command ----------------------------------------------------------------------------


def last_line(capsys, *words):
    _, out, _ = run(capsys, *words)
    return out.splitlines()[-1]


def test_commands_end_with_the_next_one(capsys):
    evidence = ["--given", "slip=yes"]
    last = last_line(capsys, "info", "weather.bif", *evidence)
    assert last == "next       herded infer weather.bif --given slip=yes"
    last = last_line(capsys, *last.split()[2:])
    assert last == "next       herded infer weather.bif --given slip=yes --out weather.csv"
    assert last_line(capsys, *last.split()[2:]) == "wrote weather.csv"
    last = last_line(capsys, "infer", "grid.uai", "--method", "gibbs", "--sweeps=20")
    assert last == "next       herded infer grid.uai --method gibbs --sweeps 200"
    last = last_line(capsys, "infer", "grid.uai", "--method", "bp")
    assert last == "next       herded infer grid.uai"
    assert "next" not in run(capsys, "infer", "grid.uai", "--task", "pr")[1]
    assert "next" not in json.loads(run(capsys, "infer", "grid.uai", "--json")[1])
