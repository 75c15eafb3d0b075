"""`herded infer`: the answer of every task by every method, as text, JSON and files."""

import json
import math
import os
import re
from dataclasses import replace

import numpy as np
import pytest

import herded as hd
from herded.cli.run_setup import RunSetup
from herded.run.query import Budget, Query
from herded.run.selection.escalation import AttemptReport
from herded.run.selection.plan import Plan, execute_plan
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import MAX_MEMORY, Phrase, Remedy
from tests.support.commands import found, run, small_grid, warning, write_small_files
from tests.support.timeouts import ticking

GRID = small_grid()
TRUTH = hd.infer(GRID, hd.Exact())


@pytest.fixture(autouse=True)
def _files(own_folder):
    write_small_files()


# -- marginals ---------------------------------------------------------------------------------


def test_auto_is_exact_where_it_can_be_and_says_so(capsys):
    code, out, err = run(capsys, "infer", "grid.uai")
    assert code == 0 and err == ""
    assert "model      grid.uai: 16 variables of 2 states, 40 factors\n" in out
    assert "method     exact: elimination fits (" in out and "treewidth 4)" in out
    assert "memory     at most 2.6 MiB beyond the model\n" in out
    rows = [line.split() for line in out.splitlines()]
    table = rows[rows.index(["variable", "0", "1"]) + 1 :][:16]
    assert [row[0] for row in table] == [str(i) for i in range(16)]
    shown = np.array([row[1:] for row in table], float)
    np.testing.assert_allclose(shown, TRUTH.marginals, atol=5.1e-6)


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [
        ("exact", 1e-12),
        ("herded", 0.01),
        ("gibbs", 0.02),
        ("blocks", 0.02),
        ("bp", 0.1),
        ("mean-field", 0.3),
    ],
)
def test_marginals_by_every_method(method, tolerance, capsys):
    answer = found(capsys, "infer", "grid.uai", "--method", method, "--reference", "grid.MAR")
    marginals = np.array(answer["marginals"])
    np.testing.assert_allclose(marginals, TRUTH.marginals, atol=tolerance)
    errors = answer["reference"]
    gap = np.abs(marginals - TRUTH.marginals)
    assert errors["mean_absolute"] == pytest.approx(gap.mean())
    assert errors["largest"] == pytest.approx(gap.max())
    roots = np.sqrt(marginals) - np.sqrt(TRUTH.marginals)
    hellinger = np.sqrt((roots**2).sum(axis=1) / 2).mean()
    assert errors["hellinger"] == pytest.approx(hellinger)
    assert answer["method"] == method and answer["interrupted"] is False
    sampled = method in ("herded", "gibbs", "blocks")
    assert ("standard_error" in answer) == sampled
    assert (answer["chains"], answer["burn_in"]) == ((4, 1000) if sampled else (1, 0))


def test_the_same_bits_as_the_library(capsys):
    options = ("--sweeps", 300, "--burn-in", 20, "--chains", 2, "--seed", 7, "--threads", 1)
    told = ("--weights", "pooled", "--slack", "0.5")
    answer = found(capsys, "infer", "grid.uai", *options, *told)
    assert answer["method"] == "herded" and answer["settings"]["weights"] == "pooled"
    assert "schedule" not in answer["settings"]  # there is none
    result = hd.infer(
        GRID,
        hd.HerdedGibbs(weights="pooled", slack=0.5, phases="random", seed=7),
        sweeps=300,
        burn_in=20,
        chains=2,
        keep=[hd.Marginals(rao_blackwell=True)],
    )
    assert (np.array(answer["marginals"]) == result.marginals).all()
    assert answer["standard_error"]["mean"] == pytest.approx(result.standard_error.mean())
    assert answer["sweeps"] == 300


def test_weights_alone_and_slack_alone(capsys):
    def settings(*options):
        answer = found(capsys, "infer", "grid.uai", "--sweeps", 20, *options)
        return answer["settings"]["weights"], answer["settings"]["slack"]

    assert settings("--weights", "pooled") == ("pooled", 4)
    assert settings("--weights", "lazy") == ("lazy", 0)
    assert settings("--slack", "0.7") == ("blanket", 0.7)
    assert settings("--method", "herded") == ("blanket", 0)


def test_a_run_by_the_clock(capsys, monkeypatch):
    ticking(monkeypatch, 0.02)
    answer = found(capsys, "infer", "grid.uai", "--method", "gibbs", "--seconds", "0.3")
    assert answer["sweeps"] > 10 and 0.3 <= answer["seconds"] < 0.35 and answer["burn_in"] == 100
    np.testing.assert_allclose(answer["marginals"], TRUTH.marginals, atol=0.1)
    _, out, _ = run(capsys, "infer", "grid.uai", "--method", "gibbs", "--seconds", "0.3")
    assert "run        0.3 seconds after a burn-in of 100 sweeps, 4 chains\n" in out


