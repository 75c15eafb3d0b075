"""Where single moves can lead: against an obvious twin, against all moves, on known cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.constraints.reachability import reachable_states
from herded.models.constraints.start_states import possible_states, start_state
from herded.system.numerics.counter_rng import stream_key
from tests.support.example_budget import examples
from tests.support.strategies import models, seeds

relaxed = examples(80)


def hard_models(**options):
    zeros = models(zeros=(0.3, 0.6, 0.8), **options)
    return zeros.filter(lambda model: model.has_hard_zeros)


def naive_reach(model, x):
    """The definition: add what every hard factor has an entry for, until nothing is added."""
    inside = [{int(k)} for k in x]
    factors = [model.factor(f) for f in range(model.n_factors)]
    hard = [(scope, table) for scope, table in factors if np.isneginf(table).any()]
    while True:
        added = False
        for i in np.flatnonzero(model.evidence < 0):
            mine = [(scope.tolist(), table) for scope, table in hard if i in scope]
            for k in set(range(model.cardinalities[i])) - inside[i]:
                if all(
                    any(
                        table[entry] > -np.inf
                        for entry in itertools.product(
                            *([k] if j == i else inside[j] for j in scope)
                        )
                    )
                    for scope, table in mine
                ):
                    inside[i].add(k)
                    added = True
        if not added:
            break
    width = int(model.cardinalities.max())
    return np.array([[k in states for k in range(width)] for states in inside])


def moves(model, x):
    """Every state that moves of single variables lead to from `x`."""
    found, new = {tuple(x)}, [tuple(x)]
    while new:
        state = new.pop()
        for i in np.flatnonzero(model.evidence < 0):
            for k in range(model.cardinalities[i]):
                other = (*state[:i], k, *state[i + 1 :])
                if other not in found and model.log_score(np.array(other)) > -np.inf:
                    found.add(other)
                    new.append(other)
    return np.array(sorted(found))


@relaxed
@given(model=hard_models(), seed=seeds)
def test_reach_is_its_twin(model, seed):
    x = start_state(model, stream_key(seed))
    np.testing.assert_array_equal(reachable_states(model, x), naive_reach(model, x))


@relaxed
@given(model=hard_models(max_variables=4, max_states=3), seed=seeds)
def test_no_move_leaves_it(model, seed):
    x = start_state(model, stream_key(seed))
    inside = reachable_states(model, x)
    for state in moves(model, x):
        assert inside[np.arange(model.n_variables), state].all()


@relaxed
@given(model=models(zeros=(0.0, 0.3, 0.8)))
def test_possible_states_keep_every_possible_state(model):
    left = possible_states(model)
    for state in itertools.product(*map(range, model.cardinalities)):
        if model.log_score(np.array(state)) > -np.inf:
            assert left[np.arange(model.n_variables), state].all()
    assert not left[np.arange(left.shape[1]) >= model.cardinalities[:, None]].any()


def test_possible_states_drop_what_has_no_support():
    same = np.where(np.eye(3), 0.0, -np.inf)
    model = hd.FactorGraph([3, 3, 2], [([0, 1], same), ([2], [0.0, 0.0])]).given({0: 2})
    expected = [[False, False, True], [False, False, True], [True, True, False]]
    np.testing.assert_array_equal(possible_states(model), expected)


def test_possible_states_of_an_empty_support():
    same = np.where(np.eye(2), 0.0, -np.inf)
    model = hd.FactorGraph([2, 2], [([0, 1], same), ([0], [0, -np.inf]), ([1], [-np.inf, 0])])
    assert not possible_states(model).any()


def parity(n):
    """An even number of ones among n, each by itself free."""
    ones = np.indices((2,) * n).sum(axis=0)
    return np.where(ones % 2, -np.inf, 0.0)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_parity_freezes_all(n):
    model = hd.FactorGraph([2] * n, [(list(range(n)), parity(n))])
    x = start_state(model, stream_key(1))
    np.testing.assert_array_equal(reachable_states(model, x), np.eye(2, dtype=bool)[x])


def test_what_hangs_on_parity_is_free():
    """A soft neighbour of a frozen variable moves; so does one with a zero of its own."""
    some = np.array([[0.0, -np.inf, 0.0], [0.0, 0.0, 0.0]])
    factors = [([0, 1, 2], parity(3)), ([2, 3], np.zeros((2, 2))), ([2, 4], some)]
    model = hd.FactorGraph([2, 2, 2, 2, 3], factors)
    found = reachable_states(model, np.array([1, 1, 0, 0, 0]))
    assert found[:3].sum(axis=1).tolist() == [1, 1, 1] and found[3].tolist() == [True, True, False]
    assert found[4].tolist() == [True, False, True]


def test_halves_of_a_domain():
    """States 0 and 1 of both variables, or 2 and 3: each half is in reach of itself only."""
    half = np.arange(4) // 2
    model = hd.FactorGraph([4, 4], [([0, 1], np.where(half[:, None] == half, 0.0, -np.inf))])
    np.testing.assert_array_equal(reachable_states(model, np.array([3, 2])), [half == 1] * 2)


@examples(20)
@given(st.integers(1, 12), seeds)
def test_colourings_with_colours_to_spare_are_free(n, seed):
    """Five colours on a chain: nothing is out of reach."""
    differ = np.where(np.eye(5), -np.inf, 0.0)
    model = hd.FactorGraph([5] * (n + 1), [([i, i + 1], differ) for i in range(n)])
    assert reachable_states(model, start_state(model, stream_key(seed))).all()


def ties(n, k, possible):
    """A chain of n variables of k states; `possible` says which neighbours fit."""
    table = np.where(possible(*np.indices((k, k))), 0.0, -np.inf).ravel()
    scopes = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).ravel()
    return hd.FactorGraph.from_arrays([k] * n, 2 * np.arange(n), scopes, np.tile(table, n - 1))


@pytest.mark.parametrize(
    ("n", "possible", "share"),
    [
        (100, lambda a, b: np.abs(a - b) <= 1, 1.0),
        (200, lambda a, b: a != b, 1.0),
        (200, lambda a, b: b == (3 * a + 7) % 100, 0.01),  # each decides the next
    ],
)
def test_hundreds_of_variables_of_a_hundred_states(n, possible, share):
    """Starts are found, differ from each other, and what they can reach is known."""
    model = ties(n, 100, possible)
    starts = np.array([start_state(model, stream_key(0, chain, 3)) for chain in range(3)])
    assert (model.log_score(starts) == 0).all()
    for a, b in itertools.combinations(starts, 2):
        assert (a != b).mean() > 0.9
    assert reachable_states(model, starts[0]).mean() == share
