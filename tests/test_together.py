"""Chains side by side have the bits of chains one by one, which have those of their twins."""

import numpy as np
import pytest
from compiled import UNCOMPILED, quick
from hypothesis import given
from hypothesis import strategies as st
from strategies import binary_pairs, sampled_models
from test_pairs import drawn_model

import herded as hd
from herded.layouts.pairs import NEAR, WIDE
from herded.layouts.side_by_side import side_by_side
from herded.models.support import dispersed_starts
from herded.system.stream import stream_key

METHODS = {
    "blanket": hd.HerdedGibbs(seed=1),
    "shared": hd.HerdedGibbs(weights="shared", phases="random"),
    "pooled": hd.HerdedGibbs(weights="pooled", seed=2),
    "Gibbs": hd.Gibbs(seed=3),
    "colours": hd.HerdedGibbs(scan="checkerboard"),
}
PAIR_METHODS = {
    "pooled": hd.HerdedGibbs("pooled", phases="random", seed=4),
    "slack": hd.HerdedGibbs("pooled", slack=1.0, seed=5),
    "colours": hd.HerdedGibbs("pooled", scan="checkerboard"),
    "Gibbs": hd.Gibbs(seed=6),
}
# Each number of states that all variables have is a kernel of its own to compile; the code of
# these differs for at most four, for at most eight, and for any.
CARDINALITIES = {"three": (3, 3), "eight": (8, 8), "mixed": (1, 5), "wide": (18, 19)}
PAIR_CASES = [("pooled", c) for c in CARDINALITIES] + [("slack", "wide"), ("colours", "three")]
PAIR_CASES += [("Gibbs", "three"), ("Gibbs", "wide")]


@pytest.fixture(autouse=True)
def _quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    with np.errstate(over="ignore"):
        yield


def starts(method, layout, chains, tally=False):
    keys = [stream_key(method.seed, c, 3) for c in range(chains)]
    return [
        method.init(layout, x, chain=c, tally=tally)
        for c, x in enumerate(dispersed_starts(layout.model, keys))
    ]


def anywhere(method, layout, chains, tally):
    """Starts that `infer` would refuse: where no state of some variables is possible."""
    rng, model = np.random.default_rng(chains), layout.model
    x = rng.integers(0, model.cardinalities, (chains, model.n_variables))
    x = np.where(model.evidence < 0, x, model.evidence)
    return [method.init(layout, one, chain=c, tally=tally) for c, one in enumerate(x)]


def both_ways(method, layout, chains, sweeps, cut, tally=True, begin=starts):
    """States and samples of chains one by one, and side by side in two steps."""
    alone = begin(method, layout, chains, tally)
    group = side_by_side(begin(method, layout, chains, tally))
    block = np.zeros((chains, sweeps, layout.n_stored), layout.state_type)
    blocks = np.zeros((chains, sweeps, layout.n_stored), layout.state_type)
    for state, rows, common in zip(alone, block, blocks, strict=True):
        rows[:] = common[:] = state.x
        method.advance(layout, state, rows)
    method.advance_many(layout, group, blocks, cut)
    first = blocks[:, :cut].copy()
    method.advance_many(layout, group, blocks, sweeps - cut)
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
    layout = method.compile(model, kind=kind)
    chains = data.draw(st.sampled_from((8, 9, 17, 64)))
    sweeps = data.draw(st.sampled_from((1, 9, 130)))
    cut = data.draw(st.integers(0, sweeps))
    assert_the_same(*both_ways(method, layout, chains, sweeps, cut))
    assert layout.can_sweep_many(starts(method, layout, chains))


def assert_the_same(alone, expected, states, found):
    np.testing.assert_array_equal(found, expected)
    for one, other in zip(alone, states, strict=True):
        assert one.sweep == other.sweep
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(other.arrays()[name], array)


@pytest.mark.parametrize(("name", "cardinalities"), PAIR_CASES)
@quick(12)
@given(data=st.data())
def test_pairs_have_the_bits_of_one_by_one(name, cardinalities, data):
    """Evidence, hard zeros, contexts without a possible state; lanes with and without a chain."""
    method = PAIR_METHODS[name]
    model = drawn_model(data, *CARDINALITIES[cardinalities], zeros=(0.0, 0.2, 0.5))
    layout = method.compile(model, kind="pairs")
    chains = data.draw(st.sampled_from((1, 3, 12, 16, 17, 40)))
    sweeps = data.draw(st.sampled_from((1, 9, 140)))  # pools split at 128
    cut, tally = data.draw(st.integers(0, sweeps)), data.draw(st.booleans())
    begin = data.draw(st.sampled_from((starts, anywhere)))
    assert_the_same(*both_ways(method, layout, chains, sweeps, cut, tally, begin))


def test_states_of_more_than_a_byte():
    """300 states need two, and its only neighbour has three."""
    table = np.random.default_rng(7).normal(size=(300, 3))
    model = hd.FactorGraph([300, 3], [((0, 1), table)])
    for name in ("pooled", "slack", "colours"):  # the same kernel
        layout = PAIR_METHODS[name].compile(model, kind="pairs")
        assert layout.state_type == np.uint16
        assert_the_same(*both_ways(PAIR_METHODS[name], layout, 13, 30, 10))


