"""`max_memory=` of one answer that several runs are made for: it holds for all of them together."""

import gc
import weakref

import numpy as np
import pytest

import herded as hd
from herded.run.memory.held_results import bytes_of_result, remaining_limit
from herded.run.selection import plan

TORN = hd.ising_grid(np.zeros((20, 20)), 1.0)
LIMIT = 100 * 2**20


@pytest.fixture
def runs(monkeypatch):
    """What each run of an answer was given, and what it gave."""
    given, results = [], []

    def run(query, check):
        gc.collect()
        given.append((query.max_memory, [one() is not None for one in results]))
        found = execute(query, check)
        results.append(weakref.ref(found.kept["samples"]))
        return found

    execute = plan.execute
    monkeypatch.setattr(plan, "execute", run)
    return given


def test_a_later_stage_has_what_earlier_ones_leave(runs):
    keep = [hd.Marginals(), hd.Samples()]
    result = hd.infer(TORN, keep=keep, sweeps=4000, max_memory=LIMIT, progress=False)
    assert len(runs) == 2 and len(result.escalation) == 3
    (first, _), (second, _) = runs
    samples = 4 * 3600 * TORN.n_variables  # after the burn-in
    assert first == LIMIT and LIMIT - 2 * samples < second < LIMIT - 0.9 * samples
    assert 0.9 * samples < result.provenance["memory_at_most"] <= LIMIT
    assert result.provenance["memory_at_most"] > LIMIT - second


def test_without_a_limit_the_system_tells_what_is_left(runs):
    hd.infer(TORN, keep=[hd.Marginals(), hd.Samples()], sweeps=400, progress=False)
    assert [limit for limit, _ in runs] == [None, None]


def test_results_that_cannot_win_are_dropped(runs, monkeypatch):
    """By the clock the stage that answers runs again, when at most one result is left."""
    monkeypatch.setattr(
        "herded.run.selection.escalation._seconds_without_compiling", lambda began, tried: 0.0
    )  # on any machine
    hd.infer(TORN, keep=[hd.Marginals(), hd.Samples()], seconds=0.6, max_memory=LIMIT)
    assert len(runs) > 1 and all(sum(alive) <= 1 for _, alive in runs)


def test_herds_beside_a_run_have_what_it_leaves(monkeypatch):
    limits = []

    def control(result, seconds, limit):
        limits.append(limit)
        return result

    monkeypatch.setattr("herded.run.diagnostics.cross_check.add_herd_cross_check", control)
    run = hd.infer(TORN, hd.HerdedGibbs(), sweeps=10, chains=2, max_memory=LIMIT)
    assert limits == [LIMIT - run.provenance["memory_at_most"]]
    assert remaining_limit(None, 5.0) is None


def test_what_is_left():
    assert (
        remaining_limit("1k", 24) == 1000
        and remaining_limit(10, 20) == 1
        and remaining_limit("1k", 0) == "1k"
    )


def test_bytes_of_a_result_are_those_of_its_arrays():
    keep = [hd.Samples(), hd.Observable(hd.energy)]
    result = hd.infer(TORN, hd.Gibbs(), sweeps=500, keep=keep)
    least = result.samples.nbytes + result.observables["energy"].series.nbytes
    assert least <= bytes_of_result(result) < least + 2**15