def test_a_sampler_tells_of_its_error(capsys):
    code, out, _ = run(capsys, "infer", "grid.uai", "--method", "herded", "--reference", "grid.MAR")
    assert code == 0
    assert "method     herded (weights blanket, seed 0)\n" in out
    assert "run        10,000 sweeps after a burn-in of 1,000 sweeps, 4 chains\n" in out
    assert "time       10,000 sweeps in " in out
    assert "error      95 % intervals: +- " in out and "(3.18 standard errors) and the dist" in out
    assert "reference  mean absolute error " in out and "Hellinger" in out
    assert "variable        0        1       +-\n" in out


def weak_grid(side):
    """Of couplings so small that it mixes at once."""
    return hd.ising_grid(np.zeros((side, side)), 0.1).as_factor_graph()


def test_without_exact_inference_auto_says_what_it_does_instead(capsys):
    hd.io.write_uai(small_grid(20), "large.uai")
    _, out, _ = run(capsys, "infer", "large.uai", "--max-memory", "20M", "--sweeps", 20)
    assert (
        "method     herded (weights blanket, seed 0): elimination needs more than 20.0 MiB; 80 "
        "updates of each variable are too few for a pilot"
    ) in out
    hd.io.write_uai(weak_grid(20), "weak.uai")
    _, out, _ = run(capsys, "infer", "weak.uai", "--max-memory", "20M", "--sweeps", 3000)
    assert "method     herd (seed 0): elimination needs more than 20.0 MiB; in a pilot" in out
    assert re.search(
        r"run        \d+ sweeps after a burn-in of \d+ sweeps, 4 herds of \d+ chains\n", out
    )
    assert "... and 380 more: use --out or --json\n" in out


def test_names_of_variables_and_states(capsys):
    _, out, _ = run(capsys, "infer", "weather.bif")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "variable state: probability" in lines
    assert "ground dry: 0.82000, damp: 0.06000, wet: 0.12000" in lines
    answer = found(capsys, "infer", "weather.bif", "--given", "slip=yes", "--given", "rain=1")
    assert answer["names"] == ["rain", "ground", "slip"] and answer["observed"] == 2
    assert answer["state_names"][1] == ["dry", "damp", "wet"]
    assert answer["marginals"][1] == pytest.approx([1 / 331, 30 / 331, 300 / 331])
    assert answer["marginals"][0] == [0, 1]


def test_evidence_from_a_file(capsys):
    hd.io.write_evidence({0: 1, 5: 0}, "grid.evid")
    answer = found(capsys, "infer", "grid.uai", "--evidence", "grid.evid", "--given", "7=1")
    exact = hd.infer(GRID.given({0: 1, 5: 0, 7: 1}), hd.Exact())
    np.testing.assert_allclose(answer["marginals"], exact.marginals)
    assert answer["observed"] == 3


def test_many_states_are_shown_by_probability(capsys):
    table = np.zeros(12)
    table[7], table[2] = 3.0, 2.0
    hd.io.write_uai(hd.FactorGraph([12, 2], [((0,), table), ((1,), [0, 0])]), "wide.uai")
    _, out, _ = run(capsys, "infer", "wide.uai")
    assert "7: 0.53598, 2: 0.19718, 0: 0.02668, 1: 0.02668, ..." in out
    assert "0: 0.50000, 1: 0.50000\n" in out


def test_names_cannot_disturb_a_terminal(capsys):
    model = hd.FactorGraph(
        [2, 2],
        [],
        names=["\x1b[2Jboo\r\n", "long" * 40],
        state_names=[["a\tb", "ok"], ["a\tb", "ok"]],
    )
    hd.save_model(model, "odd.npz")
    for task in ("mar", "map"):
        _, out, _ = run(capsys, "infer", "odd.npz", "--task", task)
        assert "\x1b" not in out and "\r" not in out and "\t" not in out
        assert "\\x1b[2Jboo\\r\\n" in out and "longlongl..." in out
    assert found(capsys, "infer", "odd.npz")["names"][0] == "\x1b[2Jboo\r\n"


def test_everything_observed(capsys):
    options = ["--given=rain=yes", "--given=ground=wet", "--given=slip=no"]
    for method in ("exact", "herded", "gibbs", "bp", "mean-field"):
        answer = found(capsys, "infer", "weather.bif", *options, "--method", method)
        assert answer["marginals"] == [[0, 1], [0, 0, 1], [1, 0]]
        assert run(capsys, "infer", "weather.bif", *options, "--method", method)[0] == 0


