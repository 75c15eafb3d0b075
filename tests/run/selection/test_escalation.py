"""`auto` climbs: every rung, every way to stop, what it says, and that seconds are kept."""

import json
from dataclasses import replace

import numpy as np
import pytest

import herded as hd
from benchmarks.accuracy import calibration
from herded.cli.main import main
from herded.errors import InfeasibleError, MethodError
from herded.run.diagnostics.chain_agreement import ONE_CHAIN
from herded.run.query import build_query
from herded.run.result import BestStateResult, Result
from herded.run.selection import escalation
from herded.run.selection.escalation import (
    CROSS_CHECK_SHARE,
    TRIAL_SHARE,
    Stage,
    escalate,
    keep_better_state,
    later_stages,
)
from herded.run.selection.plan import execute_plan, plan_run
from herded.run.selection.recommendation import recommend
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind

PLAIN = hd.ising_grid(np.zeros((2, 2)), 0.2)
EQUAL = np.log(
    np.array([[0.3, 0.0], [0.0, 0.7]]), where=np.eye(2) > 0, out=np.full((2, 2), -np.inf)
)
TIED = hd.FactorGraph([2, 2, 2], [((0, 1), EQUAL), ((1, 2), np.log([[0.6, 0.4], [0.2, 0.8]]))])
FIRST = Stage("herd", hd.Gibbs(seed=3), 100, 10, 4)
WALLED = Diagnostic(
    DiagnosticKind.CONFINEMENT,
    "warning",
    (0,),
    {"confined": 4, "chains": 4, "chain": 0},
    names={"moves": "moves", "variable": "0", "state": "1", "tied": "0"},
)
APART = Diagnostic(
    DiagnosticKind.DISAGREEMENT,
    "warning",
    (0,),
    {"high": 0.9, "high_chain": 0, "low": 0.1, "low_chain": 1, "others": 0, "sweeps": 100},
    names={"variable": "0", "state": "1"},
)
STUCK = Diagnostic(
    DiagnosticKind.IMMOBILITY,
    "warning",
    (0,),
    {"same": 0.9, "by_chance": 0.5, "others": 0, "sweeps": 100},
    names={"variable": "0"},
)
LAST = 10 * (1 - CROSS_CHECK_SHARE)  # of 10 seconds, when the last run ends


def answer(rung, *diagnostics, spread=0.1, interrupted=False, seconds=1.0, model=PLAIN):
    """What a run might give: four chains around 1/2."""
    chains = 0.5 + spread * np.linspace(-1, 1, 4)[:, None, None] * np.ones(
        (4, model.n_variables, 2)
    )
    facts = {"seconds": seconds, "interrupted": interrupted, "burn_in": rung.burn_in, "chains": 4}
    facts["compiling"] = 0.0
    kept = {"chain_marginals": chains}
    shape = model.shape
    return Result(
        shape,
        100,
        None,
        facts,
        kept=kept,
        diagnostics=diagnostics,
        model=model,
        method=rung.method,
    )


class Runs:
    """Runs that give what they were told to, by the name of their rung."""

    def __init__(self, clock=None, **told):
        self.told, self.calls, self.clock = told, [], clock

    def __call__(self, rung, seconds, name):
        self.calls.append((name, seconds))
        if self.clock is not None:
            self.clock.now += seconds
        found = self.told[rung.name.replace(" ", "_")]
        if isinstance(found, Exception):
            raise found
        return found(rung, seconds or 1.0)

    @property
    def names(self):
        return [name for name, _ in self.calls]


def gives(*diagnostics, **facts):
    return lambda rung, seconds: answer(rung, *diagnostics, seconds=seconds, **facts)


# -- which rungs, and where it stops ---------------------------------------------------------------


def test_chains_that_agree_end_it_at_the_first_rung():
    runs = Runs(herd=gives())
    result = escalate(PLAIN, FIRST, runs, 40_000)
    assert runs.names == ["herd"] and [step.agrees for step in result.escalation] == [True]
    assert "the chains agree" in str(result.escalation[0])


def test_one_chain_cannot_disagree():
    runs = Runs(herd=gives(ONE_CHAIN))
    assert len(escalate(PLAIN, FIRST, runs, 40_000).escalation) == 1


def test_tempering_where_chains_disagree():
    runs = Runs(herd=gives(APART), tempered=gives())
    result = escalate(PLAIN, FIRST, runs, 40_000)
    assert runs.names == ["herd", "tempered"] and isinstance(result.method, hd.Tempered)
    assert [step.name for step in result.escalation] == ["herd", "tempered", "bp"]
    assert result.escalation[0].said == "the chains disagree" and not result.warnings
    assert "belief propagation differs by" in result.escalation[2].said


