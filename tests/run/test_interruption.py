"""Ctrl-C in `infer`: raised with the partial result, or returned with a flag.

`tests/run/test_interrupted_functions.py` has the other functions,
`tests/run/test_signals_around_runs.py` what a signal meets on its way,
`tests/run/checkpoints/test_checkpoint.py` whole processes.
"""

import numpy as np
import pytest

import herded as hd
import herded.run.diagnostics.cross_check
import herded.run.execute
import herded.run.selection.method_choice
import herded.run.selection.plan
from herded.run.execute import execute
from herded.run.query import build_query
from herded.run.result import MIN_SAMPLES
from herded.run.sampler_run import SamplerRun
from herded.run.selection.recommendation import Recommendation
from tests.run.interrupts import (  # noqa: F401
    caught_from,
    flags_of,
    handlers_are_restored,
    press,
    press_in_block,
    pressing,
    stop_after,
)

MODEL = hd.ising_grid(np.random.default_rng(0).normal(size=(4, 4)), 0.3)
LOOPY = hd.ising_grid(np.zeros((4, 4)), 0.9)  # where belief propagation is not exact
LARGE = hd.ising_grid(np.random.default_rng(1).normal(size=(8, 8)), 0.5)
ENDLESS = 10**9
CHOICES = ("raise", "return")


# -- nothing recorded: no numbers ------------------------------------------------------------------


@pytest.mark.parametrize("on_interrupt", CHOICES)
@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Gibbs(herd=8), hd.HerdedGibbs(), "gibbs"])
def test_the_burn_in_has_no_numbers(method, on_interrupt):
    error = caught_from(
        hd.infer,
        MODEL,
        method,
        sweeps=100,
        burn_in=10**6,
        chains=4,
        callback=stop_after(0),
        on_interrupt=on_interrupt,
    )
    assert error.result is None and "no partial result" in str(error)


@pytest.mark.parametrize("on_interrupt", CHOICES)
def test_no_numbers_while_tables_are_filled(on_interrupt, monkeypatch):
    monkeypatch.setattr(
        herded.run.execute, "cached_layout", pressing(herded.run.execute.cached_layout)
    )
    method = hd.Gibbs()
    error = caught_from(hd.infer, MODEL, method, sweeps=ENDLESS, on_interrupt=on_interrupt)
    assert error.result is None


@pytest.mark.parametrize("on_interrupt", CHOICES)
def test_no_numbers_while_kernels_are_compiled(on_interrupt, monkeypatch):
    monkeypatch.setattr(SamplerRun, "compile_ahead", press)
    error = caught_from(hd.infer, MODEL, hd.Gibbs(), seconds=1000, on_interrupt=on_interrupt)
    assert error.result is None


@pytest.mark.parametrize("on_interrupt", CHOICES)
@pytest.mark.parametrize(
    "method", [hd.Exact(), None, "exact", Recommendation(hd.Exact(), 1, 0, 1, "it fits")]
)
def test_no_numbers_within_an_elimination(method, on_interrupt, monkeypatch):
    monkeypatch.setattr(hd.Exact, "advance", pressing(hd.Exact.advance))
    assert caught_from(hd.infer, MODEL, method, on_interrupt=on_interrupt).result is None


def test_an_elimination_with_a_checkpoint(monkeypatch, tmp_path):
    advance, options = hd.Exact.advance, {"checkpoint": tmp_path / "run", "checkpoint_every": 0}
    grid = hd.ising_grid(np.zeros((5, 6)), 0.3)
    # of work: there are many parts
    monkeypatch.setattr("herded.methods.exact.solver.PROGRESS_UNIT_ENTRIES", 8)
    with monkeypatch.context() as patch:
        patch.setattr(hd.Exact, "advance", pressing(advance))
        assert caught_from(hd.infer, grid, hd.Exact(), **options).result is None
    resumed = hd.infer(grid, hd.Exact(), **options)
    assert (resumed.marginals == hd.infer(grid, hd.Exact()).marginals).all()