@pytest.mark.skipif(UNCOMPILED, reason="many sweeps")
@pytest.mark.parametrize(
    ("name", "kind", "states"),
    [
        *((name, "table", 2) for name in METHODS),
        *((name, "pairs", 3) for name in PAIR_METHODS),
    ],
)
def test_infer_takes_them_together(name, kind, states, monkeypatch):
    """The same result, recorded and continued, whether chains run side by side or not."""
    method = (METHODS if kind == "table" else PAIR_METHODS)[name]
    rng = np.random.default_rng(2)
    ends = [(i, j) for i in range(12) for j in range(i) if rng.random() < 0.4]
    tables = rng.normal(size=(len(ends), states, states))
    model = hd.pairwise_model(rng.normal(size=(12, states)), ends, tables).given({3: 1})
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState()]
    told = {"chains": 6 if kind == "table" else 14, "keep": keep, "layout": kind}

    def run():
        first = hd.infer(model, method, sweeps=60, burn_in=7, **told)
        return first, hd.infer(model, method, sweeps=90, start=first.state, **told)

    calls = []
    step = type(method).advance_many
    monkeypatch.setattr(
        type(method), "advance_many", lambda *told: calls.append(told) or step(*told)
    )
    together = run()
    assert calls
    monkeypatch.setattr(
        "herded.methods.site_sampler.SiteSampler.can_advance_many", lambda *told: False
    )
    for found, expected in zip(together, run(), strict=True):
        np.testing.assert_array_equal(found.samples, expected.samples)
        np.testing.assert_array_equal(found.chain_marginals, expected.chain_marginals)
        assert found.best.log_score == expected.best.log_score


def test_who_may_run_together():
    model = hd.pairwise_model(np.zeros((3, 2)), [(0, 1), (1, 2)], np.eye(2))
    method = METHODS["blanket"]
    layout = method.compile(model)
    states = starts(method, layout, 65)
    assert layout.can_sweep_many(states[:64])
    assert not layout.can_sweep_many(states)
    assert not layout.can_sweep_many(states[:3])
    states[1].sweep = 7
    assert not layout.can_sweep_many(states[:4])
    for other in (
        hd.HerdedGibbs(weights="full"),
        hd.HerdedGibbs(slack=1.0),
        hd.HerdedGibbs(scan="random"),
        hd.HerdedGibbs(scan="jacobi"),
    ):
        layout = other.compile(model)
        assert not layout.can_sweep_many(starts(other, layout, 4))


def test_pairs_that_are_worth_it():
    """Nearly as many chains as lanes; from WIDE states on, rows beyond the cache."""

    def counts(model, *methods):
        found = []
        for method in methods or (METHODS["Gibbs"],):
            layout = method.compile(model, kind="pairs")
            states = starts(method, layout, 65)
            found.append([c for c in range(1, 66) if layout.can_sweep_many(states[:c])])
        assert all(count == found[0] for count in found)
        return found[0]

    worth = [*range(12, 17), *range(24, 33), *range(36, 65)]
    assert counts(loop(9, 3), *PAIR_METHODS.values()) == worth
    assert counts(loop(9, 3), hd.Gibbs(scan="random"), hd.Gibbs(scan="jacobi")) == []
    assert counts(loop(40, WIDE - 1)) == worth
    assert counts(loop(40, WIDE)) == []
    assert counts(loop(NEAR // (8 * WIDE**2) + 1, WIDE)) == worth  # two tables each


def loop(n, states):
    """Variables in a ring, each pair with a table of its own."""
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(n, states, states))
    return hd.pairwise_model(np.zeros((n, states)), [(i, (i + 1) % n) for i in range(n)], tables)


@pytest.mark.skipif(UNCOMPILED, reason="many updates")
def test_pairs_on_threads(monkeypatch):
    """Two threads with a group each, of which the second has lanes to spare."""
    model, method, calls = loop(300, 3), PAIR_METHODS["pooled"], []
    step = hd.HerdedGibbs.advance_many
    monkeypatch.setattr(
        hd.HerdedGibbs, "advance_many", lambda *told: calls.append(told) or step(*told)
    )
    told = {"sweeps": 2**20 // (300 * 29) + 1, "keep": [hd.Samples()]}  # enough for threads
    two = hd.infer(model, method, chains=29, threads=2, layout="pairs", **told)
    assert {len(group.states) for _, _, group, _, _ in calls} == {14, 15}
    monkeypatch.setattr(
        "herded.methods.site_sampler.SiteSampler.can_advance_many", lambda *told: False
    )
    one = hd.infer(model, method, chains=29, threads=1, layout="pairs", **told)
    np.testing.assert_array_equal(two.samples, one.samples)


@pytest.mark.skipif(UNCOMPILED, reason="many updates")
@pytest.mark.parametrize("chains", [8, 70])
def test_threads_and_many_groups(chains):
    """Over 64 chains, and two threads: groups of chains, the same bits."""
    rng = np.random.default_rng(0)
    model = hd.pairwise_model(
        rng.normal(size=(300, 2)), [(i, i + 1) for i in range(299)], np.eye(2)
    )
    method = hd.HerdedGibbs(weights="pooled")
    sweeps = 2**20 // (300 * chains) + 1  # enough for threads
    one, two = (
        hd.infer(model, method, sweeps=sweeps, chains=chains, threads=threads).chain_marginals
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    single = hd.infer(model, method, sweeps=sweeps).chain_marginals
    np.testing.assert_array_equal(one[:1], single)
