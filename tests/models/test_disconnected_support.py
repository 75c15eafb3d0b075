"""Supports that fall apart: classes of states that single moves do not pass between."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from benchmarks.support.random_models import divided, tiny
from herded.models.constraints.disconnected_support import MAX_CLUSTER_STATES, find_split
from tests.run.diagnostics.test_diagnostics import reachable
from tests.support.example_budget import examples

ZERO = -np.inf


def support(model):
    states = itertools.product(*(range(k) for k in model.cardinalities))
    return {x for x in states if model.log_score(np.array(x)) > ZERO}


def odd(n):
    """Which states of n switches have an odd number of them on."""
    return np.indices((2,) * n).sum(axis=0) % 2 == 1


@examples(80)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 0.7))
def test_small_components_are_searched_exactly(seed, share):
    """A split is found if and only if brute force finds one; and what it says is true."""
    model = tiny(share, np.random.default_rng(seed))
    states = sorted(support(model))
    x = np.array(states[seed % len(states)])
    reached = reachable(model, x)
    found = find_split(model, x[None]) if model.has_hard_zeros else None
    assert (found is not None) == (len(reached) < len(states))
    if found is not None:
        chosen = found.variables.tolist()
        assert tuple(found.here) == tuple(x[chosen])
        there = {y for y in states if tuple(y[i] for i in chosen) == tuple(found.there)}
        assert there and not there & reached


def test_three_binary_variables_suffice():
    """(0, 0, 0) and (1, 0, 0) on one side, (0, 1, 1) and (1, 1, 1) on the other."""
    table = np.full((2, 2, 2), ZERO)
    for state in ((0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1)):
        table[state] = sum(state) / 3
    model = hd.FactorGraph([2] * 3, [((0, 1, 2), table)], names=["a", "b", "c"])
    with pytest.warns(hd.HerdedWarning, match="cannot reach every state that the model allows"):
        result = hd.infer(model, hd.Gibbs(), sweeps=50, chains=4)
    cube = np.where(odd(3), ZERO, 0.0)
    cube[1, 0, 0] = cube[0, 0, 1] = 0.0  # joins some, and every value is in reach of each start
    cube[1, 1, 1] = 0.0
    model = hd.FactorGraph([2] * 3, [((0, 1, 2), cube)], names=["a", "b", "c"])
    assert result.warnings and find_split(model, np.zeros((1, 3), int)) is None


@pytest.mark.parametrize("seed", range(6))
def test_factors_made_to_split_are_told(seed):
    model = divided(np.random.default_rng(seed))
    x = np.array(sorted(support(model))[0])
    assert find_split(model, x[None]) is not None
    with pytest.warns(hd.HerdedWarning, match=r"fall apart into classes|never set variable"):
        hd.infer(model, hd.HerdedGibbs(), sweeps=20, chains=2)


def long_chain(n, middle):
    """Binary variables of which no two in a row are both 1, and a factor of three in the middle."""
    apart = np.array([[0.0, 0.0], [0.0, ZERO]])
    factors = [((i, i + 1), apart) for i in range(n - 1)]
    at = n // 2
    return hd.FactorGraph([2] * n, [*factors, ((at, at + 10, at + 20), middle)])


def test_clusters_of_large_components():
    """More joint states than can be listed; an even number of three switches is on."""
    split = long_chain(60, np.where(odd(3), ZERO, 0.0))
    assert split.n_variables > np.log2(MAX_CLUSTER_STATES)
    found = find_split(split, np.zeros((1, 60), int))
    assert found is not None and {30, 40, 50} <= set(found.variables.tolist())
    on = dict(zip(found.variables.tolist(), found.there.tolist(), strict=True))
    assert on[30] + on[40] + on[50] == 2
    whole = long_chain(60, np.where(odd(3) & False, ZERO, 0.0))
    assert find_split(whole, np.zeros((1, 60), int)) is None


def test_a_class_that_other_factors_forbid_is_no_split():
    """The switches may not be on: then there is one class."""
    n = 60
    model = long_chain(n, np.where(odd(3), ZERO, 0.0))
    factors = [model.factor(f) for f in range(model.n_factors)]
    off = [((i,), np.array([0.0, ZERO])) for i in (30, 40)]
    model = hd.FactorGraph([2] * n, [*factors, *off])
    assert find_split(model, np.zeros((1, n), int)) is None