@pytest.mark.parametrize("on_interrupt", CHOICES)
def test_no_numbers_from_planning(on_interrupt, monkeypatch):
    monkeypatch.setattr(
        herded.run.selection.plan,
        "plan_run",
        pressing(herded.run.selection.plan.plan_run),
    )
    assert caught_from(hd.infer, MODEL, on_interrupt=on_interrupt).result is None


def test_no_numbers_from_a_sweep_that_was_cut(monkeypatch):
    """As by a second Ctrl-C, or by a user's own sampler or observable."""
    monkeypatch.setattr(hd.Gibbs, "advance", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    error = caught_from(hd.infer, MODEL, hd.Gibbs(), sweeps=ENDLESS, callback=print)
    assert error.result is None and isinstance(error.__cause__, KeyboardInterrupt)


# -- a partial result ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Gibbs(herd=64), hd.HerdedGibbs(), "gibbs"])
def test_a_partial_result_is_that_of_a_shorter_run(method, monkeypatch):
    press_in_block(monkeypatch, 3)
    options = {"burn_in": 20, "chains": 2, "callback": lambda _: None}
    error = caught_from(hd.infer, MODEL, method, sweeps=ENDLESS // 10**3, **options)
    part, whole = error.result, hd.infer(MODEL, method, sweeps=40, **options)
    assert part.sweeps == 40 and (part.chain_marginals == whole.chain_marginals).all()
    assert part.provenance["interrupted"] and flags_of(part) == ["warning"]
    assert not whole.provenance["interrupted"] and not flags_of(whole)
    assert "interrupted after 40 sweeps" in str(error)
    assert "interrupted" in repr(part) and "interrupted" in part._repr_html_()


@pytest.mark.parametrize("method", [hd.Gibbs(), "gibbs", hd.recommend(MODEL, sweeps=4000)])
def test_on_interrupt_return_flags_the_partial_result(method):
    with pytest.warns(hd.HerdedWarning, match="interrupted after"):
        part = hd.infer(MODEL, method, sweeps=10**6, callback=stop_after(1), on_interrupt="return")
    assert flags_of(part) == ["warning"] and 0 < part.sweeps < 10**6


def test_on_interrupt_return_in_a_brief_run(monkeypatch):
    """Such as sets no handlers of its own once its kernels are compiled."""
    hd.infer(MODEL, hd.Gibbs(), sweeps=60)
    press_in_block(monkeypatch, 2)
    with pytest.warns(hd.HerdedWarning, match="interrupted after 40 sweeps"):
        part = hd.infer(MODEL, hd.Gibbs(), sweeps=60, on_interrupt="return")
    assert part.sweeps == 40 and flags_of(part) == ["warning"]


@pytest.mark.parametrize("choice", ["ignore", "", None, True, ["return"]])
def test_other_choices_are_refused(choice):
    with pytest.raises(hd.MethodError, match='expected on_interrupt="raise" or "return", got'):
        hd.infer(MODEL, hd.Gibbs(), sweeps=5, on_interrupt=choice)


@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Exact(), None])
def test_a_run_that_was_done_is_whole(method, recwarn):
    """Ctrl-C means the program: it is raised, though nothing is missing."""
    options = {"callback": lambda _: press(), "keep": [hd.Marginals()]}
    options |= {"sweeps": 50} if method == hd.Gibbs() else {}
    error = caught_from(hd.infer, MODEL, method, **options)  # of one block
    assert flags_of(error.result) == ["info"] and not error.result.provenance["interrupted"]
    recwarn.clear()
    whole = hd.infer(MODEL, method, on_interrupt="return", **options)
    assert flags_of(whole) == ["info"]
    assert not [one for one in recwarn if "interrupted" in str(one.message)]
    assert (whole.marginals == error.result.marginals).all()


