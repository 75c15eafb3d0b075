"""Chains side by side have the bits of chains one by one, which have those of their twins."""

import numpy as np
import pytest
from compiled import UNCOMPILED, quick
from hypothesis import given
from hypothesis import strategies as st
from strategies import binary_pairs, sampled_models

import herded as hd
from herded.methods import together
from herded.plan.support import dispersed_starts
from herded.stream import stream_key

METHODS = {
    "blanket": hd.HerdedGibbs(seed=1),
    "shared": hd.HerdedGibbs(weights="shared", phases="random"),
    "pooled": hd.HerdedGibbs(weights="pooled", seed=2),
    "Gibbs": hd.Gibbs(seed=3),
    "colours": hd.HerdedGibbs(scan="checkerboard"),
}


@pytest.fixture(autouse=True)
def _quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    with np.errstate(over="ignore"):
        yield


def starts(method, plan, chains, tally=False):
    keys = [stream_key(method.seed, c, 3) for c in range(chains)]
    return [
        method.init(plan, x, chain=c, tally=tally)
        for c, x in enumerate(dispersed_starts(plan.model, keys))
    ]


def both_ways(method, plan, chains, sweeps, cut):
    """States and samples of chains one by one, and side by side in two steps."""
    alone = starts(method, plan, chains, tally=True)
    group = together.gather(starts(method, plan, chains, tally=True))
    block = np.zeros((chains, sweeps, plan.n_stored), plan.state_type)
    blocks = np.zeros((chains, sweeps, plan.n_stored), plan.state_type)
    for state, rows, common in zip(alone, block, blocks, strict=True):
        rows[:] = common[:] = state.memory.x
        method.advance(plan, state, rows)
    method.advance_together(plan, group, blocks, cut)
    first = blocks[:, :cut].copy()
    method.advance_together(plan, group, blocks, sweeps - cut)
    found = np.concatenate([first, blocks[:, : sweeps - cut]], axis=1)
    return alone, block, group.states, found


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "table") for name in METHODS), ("pooled", "field"), ("Gibbs", "field")],
)
@quick(25)
@given(data=st.data())
def test_the_bits_of_one_by_one(name, kind, data):
    method = METHODS[name]
    small = binary_pairs() if kind == "field" else sampled_models(2, 2)
    model = data.draw(small)
    plan = method.compile(model, kind=kind)
    chains = data.draw(st.sampled_from((8, 9, 17, 64)))
    sweeps = data.draw(st.sampled_from((1, 9, 130)))
    cut = data.draw(st.integers(0, sweeps))
    alone, expected, states, found = both_ways(method, plan, chains, sweeps, cut)
    np.testing.assert_array_equal(found, expected)
    assert together.can_run_together(plan, states)
    for one, other in zip(alone, states, strict=True):
        assert one.sweep == other.sweep
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(other.arrays()[name], array)


@pytest.mark.skipif(UNCOMPILED, reason="many sweeps")
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_infer_takes_them_together(method, monkeypatch):
    """The same result, recorded and continued, whether chains run side by side or not."""
    rng = np.random.default_rng(2)
    ends = [(i, j) for i in range(12) for j in range(i) if rng.random() < 0.4]
    model = hd.pairwise(rng.normal(size=(12, 2)), ends, rng.normal(size=(len(ends), 2, 2)))
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState()]

    def run():
        first = hd.infer(model, method, sweeps=60, burn_in=7, chains=6, keep=keep)
        return first, hd.infer(model, method, sweeps=40, chains=6, keep=keep, state=first.state)

    calls = []
    step = type(method).advance_together
    monkeypatch.setattr(
        type(method), "advance_together", lambda *told: calls.append(told) or step(*told)
    )
    side_by_side = run()
    assert calls
    monkeypatch.setattr("herded.sampling.can_run_together", lambda plan, states: False)
    for found, expected in zip(side_by_side, run(), strict=True):
        np.testing.assert_array_equal(found.samples, expected.samples)
        np.testing.assert_array_equal(found.chain_marginals, expected.chain_marginals)
        assert found.best.log_score == expected.best.log_score


def test_who_may_run_together():
    model = hd.pairwise(np.zeros((3, 2)), [(0, 1), (1, 2)], np.eye(2))
    method = METHODS["blanket"]
    plan = method.compile(model)
    states = starts(method, plan, 65)
    assert together.can_run_together(plan, states[:64])
    assert not together.can_run_together(plan, states)
    assert not together.can_run_together(plan, states[:3])
    states[1].sweep = 7
    assert not together.can_run_together(plan, states[:4])
    for other in (
        hd.HerdedGibbs(weights="full"),
        hd.HerdedGibbs(slack=1.0),
        hd.HerdedGibbs(scan="random"),
        hd.HerdedGibbs(scan="jacobi"),
    ):
        plan = other.compile(model)
        assert not together.can_run_together(plan, starts(other, plan, 4))


@pytest.mark.skipif(UNCOMPILED, reason="many updates")
@pytest.mark.parametrize("chains", [8, 70])
def test_threads_and_many_groups(chains):
    """Over 64 chains, and two threads: groups of chains, the same bits."""
    rng = np.random.default_rng(0)
    model = hd.pairwise(rng.normal(size=(300, 2)), [(i, i + 1) for i in range(299)], np.eye(2))
    method = hd.HerdedGibbs(weights="pooled")
    sweeps = 2**20 // (300 * chains) + 1  # enough for threads
    one, two = (
        hd.infer(model, method, sweeps=sweeps, chains=chains, threads=threads).chain_marginals
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    single = hd.infer(model, method, sweeps=sweeps).chain_marginals
    np.testing.assert_array_equal(one[:1], single)
