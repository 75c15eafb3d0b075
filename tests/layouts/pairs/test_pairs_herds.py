"""Herds of pairs: bits of the naive twin, joints, zeros, noise of energies, choice and memory."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import SystematicDraw
from herded.layouts.pairs.arrays import find_pair_interactions
from herded.layouts.pairs.herd import PairsHerdLayout
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.models.constraints.start_states import member_starts
from herded.system import threads
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.herds.pairs import naive_pairs_herd
from tests.layouts.test_herds import method_of, run_herd
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.strategies import linked_pairs

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")
CARDINALITIES = {"three": (3, 3), "mixed": (1, 5), "wide": (18, 19)}


@pytest.mark.parametrize("cardinalities", CARDINALITIES)
@examples(20)
@given(data=st.data())
def test_equal_to_the_naive_twin(cardinalities, data):
    least, most = CARDINALITIES[cardinalities]
    model = data.draw(linked_pairs(least, most, 4 if least > 6 else 8, (0.0, 0.2)))
    assume(not isinstance(find_pair_interactions(model), Refusal))
    scan = data.draw(st.sampled_from(("sequential", "checkerboard", "random")))
    members = data.draw(st.sampled_from((2, 3, 7, 33)))
    kept, seed, chain = data.draw(st.booleans()), data.draw(st.integers(0, 3)), 1
    x0 = member_starts(model, members, stream_key(seed, chain, 3))
    method = method_of(kept, members, scan=scan, seed=seed)
    layout = method.compile(model, kind="pairs")
    assert isinstance(layout, PairsHerdLayout)
    found, tally, ones = run_herd(method, layout, x0, 3, chain=chain, cuts=(1,))
    expected, sums = naive_pairs_herd(
        model, kept=kept, scan=scan, seed=seed, chain=chain, x0=x0, sweeps=3
    )
    np.testing.assert_array_equal(found, expected)
    free = model.evidence < 0
    np.testing.assert_array_equal(tally[free], sums[free])
    np.testing.assert_allclose(tally[free].sum(axis=1), 3 * members * 2**30, rtol=2**-20)
    counts = (expected[..., None] == np.arange(layout.width)).sum(axis=(0, 1))
    np.testing.assert_array_equal(ones[free], counts[free])


def small(zeros=True):
    """A triangle and a tail, of two to five states."""
    cards, rng = [3, 4, 2, 5], np.random.default_rng(1)
    scopes = [(0, 1), (1, 2), (0, 2), (2, 3)]
    tables = [0.7 * rng.normal(size=(cards[i], cards[j])) for i, j in scopes]
    if zeros:
        tables[0][0, 1] = tables[3][1, 4] = -np.inf
    return hd.FactorGraph(cards, list(zip(scopes, tables, strict=True)))


@compiled_only
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("model", [small(), small(False).given({1: 2})], ids=["zeros", "evidence"])
def test_members_have_the_joint_distribution(model, kept):
    p = naive_joint(model).ravel()
    method = method_of(kept, 40, seed=3)
    layout = method.compile(model, kind="pairs")
    x0 = member_starts(model, 40, stream_key(3, 0, 3))
    samples, _, _ = run_herd(method, layout, x0, 6000)
    thin = samples[50::5].reshape(-1, model.n_variables)
    names = np.ravel_multi_index(tuple(thin.T), tuple(model.cardinalities))
    counts = np.bincount(names, minlength=len(p))
    assert counts[p == 0].sum() == 0
    expected = p[p > 0] * len(thin)
    assert expected.min() > 5
    excess = ((counts[p > 0] - expected) ** 2 / expected).sum() / (len(expected) - 1)
    assert excess < 1.5


def ring(states, strength, n=8):
    edges = [(i, (i + 1) % n) for i in range(n)]
    return hd.pairwise_model(np.zeros((n, states)), edges, strength * np.eye(states))


@compiled_only
def test_members_stay_apart_and_energies_are_no_noisier_than_those_of_independent_chains():
    model, members, herds = ring(3, 1.0), 16, 400
    method, alone = hd.Gibbs(herd=members), hd.Gibbs()
    layout, single = (one.compile(model, kind="pairs") for one in (method, alone))
    found, expected, distinct = [], [], []
    for chain in range(herds):
        x0 = np.random.default_rng(chain).integers(0, 3, (members, 8))
        x = run_herd(method, layout, x0, 60, chain=chain)[0][20:]
        found.append(np.mean(x == np.roll(x, 1, axis=-1)))
        distinct.append(len(np.unique(x[-1], axis=0)))
        for k in range(4):
            state, y = alone.init(single, x0[k], chain=4 * chain + k), np.zeros((60, 8), np.uint8)
            alone.advance(single, state, y)
            expected.append(np.mean(y[20:] == np.roll(y[20:], 1, axis=-1)))
    assert np.std(found) < np.std(expected) / np.sqrt(members)
    assert np.mean(distinct) > 15


@compiled_only
def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(2)
    edges = [(8 * part + i, 8 * part + (i + 1) % 8) for part in range(6) for i in range(8)]
    model = hd.pairwise_model(rng.normal(size=(48, 5)), edges, rng.normal(size=(48, 5, 5)))
    method = hd.Gibbs(herd=20)
    layout, x0 = method.compile(model, kind="pairs"), rng.integers(0, 5, (20, 48))
    expected = run_herd(method, layout, x0, 6)
    with ThreadPoolExecutor(3) as pool:
        found = run_herd(method, layout, x0, 6, cuts=(2,), pool=pool)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_which_layout():
    rng = np.random.default_rng(0)
    edges = list(itertools.combinations(range(9), 2))
    model = hd.pairwise_model(rng.normal(size=(9, 4)), edges, rng.normal(size=(36, 4, 4)))
    assert isinstance(hd.Gibbs(herd=8).compile(model), PairsHerdLayout)
    assert hd.Gibbs(herd=8, schedule="linear").compile(model).kind == "factor"
    for reason, other in (
        ("factors of more than two", hd.FactorGraph([3] * 3, [((0, 1, 2), np.zeros((3, 3, 3)))])),
        ("no variable of more than two", hd.FactorGraph([2, 2], [((0, 1), np.zeros((2, 2)))])),
        ("more than 256 states", hd.FactorGraph([300, 3], [((0, 1), np.zeros((300, 3)))])),
    ):
        with pytest.raises(hd.MethodError, match=reason):
            hd.Gibbs(herd=8).compile(other, kind="pairs")


@pytest.mark.parametrize("kept", [False, True])
def test_memory_that_is_proposed_is_taken(kept):
    rng = np.random.default_rng(0)
    edges = [(i, (i + d) % 200) for i in range(200) for d in (1, 2)]
    model = hd.pairwise_model(rng.normal(size=(200, 6)), edges, rng.normal(size=(400, 6, 6)))
    draw = SystematicDraw(0, 50, kept)
    found = PairsHerdLayout.propose(LayoutRequest(model, draw, "auto", None), False)
    assert isinstance(found, Proposal)
    layout, starts = found.build(), np.zeros((50, 200), np.uint8)
    state = layout.start(draw, starts, chain=0, tally=True, total=1)
    taken = layout.bytes + state.x.nbytes + state.conditional_sums.nbytes + starts.nbytes
    taken += sum(array.nbytes for array in state.method_arrays.values())
    assert 0.5 * found.memory < taken < 1.5 * found.memory