def test_blocks_where_zeros_are():
    runs = Runs(herd=gives(WALLED, model=TIED), blocks=gives(model=TIED))
    result = escalate(TIED, FIRST, runs, 40_000)
    assert runs.names == ["herd", "blocks"] and result.method.moves == hd.Blocks()


def test_tempered_blocks_where_blocks_disagree():
    told = {"blocks": gives(APART, model=TIED), "tempered_blocks": gives(model=TIED)}
    runs = Runs(herd=gives(WALLED, model=TIED), **told)
    result = escalate(TIED, FIRST, runs, 40_000)
    assert runs.names == ["herd", "blocks", "tempered blocks"]
    assert result.method.method.moves == hd.Blocks()


def test_blocks_that_came_first_are_not_tried_again():
    first = Stage("blocks", hd.Gibbs(moves=hd.Blocks()), 10, 2, 4)
    assert [rung.name for rung in later_stages(TIED, first, 1000, by_clock=False)] == [
        "tempered blocks"
    ]


def test_the_least_doubtful_answers_where_none_agrees():
    runs = Runs(herd=gives(APART, spread=0.3), tempered=gives(APART, spread=0.05))
    result = escalate(PLAIN, FIRST, runs, 40_000)
    assert isinstance(result.method, hd.Tempered) and result.diagnostics == (APART,)
    little = Runs(herd=gives(APART, spread=0.3), tempered=gives(APART, spread=0.29))
    # nearer is nearer
    assert isinstance(escalate(PLAIN, FIRST, little, 40_000).method, hd.Tempered)
    further = Runs(herd=gives(APART, spread=0.3), tempered=gives(APART, spread=0.31))
    assert escalate(PLAIN, FIRST, further, 40_000).method == FIRST.method
    walled = Runs(
        herd=gives(WALLED, spread=0.0, model=TIED),
        blocks=gives(APART, spread=0.4, model=TIED),
        tempered_blocks=gives(APART, spread=0.5, model=TIED),
    )
    assert escalate(TIED, FIRST, walled, 40_000).escalation[-1].name == "bp"
    assert escalate(TIED, FIRST, walled, 40_000).method.moves == hd.Blocks()


def test_chains_that_are_near_on_average_are_not_climbed_over():
    """A disagreement on few marginals stays a warning; nobody climbs, and nobody is asked."""
    near = Runs(herd=gives(APART, spread=0.01))
    result = escalate(PLAIN, FIRST, near, 40_000)
    assert near.names == ["herd"] and result.diagnostics == (APART,)
    assert [step.agrees for step in result.escalation] == [False]
    assert result.escalation[0].said.startswith("the chains disagree, but are near: 95 % intervals")
    told = {"blocks": gives(APART, spread=0.01, model=TIED)}
    second = Runs(herd=gives(WALLED, APART, spread=0.01, model=TIED), **told)
    result = escalate(TIED, FIRST, second, 40_000)
    assert second.names == ["herd", "blocks"] and result.diagnostics == (APART,)
    assert [step.name for step in result.escalation] == ["herd", "blocks", "bp"]


def test_a_mode_of_few_variables_is_climbed_over_however_near_the_average_is():
    """One variable of two hundred is in another mode in one chain of four."""
    model = hd.FactorGraph([2] * 200, [((0, 1), np.zeros((2, 2)))])

    def local(rung, seconds):
        found = answer(rung, APART, spread=0.0, model=model)
        found.chain_marginals[0, 0] = [0.0, 1.0]
        found.chain_marginals[1:, 0] = [0.6, 0.4]
        return found

    runs = Runs(herd=local, tempered=gives(model=model))
    assert isinstance(escalate(model, FIRST, runs, 40_000).method, hd.Tempered)
    assert runs.names == ["herd", "tempered"]


@pytest.mark.parametrize("found", [(WALLED,), (WALLED, APART), (STUCK,), (STUCK, APART)])
def test_what_else_speaks_against_near_chains_is_climbed_over(found):
    """Chains may be near and wrong together: where zeros wall them in, or members never move."""
    runs = Runs(
        herd=gives(*found, spread=0.0, model=TIED),
        blocks=gives(WALLED, spread=0.0, model=TIED),
        tempered_blocks=gives(model=TIED),
    )
    escalate(TIED, FIRST, runs, 40_000)
    assert runs.names == ["herd", "blocks", "tempered blocks"]