def test_a_solver_that_does_not_converge_is_doubted(capsys):
    answer = found(capsys, "infer", "grid.uai", "--method", "bp", "--sweeps", 2)
    assert "did not converge in 2 sweeps" in answer["warnings"][0]
    _, out, _ = run(capsys, "infer", "grid.uai", "--method", "bp", "--sweeps", 2)
    assert "\nwarning    belief propagation did not converge in 2 sweeps" in out


def test_warnings_of_a_result_are_passed_on(capsys, monkeypatch):
    remedy = Remedy(Phrase("raise ", MAX_MEMORY))
    found = Diagnostic(DiagnosticKind.MEMORY, "warning", (), {"sweeps": 10.0}, remedy)
    sentence = found.message.replace("max_memory=", "--max-memory")
    monkeypatch.setattr("herded.cli.commands.infer.execute_plan", warning(execute_plan, found))
    options = ("infer", "grid.uai", "--method", "gibbs", "--sweeps", 10)
    code, out, err = run(capsys, *options)
    assert code == 0 and f"\nwarning    {sentence}\n" in out and err == ""
    code, out, err = run(capsys, *options, "--json")
    assert json.loads(out)["warnings"] == [sentence]
    assert err == f"herded: warning: {sentence}\n"


# -- the best state, and log Z -----------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "exact", "herded", "gibbs"])
def test_the_best_state(method, capsys):
    answer = found(capsys, "infer", "grid.uai", "--task", "map", "--method", method)
    assert answer["state"] == TRUTH.best.state.tolist()
    assert answer["log_score"] == pytest.approx(TRUTH.best.log_score)
    assert answer["method"] == ("exact" if method == "auto" else method)


def test_the_best_state_by_the_clock(capsys, monkeypatch):
    ticking(monkeypatch, 0.01)
    options = ("--task", "map", "--method", "herded", "--seconds", "0.5")
    answer = found(capsys, "infer", "grid.uai", *options)
    assert answer["state"] == TRUTH.best.state.tolist()
    assert answer["sweeps"] > 1000 and 0.5 <= answer["seconds"] < 0.6  # more than one round


def test_a_later_round_of_annealing_answers_by_the_planned_method():
    planned = hd.HerdedGibbs("pooled", schedule="linear")
    later = replace(planned, seed=planned.seed + 3)
    result = hd.infer(GRID, later, sweeps=20, chains=2, keep=[hd.BestState()])
    query = Query(GRID, "auto", "map", Budget(seconds=2.0))
    setup = RunSetup(query, Plan("herded", planned, "", None, 0, 4), 0.0, ())
    ladder = AttemptReport("tempered", hd.Tempered(hd.Gibbs()), 1.0, True, "")
    tried = AttemptReport("annealing", planned, 1.0, True, ""), ladder
    answered = setup.after(replace(result, escalation=tried))
    assert (answered.choice.name, answered.method) == ("herded", later)
    assert (answered.sweeps, answered.chains) == (20, 2)
    other = replace(result, method=ladder.method, escalation=tried)
    assert setup.after(other).choice.name == "tempered"


def test_the_best_state_as_text(capsys):
    _, out, _ = run(capsys, "infer", "weather.bif", "--task", "map", "--given", "slip=yes")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "ground wet" in lines and "rain yes" in lines
    assert any(line.startswith("log-score -2.8") and "the best there is" in line for line in lines)
    _, out, _ = run(
        capsys, "infer", "weather.bif", "--task", "map", "--method", "herded", "--weights", "lazy"
    )
    assert "method     herded (weights lazy, seed 0, annealed from temperature " in out
    assert "the best found" in out
    options = ("--task", "map", "--method", "herded", "--weights", "blanket", "--sweeps", 50)
    schedule = found(capsys, "infer", "weather.bif", *options)["settings"]["schedule"]
    assert schedule["type"] == "LinearCooling"


@pytest.mark.parametrize(
    ("method", "kind"),
    [("auto", "exact"), ("bp", "Bethe's estimate, not a bound"), ("mean-field", "a lower bound")],
)
def test_log_z(method, kind, capsys):
    answer = found(capsys, "infer", "grid.uai", "--task", "pr", "--method", method)
    assert answer["log_z_is"] == kind
    assert answer["log_z"] == pytest.approx(TRUTH.log_z, rel=1e-12 if kind == "exact" else 0.2)
    assert answer["log10_z"] == pytest.approx(answer["log_z"] / math.log(10))
    if kind == "a lower bound":
        assert answer["log_z"] < TRUTH.log_z
    _, out, _ = run(capsys, "infer", "grid.uai", "--task", "pr", "--method", method)
    assert f"log10 Z    {answer['log10_z']:.10g}, {kind}\n" in out


