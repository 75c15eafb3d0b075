"""What is recommended for a model and a budget: pilots, sizes of herds, and that it beats Gibbs."""

import numpy as np
import pytest

import herded as hd
from benchmarks.herds.herd_accuracy_goals import common_effect
from herded.run.selection.pilot import PILOT_MEMBERS, Pilot, longest_autocorrelation_time, run_pilot
from herded.run.selection.recommendation import (
    BYTES_PER_STATE,
    MAX_RECOMMENDED_HERD,
    MIN_HERD,
    RECOMMENDED_HERDS,
    recommend_after_pilot,
)

WEAK = hd.ising_grid(np.random.default_rng(0).normal(0, 0.3, (6, 6)), 0.1)
STRONG = hd.ising_grid(np.full((6, 6), 0.02), 0.7)


# -- pilots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.9])
def test_times_of_known_chains(keep):
    """A variable that keeps its value with probability q, else draws anew: (1 + q) / (1 - q)."""
    rng = np.random.default_rng(1)
    x = np.empty((4000, 8, 3), np.uint8)
    x[0] = rng.integers(0, 2, (8, 3))
    for t in range(1, len(x)):
        x[t] = np.where(rng.random((8, 3)) < keep, x[t - 1], rng.integers(0, 2, (8, 3)))
    assert longest_autocorrelation_time(x) == pytest.approx((1 + keep) / (1 - keep), rel=0.25)


def test_times_of_what_never_changes():
    assert longest_autocorrelation_time(np.ones((50, 8, 4), np.uint8)) == 1.0
    stuck = np.broadcast_to(np.arange(8)[:, None] % 2, (50, 8, 4))
    assert longest_autocorrelation_time(stuck) > 20


def test_slow_models_take_longer():
    fast, slow = (run_pilot(model, 400) for model in (WEAK, STRONG))
    assert fast.is_sure and fast.time < 3 < 10 < slow.time
    assert fast.updates == 400 * PILOT_MEMBERS and run_pilot(WEAK, 400).time == fast.time


def test_nothing_to_move():
    known = hd.FactorGraph([2, 1], []).given({0: 1})
    assert run_pilot(known, 100) == Pilot(1.0, 0, 0.0)
    found = hd.recommend(known)
    assert found.caveat is None and "no variable is free" in found.reason
    result = hd.infer(known, found)
    assert result.marginals.tolist() == [[0.0, 1.0], [1.0, 0.0]]


# -- the plan -------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [2_000, 40_000, 10**7])
@pytest.mark.parametrize("time", [1.0, 20.0, 1000.0])
def test_a_plan_keeps_to_its_budget(budget, time):
    found = recommend_after_pilot(WEAK, budget, Pilot(time, 10**6, 1.0), 3, None)
    used = found.chains * found.method.herd * (found.sweeps + found.burn_in)
    assert 0.5 * budget < used <= budget and found.sweeps > 0
    assert found.method.seed == 3 and found.chains == RECOMMENDED_HERDS
    if found.method.herd > 1:
        assert MIN_HERD <= found.method.herd <= MAX_RECOMMENDED_HERD
        assert found.burn_in >= 2 * time  # every member pays its own
        assert f"{RECOMMENDED_HERDS} herds of {found.method.herd} members" in found.reason
    else:
        assert isinstance(found.method, hd.HerdedGibbs) and "too long for herds" in found.reason
    assert f"{time:.2g} sweeps" in found.reason and found.caveat is None


def test_slower_models_have_smaller_herds():
    sizes = [
        recommend_after_pilot(WEAK, 10**6, Pilot(t, 10**6, 1.0), 0, None).method.herd
        for t in (20, 200, 600)
    ]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


def test_a_pilot_that_is_not_sure():
    """It is told, also in the result."""
    found = recommend_after_pilot(WEAK, 10**5, Pilot(50.0, 60, 1.0), 0, None)
    assert found.method.herd == 1 and "hardly moved on: 4 chains" in found.reason
    assert "a pilot of 60 sweeps" in found.caveat.message
    with pytest.warns(hd.HerdedWarning, match="may agree and be wrong"):
        result = hd.infer(WEAK, found, sweeps=20)
    assert found.caveat in result.diagnostics