@pytest.mark.parametrize("run", ["brief", "watched", "by name", "solver"])
def test_the_first_ctrl_c_ends_a_loop_over_temperatures(run, monkeypatch):
    methods = {"by name": "gibbs", "solver": hd.MeanField(tolerance=0)}
    method, results, blocks = methods.get(run, hd.Gibbs()), [], []
    options = {"callback": lambda _: None} if run == "watched" else {}
    hd.infer(MODEL, method, sweeps=60, **options)
    kind = hd.MeanField if run == "solver" else SamplerRun
    advance = kind.advance

    def pressed(*args):
        blocks.append(1)
        if len(results) == 2:
            press()
        return advance(*args)

    monkeypatch.setattr(kind, "advance", pressed)

    def loop():
        for coupling in np.linspace(0.1, 0.6, 6):
            model = hd.ising_grid(np.zeros((4, 4)), coupling)
            results.append(hd.infer(model, method, sweeps=60, **options))

    with pytest.raises(KeyboardInterrupt):
        loop()
    assert [result.sweeps for result in results] == [60, 60]


# -- several runs for one answer -------------------------------------------------------------------


def test_an_earlier_stage_of_auto_is_not_lost(monkeypatch):
    """Chains of the first stage disagree. Ctrl-C in the next one leaves the first answer."""
    torn = hd.ising_grid(np.zeros((8, 8)), 1.5)
    monkeypatch.setattr(hd.Tempered, "advance", pressing(hd.Tempered.advance, once=True))
    keep = [hd.Marginals(), hd.Samples(every=1000)]  # which elimination has not
    error = caught_from(hd.infer, torn, keep=keep, sweeps=2000)
    assert not isinstance(error.result.method, hd.Tempered)
    assert error.result.marginals.shape == (8, 8, 2) and error.result.provenance["interrupted"]
    assert flags_of(error.result) == ["warning"]
    assert [step.agrees for step in error.result.escalation] == [False, False]  # and no witness


def test_the_better_of_two_searches(monkeypatch):
    """Annealing was done; Ctrl-C in the ladder leaves its state."""
    monkeypatch.setattr(
        herded.run.selection.method_choice, "DEFAULT_EXACT_MEMORY_BYTES", 2.0**10
    )  # too little for an elimination
    monkeypatch.setattr(
        herded.run.selection.plan,
        "tempering_stage",
        pressing(herded.run.selection.plan.tempering_stage),
    )
    error = caught_from(hd.infer, LARGE, keep=[hd.BestState()], sweeps=100)
    assert not isinstance(error.result.method, hd.Tempered)
    assert error.result.best.log_score > 0 and flags_of(error.result) == ["warning"]


def test_rounds_of_annealing(monkeypatch):
    monkeypatch.setattr(herded.run.selection.method_choice, "DEFAULT_EXACT_MEMORY_BYTES", 2.0**10)
    options = {"keep": [hd.BestState()], "seconds": 1000}
    error = caught_from(hd.infer, LARGE, callback=stop_after(10), **options)
    assert error.result.best.state.shape == (8, 8) and flags_of(error.result) == ["warning"]


def test_log_z_of_a_ladder_that_was_too_short(monkeypatch):
    press_in_block(monkeypatch, 1, sweeps=2)
    method = hd.Tempered(hd.Gibbs(), rungs=8, hottest_beta=0)
    options = {"sweeps": 1000, "chains": 2, "callback": lambda _: None}  # so it is not brief
    part = caught_from(hd.infer, MODEL, method, **options).result
    assert part.sweeps == 2 and flags_of(part) == ["warning"]
    for name in ("log_z", "log_z_interval"):
        with pytest.raises(hd.NotKeptError):
            getattr(part, name)


@pytest.mark.parametrize(
    ("model", "method", "options", "missing"),
    [
        (MODEL, hd.HerdedGibbs(), {"sweeps": 6000, "chains": 4}, "without the control"),
        (LOOPY, hd.BeliefPropagation(damping=0.5), {}, "without a comparison with a sampler"),
    ],
)
def test_a_comparison_that_was_cut_is_told(model, method, options, missing, monkeypatch):
    """All sweeps are done, but what they are compared with is not: that is no whole result."""
    run_herds = herded.run.diagnostics.cross_check.run_check_herds
    monkeypatch.setattr(herded.run.diagnostics.cross_check, "run_check_herds", pressing(run_herds))
    with pytest.warns(hd.HerdedWarning, match=missing):
        part = hd.infer(model, method, on_interrupt="return", **options)
    assert flags_of(part) == ["warning"] and not part.provenance["interrupted"]
    assert "control" not in part.kept
    assert not [text for text in part.warnings if "differs from" in text]
    error = caught_from(hd.infer, model, method, **options)
    assert "partial" in str(error) and missing in str(error)