def test_log_z_by_a_ladder(capsys):
    options = ("--task", "pr", "--method", "tempered", "--sweeps", 3000, "--chains", 1)
    answer = found(capsys, "infer", "grid.uai", *options)
    low, high = answer["log_z_interval"]
    assert low < answer["log_z"] < high
    assert abs(answer["log_z"] - TRUTH.log_z) < high - low < 1.0
    _, out, _ = run(capsys, "infer", "grid.uai", *options)
    assert f"{answer['log_z']:.10g} +- {(high - low) / 2:.2g}, a 99 % interval" in out
    options = ("--task", "map", "--method", "tempered", "--sweeps", 300, "--chains", 1)
    assert found(capsys, "infer", "grid.uai", *options)["state"] == TRUTH.best.state.tolist()


def test_log_z_without_exact_inference(capsys):
    hd.io.write_uai(small_grid(20), "large.uai")
    answer = found(
        capsys, "infer", "large.uai", "--task", "pr", "--max-memory", "50M", "--sweeps", 200
    )
    assert answer["method"] == "tempered" and "a ladder of temperatures" in answer["reason"]
    low, high = answer["log_z_interval"]
    assert low < answer["log_z"] < high
    assert [step["name"] for step in answer["escalation"]] == ["tempered", "bp"]
    assert "Bethe's estimate" in answer["escalation"][1]["said"]


def test_a_bound_of_minus_infinity_is_null_in_json(capsys):
    answer = found(capsys, "infer", "weather.bif", "--task", "pr", "--method", "mean-field")
    assert answer["log_z"] is None or math.isfinite(answer["log_z"])
    forbidden = np.log([[0.5, 1e-320], [1e-320, 0.5]])
    forbidden[0, 1] = forbidden[1, 0] = -np.inf
    hd.io.write_uai(hd.FactorGraph([2, 2], [((0, 1), forbidden)]), "hard.uai")
    answer = found(capsys, "infer", "hard.uai", "--task", "pr", "--method", "mean-field")
    assert answer["log_z"] is None and answer["log10_z"] is None


# -- files -------------------------------------------------------------------------------------


def test_answers_as_uai_files(capsys):
    code, out, _ = run(capsys, "infer", "grid.uai", "--out", "out.MAR")
    assert code == 0 and out.endswith("wrote out.MAR\n")
    exact = hd.infer(hd.read_model("grid.uai"), hd.Exact())
    np.testing.assert_array_equal(hd.io.read_mar("out.MAR"), exact.marginals)
    run(capsys, "infer", "grid.uai", "--task", "map", "--out", "out.MPE")
    assert (hd.io.read_mpe("out.MPE") == TRUTH.best.state).all()
    run(capsys, "infer", "grid.uai", "--task", "pr", "--out", "out.PR")
    assert hd.io.read_pr("out.PR") == exact.log_z
    run(capsys, "infer", "weather.bif", "--out", "out.MAR")
    with open("out.MAR") as file:
        assert file.read().split()[:3] == ["MAR", "3", "2"]
    assert sorted(f for f in os.listdir() if f.startswith((".", "out"))) == [
        "out.MAR",
        "out.MPE",
        "out.PR",
    ]


def test_a_checkpoint_goes_on_to_the_same_bits(capsys):
    options = ("infer", "grid.uai", "--method", "herded", "--burn-in", 50)
    whole = found(capsys, *options, "--sweeps", 500)
    found(capsys, *options, "--sweeps", 200, "--checkpoint", "run.ckpt")
    resumed = found(capsys, *options, "--sweeps", 500, "--checkpoint", "run.ckpt")
    assert resumed["marginals"] == whole["marginals"] and resumed["sweeps"] == 500
    annealed = ("infer", "grid.uai", "--task", "map", "--method", "herded", "--sweeps", 300)
    first = found(capsys, *annealed, "--checkpoint", "map.ckpt")
    assert found(capsys, *annealed, "--checkpoint", "map.ckpt")["state"] == first["state"]


def test_auto_goes_on_with_the_run_of_a_checkpoint(capsys):
    options = ("--sweeps", 200, "--checkpoint", "run.ckpt", "--burn-in", 20)
    first = found(capsys, "infer", "grid.uai", "--method", "herded", *options)
    again = found(capsys, "infer", "grid.uai", *options)
    assert again["method"] == "herded" and again["marginals"] == first["marginals"]
    assert "resumes" in again["reason"]


def test_options_that_exact_inference_has_no_use_for_are_named(capsys):
    _, out, _ = run(capsys, "infer", "grid.uai", "--checkpoint", "run.ckpt", "--chains", 3)
    assert "unused     --chains, which exact does not use\n" in out
    assert not os.path.exists("run.ckpt")