def test_starts_that_are_forgotten_slowly():
    """Rare causes of an alarm: a start where it rings is left after some twenty sweeps.

    After that all members may be where it is quiet: the first sweeps of a pilot tell most. Of 40
    pilots 4 tell less than 4 sweeps.
    """
    rings = ((0.001, 0.3), (0.94, 0.95))
    alarm = common_effect((0.01, 0.02), rings, ((0.05, 0.9), (0.01, 0.7)))
    times = np.array([run_pilot(alarm, 62, seed=seed).time for seed in range(100, 140)])
    assert np.median(times) > 10 and (times < 4).mean() < 0.2


def test_memory_for_fewer_members():
    """Herds are smaller where memory is short, and none where it is very short."""
    room = 20 * BYTES_PER_STATE * RECOMMENDED_HERDS * WEAK.n_variables
    sizes = [
        recommend_after_pilot(WEAK, 10**5, Pilot(1.0, 600, 1.0), 0, of)
        for of in (None, room, room // 2)
    ]
    assert [found.method.herd for found in sizes[1:]] == [20, 1] and sizes[0].method.herd > 64
    assert "memory is short" in sizes[2].reason


def test_budgets():
    least = hd.recommend(WEAK, sweeps=50)  # nothing to spare
    assert least.chains == 1 and "50 updates" in least.reason and "one chain" in least.reason
    assert hd.recommend(WEAK, sweeps=500).method == hd.HerdedGibbs()
    assert hd.recommend(WEAK, sweeps=100_000) == hd.recommend(WEAK, sweeps=100_000)
    by_clock = hd.recommend(WEAK, seconds=0.2)
    assert by_clock.method.herd > 1 and by_clock.sweeps > 0


@pytest.mark.parametrize(
    "options", [{"sweeps": 0}, {"sweeps": 1.5}, {"seconds": 0}, {"seconds": np.nan}]
)
def test_refused_budgets(options):
    with pytest.raises(hd.MethodError, match="expected"):
        hd.recommend(WEAK, **options)


def test_a_model_is_expected():
    with pytest.raises(hd.ModelError, match="expected a model"):
        hd.recommend("grid")


# -- as a method ----------------------------------------------------------------------------------


def test_infer_takes_it():
    """Its run is the default, and what is said counts more."""
    found = hd.recommend(WEAK, sweeps=20_000)
    result = hd.infer(WEAK, found)
    assert (result.sweeps, len(result.chain_marginals)) == (found.sweeps, found.chains)
    assert result.provenance["burn_in"] == found.burn_in
    other = hd.infer(WEAK, found, sweeps=7, burn_in=0, chains=2)
    assert (other.sweeps, len(other.chain_marginals)) == (7, 2)


@pytest.mark.parametrize("updates", [10_000, 40_000])
def test_it_beats_gibbs(updates):
    """At equal updates, pilot and burn-in included: by 0.15 to 0.3 here, asked for is 0.5."""
    rng = np.random.default_rng(2)
    edges = [(i, (i + k) % 20) for i in range(20) for k in (1, 5)]
    graph = hd.pairwise_model(
        rng.normal(0, 0.5, (20, 3)), edges, rng.normal(0, 0.3, (len(edges), 3, 3))
    )
    keep, ratios = [hd.Marginals(rao_blackwell=True)], []
    for model in (WEAK, graph):
        truth = hd.infer(model, hd.Exact()).marginals
        errors = np.zeros(2)
        for seed in range(3):
            found = hd.infer(model, hd.recommend(model, sweeps=updates, seed=seed), keep=keep)
            gibbs = hd.infer(model, hd.Gibbs(seed=seed), sweeps=updates, keep=keep)
            errors += [np.abs(run.marginals - truth).mean() for run in (found, gibbs)]
        ratios.append(errors[0] / errors[1])
    assert np.exp(np.log(ratios).mean()) < 0.5


def test_a_method_that_was_chosen_is_doubted_too():
    """25 sweeps of a pilot are too few here, and so is the run: `infer` tries a ladder as well."""
    keep = [hd.Marginals(), hd.Samples(every=100)]
    with pytest.warns(hd.HerdedWarning):
        result = hd.infer(STRONG, sweeps=4000, chains=1, keep=keep)
    assert "hardly moved on" in result.reason
    assert [step.name for step in result.escalation[:2]] == ["herded", "tempered"]
    assert result.escalation[0].said == "the run is short for this model"
    assert any(one.severity == "warning" for one in result.diagnostics)