# -- little recorded -------------------------------------------------------------------------------


@pytest.mark.parametrize("sweeps", [1, 2, MIN_SAMPLES - 1, MIN_SAMPLES])
def test_few_sweeps_give_no_interval(sweeps):
    """After one or two, chains agree by chance: 0 +- 0 would be said of what was never seen."""
    result = hd.infer(MODEL, hd.Gibbs(), sweeps=sweeps, chains=4)
    table = result.to_pandas()
    if sweeps >= MIN_SAMPLES:
        assert result.interval.shape == (4, 4, 2, 2) and not table.low.isna().any()
        return
    for name in ("standard_error", "interval"):
        with pytest.raises(hd.MethodError, match=f"at least {MIN_SAMPLES} recorded samples"):
            getattr(result, name)
    assert table[["standard_error", "low", "high"]].isna().all(axis=None)
    assert "standard error" not in repr(result)
    herds = hd.infer(MODEL, hd.Gibbs(herd=MIN_SAMPLES), sweeps=sweeps, chains=4)
    assert herds.interval.shape == (4, 4, 2, 2)  # of many samples after each sweep


def test_results_with_little_in_them_can_be_looked_at(monkeypatch):
    every = {"every": 1000}
    keeps = {
        "samples": [hd.Samples(**every)],
        "series": [hd.Observable(hd.energy, **every)],
        "curve": [hd.ErrorCurve(np.full((16, 2), 0.5))],
    }
    press_in_block(monkeypatch, 1, sweeps=1)
    options = {"sweeps": 10**6, "callback": stop_after(1)}
    parts = {
        name: execute(build_query(MODEL, hd.Gibbs(), keep=keeps[name], **options)) for name in keeps
    }
    nothing = {"burn_in": 10, "sweeps": 1, "callback": stop_after(0)}
    parts["nothing"] = execute(build_query(MODEL, hd.Gibbs(), **nothing))
    assert not parts["nothing"].kept and "no sweeps" in repr(parts["nothing"])
    for name, part in parts.items():
        assert "interrupted" in part._repr_html_() and part.provenance["interrupted"]
        if name != "curve":
            with pytest.raises(hd.NotKeptError):
                part.plot()
    assert parts["samples"].to_xarray()["posterior/x"].shape == (1, 0, 4, 4)
    with pytest.raises(hd.NotKeptError, match="none were"):
        parts["series"].observables["energy"]
    ladder = execute(build_query(MODEL, hd.Tempered(hd.Gibbs(), 8), **options))
    assert ladder.to_xarray().attrs["interrupted"] == 1


# -- resumed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 3])  # in the burn-in, and after it
@pytest.mark.parametrize("method", [hd.Gibbs(herd=8), hd.HerdedGibbs()])
def test_a_resumed_run_has_the_bits_of_one_that_was_not_interrupted(
    blocks, method, monkeypatch, tmp_path
):
    options = {"sweeps": 100, "burn_in": 30, "chains": 2, "keep": [hd.Marginals(), hd.Samples()]}
    whole = hd.infer(MODEL, method, **options)
    with monkeypatch.context() as patch:
        press_in_block(patch, blocks)
        error = caught_from(hd.infer, MODEL, method, checkpoint=tmp_path / "run", **options)
    assert (error.result is None) == (blocks == 1)
    resumed = hd.infer(MODEL, method, checkpoint=tmp_path / "run", **options)
    assert (resumed.samples == whole.samples).all() and not flags_of(resumed)
    assert (resumed.chain_marginals == whole.chain_marginals).all()