def test_a_rung_that_refuses_is_passed_over():
    runs = Runs(herd=gives(APART), tempered=MethodError("expected less"))
    result = escalate(PLAIN, FIRST, runs, 40_000)
    assert (
        result.method == FIRST.method
        and result.escalation[1].said == "could not run: expected less"
    )
    with pytest.raises(InfeasibleError, match="nothing"):
        escalate(PLAIN, FIRST, Runs(herd=InfeasibleError("nothing")), 40_000)


def test_an_interrupt_ends_it_with_what_there_is():
    runs = Runs(herd=gives(APART, interrupted=True))
    result = escalate(PLAIN, FIRST, runs, 40_000, 10.0)
    assert runs.names == ["herd"] and result.provenance["interrupted"]


@pytest.mark.parametrize("seconds", [None, 10.0])
def test_an_interrupted_rung_does_not_answer_for_one_that_is_whole(seconds):
    """Its chains have had no time to disagree; nobody else is asked after an interrupt."""
    runs = Runs(herd=gives(APART, spread=0.3), tempered=gives(spread=0.0, interrupted=True))
    result = escalate(PLAIN, FIRST, runs, 40_000, seconds)
    assert runs.names == ["herd", "tempered"] and result.diagnostics == (APART,)
    assert result.method == FIRST.method and result.provenance["interrupted"]
    assert [step.agrees for step in result.escalation] == [False, False]
    assert result.escalation[1].said == "interrupted after 100 sweeps"
    refused = Runs(herd=MethodError("expected less"), tempered=gives(interrupted=True))
    assert isinstance(escalate(PLAIN, FIRST, refused, 40_000, seconds).method, hd.Tempered)


@pytest.mark.parametrize(("sweeps", "answers"), [(0, 100), (99, 100), (100, 100), (5000, 5000)])
def test_a_run_at_length_that_is_interrupted_early(sweeps, answers):
    """What was found before is there still."""
    first = FIRST._replace(sweeps=None)

    def herd(rung, seconds):
        found = answer(rung, seconds=seconds)
        if seconds < 2:  # a share of ten
            return found
        facts = {**found.provenance, "interrupted": True}
        return replace(found, sweeps=sweeps, provenance=facts)

    runs = Runs(herd=herd)
    result = escalate(PLAIN, first, runs, 40_000, 10.0)
    assert runs.names == ["herd", "herd at length"]
    assert result.sweeps == answers and result.provenance["interrupted"]


def test_models_without_factors_have_no_rungs_above():
    class Own:
        pass

    assert not list(later_stages(Own(), FIRST, 1000, by_clock=False))


# -- seconds ---------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(escalation, "time", made)
    return made


def test_the_rung_that_answers_has_the_rest_of_the_time(clock):
    first = FIRST._replace(sweeps=None)
    runs = Runs(clock, herd=gives())
    escalate(PLAIN, first, runs, 40_000, 10.0)
    assert runs.names == ["herd", "herd at length"] and clock.now == pytest.approx(LAST)
    assert runs.calls[0][1] == 10 * TRIAL_SHARE
    runs = Runs(clock, herd=gives(APART), tempered=gives())
    clock.now = 0.0
    result = escalate(PLAIN, first, runs, 40_000, 10.0)
    assert [seconds for _, seconds in runs.calls[:2]] == [10 * TRIAL_SHARE, 10 * TRIAL_SHARE]
    assert runs.names[-1] == "tempered at length" and clock.now == pytest.approx(LAST)
    assert [step.name for step in result.escalation] == ["herd", "tempered", "tempered", "bp"]


def test_a_slow_rung_leaves_no_time_for_others(clock):
    def slow(rung, seconds):
        clock.now += 9.0
        return answer(rung, APART, seconds=seconds)

    runs = Runs(clock, herd=slow)
    result = escalate(PLAIN, FIRST._replace(sweeps=None), runs, 40_000, 10.0)
    assert runs.names == ["herd"] and result.diagnostics == (APART,)


def test_what_needs_all_of_the_time_gets_it(clock):
    def late(rung, seconds):
        if seconds < 5:
            raise MethodError("expected seconds enough")
        return answer(rung, seconds=seconds)

    runs = Runs(clock, herd=late, tempered=MethodError("expected seconds enough"))
    result = escalate(PLAIN, FIRST._replace(sweeps=None), runs, 40_000, 10.0)
    assert runs.names == ["herd", "tempered", "herd at length"] and result.method == FIRST.method
    with pytest.raises(MethodError, match="enough"):
        escalate(PLAIN, FIRST._replace(sweeps=None), runs, 40_000, 1.0)


def test_all_sweeps_in_the_first_share_are_enough(clock):
    runs = Runs(clock, herd=gives())
    escalate(PLAIN, FIRST, runs, 40_000, 10.0)
    assert runs.names == ["herd"]


