"""Intervals of states that a run visits a few times, or never."""

import warnings

import numpy as np
import pytest

import herded as hd
from herded.run.diagnostics.intervals import MIN_VISITS_FOR_SPREAD, open_states, rare_margins

P = np.exp(np.linspace(np.log(1e-5), np.log(1e-3), 300))  # of independent variables


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return hd.infer(*args, progress=False, **options)


def independent(p):
    tables = np.log(np.stack([1.0 - p, p], axis=1))
    return hd.FactorGraph([2] * len(p), [((i,), table) for i, table in enumerate(tables)])


@pytest.mark.parametrize(
    ("method", "sweeps"), [(hd.Gibbs(seed=5), 2500), (hd.Gibbs(herd=64, seed=5), 100)], ids=repr
)
def test_small_probabilities_are_covered(method, sweeps):
    """Ten visits or fewer of most: the spread of four runs alone held .4 to .9 of them."""
    run = quiet(independent(P), method, sweeps=sweeps, chains=4)
    low, high = run.interval[:, 1].T
    assert ((low <= P) & (high >= P)).mean() >= 0.93
    assert (low >= 0).all() and (high <= 0.01).all()
    np.testing.assert_allclose(run.interval[:, 0], 1.0 - run.interval[:, 1, ::-1], atol=1e-12)


def test_the_spread_alone_would_not_cover_them():
    run = quiet(independent(P), hd.Gibbs(seed=5), sweeps=2500, chains=4)
    reach = 3.1824 * run.standard_error[:, 1]
    assert (np.abs(run.marginals[:, 1] - P) <= reach).mean() < 0.8


def test_a_state_that_was_never_seen_is_not_excluded():
    reach = rare_margins(np.array([[1.0, 0.0]]), 10_000, np.full((1, 2), True))
    np.testing.assert_allclose(reach, 7.8e-4, rtol=0.02)
    assert reach[0, 0] == reach[0, 1]


def test_states_of_many_visits_have_the_spread_alone():
    share = (MIN_VISITS_FOR_SPREAD + 1) / 1000
    assert (rare_margins(np.array([[1 - share, share]]), 1000, np.full((1, 2), True)) == 0).all()


def test_what_is_known_or_impossible_stays_exact():
    either = np.array([[0.0, -np.inf], [0.0, 0.0]])
    model = hd.FactorGraph([2, 2, 3], [((0, 1), either), ((2,), [0.0, 0.0, -np.inf])]).given({0: 0})
    np.testing.assert_array_equal(
        open_states(model), [[False] * 3, [False] * 3, [True, True, False]]
    )
    run = quiet(model, hd.Gibbs(), sweeps=200, chains=4)
    np.testing.assert_array_equal(run.interval[0], [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(run.interval[1], [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(run.interval[2, 2], [0, 0])