# -- in earnest ------------------------------------------------------------------------------------


def sampled(model, seconds=None, **options):
    query = build_query(model, "auto", sweeps=500, seconds=seconds, progress=False, **options)
    query = replace(query, reason_to_sample="asked")
    return execute_plan(plan_run(query), query)


def test_zeros_that_wall_single_moves_in_are_for_blocks():
    choice = recommend(TIED, sweeps=4000)
    assert choice.method.moves == hd.Blocks() and "confine" in choice.reason
    result = sampled(TIED)
    exact = hd.infer(TIED, hd.Exact()).marginals
    np.testing.assert_allclose(result.marginals, exact, atol=0.05)
    assert not result.warnings and [step.name for step in result.escalation] == ["blocks"]


def test_modes_far_apart_are_climbed_over(tmp_path):
    strong = hd.ising_grid(np.full((4, 4), 0.02), 1.5)
    result = sampled(strong, checkpoint=tmp_path / "run")
    assert (
        result.escalation[0].said.startswith("the chains disagree") and len(result.escalation) > 1
    )
    assert any(step.name == "tempered" for step in result.escalation)
    again = sampled(strong, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(again.marginals, result.marginals)
    assert again.method == result.method and again.warnings == result.warnings
    assert (tmp_path / "run.tempered").exists()


def test_what_is_printed_and_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("herded.run.selection.method_choice.DEFAULT_EXACT_SECONDS", 0.0)
    hd.save_model(hd.ising_grid(np.full((4, 4), 0.02), 1.5), tmp_path / "m.npz")
    words = ["infer", str(tmp_path / "m.npz"), "--sweeps", "500"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "tried" in text and "tempered" in text and "answered" in text
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [step["name"] for step in found["escalation"]][1] == "tempered"
    assert found["method"] in ("tempered", "herd", "herded")


def test_the_benchmark_of_rules(monkeypatch):
    """`python -m benchmarks.accuracy.calibration escalate`, with answers whose errors are known."""

    def tried(spread, *warnings):
        run = Runs(herd=gives(*warnings, spread=spread))
        return escalation.attempt_stage(run, FIRST, None)

    climbed = [
        calibration.Answer(tried(0.3, APART), 0.04, True),
        calibration.Answer(tried(0.2, APART), 0.02, True),
        calibration.Answer(tried(0.4), 0.01, False),
    ]
    enough = [calibration.Answer(tried(0.01, APART), 0.5, True)]
    answers = iter([climbed[:2], enough, climbed])
    monkeypatch.setattr(calibration, "_rungs", lambda model, seed: next(answers))
    rows = [line.strip("| ").split(" | ") for line in calibration.climb(0, 3)]
    assert rows[0][0] == "2 of 3 models"
    assert [row[1:] for row in rows[2:]] == [
        ["0.0400", "0.0400", "2", "0"],
        ["0.0150", "0.0141", "1", "1"],
        ["0.0150", "0.0141", "1", "1"],
        ["0.0150", "0.0141", "1", "1"],
    ]


# -- the best state --------------------------------------------------------------------------------


def search(found, other, interrupted=False):
    """`keep_better_state` two searches with these best scores."""

    def result(rung, score):
        facts = {"seconds": 1.0, "interrupted": interrupted}
        kept = {"best": BestStateResult(np.zeros(4, int), score)}
        return Result((4,), 100, None, facts, kept=kept, method=rung.method)

    ladder = Stage("tempered", hd.Tempered(), 100, 0, 4)

    def run(rung):
        if isinstance(other, Exception):
            raise other
        return result(rung, other)

    return keep_better_state(result(FIRST, found), FIRST, ladder, run)


def test_the_better_of_two_searches():
    assert search(1.0, 2.0).method == hd.Tempered()
    assert search(2.0, 1.0).method == FIRST.method
    assert [step.said for step in search(2.0, 1.0).escalation] == [
        "best log-score 2",
        "best log-score 1",
    ]
    assert (
        search(2.0, MethodError("expected less")).escalation[1].said
        == "could not run: expected less"
    )
    assert len(search(2.0, 3.0, interrupted=True).escalation) == 1


def test_annealing_and_a_ladder_look_for_the_best_state(monkeypatch):
    monkeypatch.setattr("herded.run.selection.method_choice.DEFAULT_EXACT_SECONDS", 0.0)
    model = hd.ising_grid(np.random.default_rng(5).normal(size=(4, 4)), 0.8)
    result = hd.infer(model, sweeps=200, keep=[hd.BestState()])
    assert [step.name for step in result.escalation] == ["annealing", "tempered"]
    assert result.best.log_score == hd.infer(model, hd.Exact()).best.log_score
