"""What a run says against itself: chains that disagree, and chains that hard zeros wall in."""

import itertools
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.constraints.start_states import dispersed_starts, start_state
from herded.run.diagnostics.chain_agreement import (
    DISAGREEMENT_TOLERANCE,
    FALSE_ALARMS,
    ONE_CHAIN,
    find_disagreement,
    most_spread,
)
from herded.run.diagnostics.confinement import find_confinement
from herded.run.diagnostics.variable_times import VariableTimes
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.numerics.counter_rng import stream_key
from tests.support.example_budget import examples
from tests.support.strategies import models

ZERO = -np.inf
EQUAL = np.array([[0.0, ZERO], [ZERO, 0.0]])
KEYS = [stream_key(seed) for seed in range(4)]


def double_well(n=30, coupling=2.0):
    """All spins alike, up or down: two modes that single moves hardly cross."""
    edges = list(itertools.combinations(range(n), 2))
    tables = coupling / n * 2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return hd.pairwise_model(np.zeros((n, 2)), edges, tables)


# -- chains that disagree -------------------------------------------------------------------------


def frequencies(*ones, sweeps=10_000):
    """Chains of one binary variable that was 1 in these shares of the sweeps."""
    p = np.array(ones)[:, None]
    return np.stack([1 - p, p], axis=2), sweeps


ONE = hd.FactorGraph([2], [])


def test_chains_that_agree_are_not_mentioned():
    for ones in ([0.5, 0.5], [0.5, 0.53], [0.0, 0.0, 0.0], [0.31, 0.33, 0.29, 0.35]):
        assert find_disagreement(ONE, *frequencies(*ones)) is None


def test_chains_that_differ_by_chance_are_not_mentioned():
    """Twelve sweeps of a coin may give any of these."""
    assert find_disagreement(ONE, *frequencies(0.3, 0.7, sweeps=12)) is None
    found = find_disagreement(ONE, *frequencies(0.3, 0.7, sweeps=1200))
    assert found.kind == DiagnosticKind.DISAGREEMENT and found.figures["sweeps"] == 1200


def test_one_chain_cannot_disagree_and_none_is_asked_before_the_first_sweep():
    assert find_disagreement(ONE, *frequencies(0.5)) is None
    assert find_disagreement(ONE, *frequencies(0.0, 1.0, sweeps=0)) is None


def test_the_sentence_names_the_variable_the_state_and_the_chains():
    model = hd.FactorGraph([2, 2], [], names=["rain", "sun"], state_names=[["no", "yes"]] * 2)
    found = np.full((3, 2, 2), 0.5)
    found[:, 1, 1] = [0.2, 0.9, 0.4]
    found[:, 1, 0] = 1 - found[:, 1, 1]
    diagnostic = find_disagreement(model, found, 10_000)
    assert diagnostic.variables == (1,) and diagnostic.figures["others"] == 0
    said = diagnostic.message
    assert re.search(r"variable 'sun' is '(yes|no)' with probability", said)
    assert "0.90 in chain 1 and 0.20 in chain 0" in said or "0.80 in chain 0" in said
    assert "others" not in said and "after 10000 sweeps" in said
    found[:, 0] = found[:, 1]
    assert "and 1 other disagrees too" in find_disagreement(model, found, 10_000).message


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.integers(1, 10**6))
def test_the_rule(ones, sweeps):
    """Beyond a tolerance of the mean, and beyond what independent draws explain."""
    p = np.array(ones)
    mean, spread = p.mean(), p.std(ddof=1)
    drawn = np.sqrt(mean * (1 - mean) / sweeps)
    bound = max(DISAGREEMENT_TOLERANCE * np.sqrt(len(p)), most_spread(len(p), 1) * drawn)
    if abs(spread - bound) > 1e-9:
        assert bool(find_disagreement(ONE, *frequencies(*ones, sweeps=sweeps))) == (spread > bound)


def test_chains_that_remember_their_states_may_differ_by_more():
    slow = VariableTimes(np.array([0]), np.array([50.0]), np.array([50.0]))
    found = frequencies(0.4, 0.6, 0.5, sweeps=1000)
    assert find_disagreement(ONE, *found).kind == DiagnosticKind.DISAGREEMENT
    assert find_disagreement(ONE, *found, times=slow) is None


@pytest.mark.parametrize("chains", [2, 3, 4])
def test_the_spread_of_many_variables_is_rarely_beyond_the_most(chains):
    rng = np.random.default_rng(chains)
    spreads = rng.normal(size=(chains, 2000, 1000)).std(axis=0, ddof=1).max(axis=1)
    assert (spreads > most_spread(chains, 1000)).mean() <= 2 * FALSE_ALARMS


@pytest.mark.parametrize("method", [hd.Gibbs(), hd.HerdedGibbs(weights="pooled", slack=4.0)])
def test_two_modes_are_seen_and_said(method):
    with pytest.warns(hd.HerdedWarning, match="the chains disagree: variable"):
        result = hd.infer(double_well(), method, sweeps=500, chains=4)
    assert "use exact inference" in result.warnings[0]
    assert [one.kind for one in result.diagnostics] == ["disagreement", "short run"]


def test_an_easy_model_is_not_doubted():
    model = hd.pairwise_model(np.zeros((10, 2)), [(i, i + 1) for i in range(9)], 0.1 * np.eye(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", hd.HerdedWarning)
        for method in (hd.Gibbs(), hd.HerdedGibbs()):
            assert hd.infer(model, method, sweeps=3000, chains=4).warnings == ()


def test_annealing_ends_in_one_mode_and_is_not_doubted():
    assert hd.infer(double_well(), hd.Gibbs(schedule="linear"), sweeps=50, chains=4).warnings == ()


# -- dispersed starts -----------------------------------------------------------------------------


@given(models(max_variables=6, max_states=4))
def test_starts_agree_with_the_evidence_and_lie_apart(model):
    starts = dispersed_starts(model, KEYS)
    for x in starts:
        assert np.isfinite(model.log_score(x))
        clamped = model.evidence >= 0
        assert (x[clamped] == model.evidence[clamped]).all()
    np.testing.assert_array_equal(starts[0], start_state(model, KEYS[0]))
    if not model.has_hard_zeros:
        free = model.evidence < 0
        assert (starts[1][free] == 0).all()
        assert (starts[2][free] == model.cardinalities[free] - 1).all()


def test_a_zero_elsewhere_does_not_bring_starts_together():
    """The variables that no zero touches still start at their extremes."""
    model = hd.FactorGraph([3] * 4 + [2, 2], [((4, 5), np.array([[0.0, 0.0], [0.0, ZERO]]))])
    starts = dispersed_starts(model, KEYS)
    assert (starts[1][:4] == 0).all() and (starts[2][:4] == 2).all()


def test_starts_under_zeros_differ_where_they_can():
    """Four walls with one state each: four chains, one behind each."""
    same = np.where(np.eye(4) > 0, 0.0, ZERO)
    model = hd.FactorGraph([4, 4], [((0, 1), same)])
    assert len({tuple(x) for x in dispersed_starts(model, KEYS)}) == 4
    only = hd.FactorGraph([4, 4], [((0, 1), same)]).given({0: 2})
    assert {tuple(x) for x in dispersed_starts(only, KEYS)} == {(2, 2)}


# -- chains that are walled in --------------------------------------------------------------------


def test_two_equal_variables_are_walled_in():
    model = hd.FactorGraph([2, 2], [((0, 1), EQUAL)])
    with pytest.warns(hd.HerdedWarning, match="this chain cannot reach every state"):
        result = hd.infer(model, hd.Gibbs(), sweeps=10)
    assert re.search(r"never set variable 0 to [01]; hard zeros tie 0, 1", result.warnings[0])
    with pytest.warns(hd.HerdedWarning, match="4 of 4 chains cannot reach"):
        hd.infer(model, hd.HerdedGibbs(), sweeps=10, chains=4)


def test_evidence_unties_them():
    model = hd.FactorGraph([2, 2], [((0, 1), EQUAL)]).given({0: 1})
    assert hd.infer(model, hd.Gibbs(), sweeps=10).diagnostics == (ONE_CHAIN,)


def test_names_and_states_are_said():
    names, states = ["sky", "ground"], [["dry", "wet"]] * 2
    model = hd.FactorGraph([2, 2], [((0, 1), EQUAL)], names=names, state_names=states)
    with pytest.warns(
        hd.HerdedWarning, match=r"variable 'sky' to '(dry|wet)'; hard zeros tie 'sky', 'g"
    ):
        hd.infer(model, hd.Gibbs(), sweeps=10)


def reachable(model, x):
    """All states that single moves lead to, each of positive probability, by brute force."""
    seen, queue = {tuple(x)}, [tuple(x)]
    while queue:
        now = queue.pop()
        for i, states in enumerate(model.cardinalities.tolist()):
            for k in range(states if model.evidence[i] < 0 else 0):
                then = (*now[:i], k, *now[i + 1 :])
                if then not in seen and model.log_score(np.array(then)) > -np.inf:
                    seen.add(then)
                    queue.append(then)
    return seen


@examples(80)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 0.7))
def test_what_is_said_is_true(seed, share):
    """Random hard models: a chain is called walled in if and only if it misses a possible state."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, 4)
    factors = []
    for scope in ((0, 1), (1, 2), (2, 3), (0, 3)):
        table = np.where(rng.random(cards[list(scope)]) < share, ZERO, 0.0)
        table[0, 0] = 0.0  # so that some state is possible
        factors.append((scope, table))
    model = hd.FactorGraph(cards, factors)
    x = start_state(model, stream_key(seed % 97))
    found = find_confinement(model, x[None])
    states = itertools.product(*(range(c) for c in cards))
    possible = {s for s in states if model.log_score(np.array(s)) > -np.inf}
    reached = reachable(model, x)
    assert (found is not None) == (possible != reached)
    if found is not None and found.kind == DiagnosticKind.CONFINEMENT:
        i, k = (int(found.figures[name]) for name in ("variable", "state"))
        assert f"never set variable {i} to {k}" in found.message
        assert any(s[i] == k for s in possible) and not any(s[i] == k for s in reached)


def test_a_permutation_walls_every_chain_in():
    """Four variables, all different, four values: no single move is possible."""
    apart = np.where(np.eye(4) > 0, ZERO, 0.0)
    model = hd.FactorGraph([4] * 4, [(s, apart) for s in itertools.combinations(range(4), 2)])
    with pytest.warns(hd.HerdedWarning, match="hard zeros tie 0, 1, 2 and 1 other"):
        hd.infer(model, hd.Gibbs(), sweeps=10, chains=2)


def test_a_lattice_is_never_walled_in():
    unary = np.zeros((3, 3, 2))
    unary[1, 1, 0] = ZERO
    model = hd.potts_grid(unary, 1.0)
    assert model.has_hard_zeros
    assert hd.infer(model, hd.Gibbs(), sweeps=200, chains=2).warnings == ()


# -- whatever is kept -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keep", [hd.Samples(every=50), hd.Joint(), hd.PairMarginals(), hd.BestState()]
)
@pytest.mark.parametrize("method", [hd.Gibbs(), hd.HerdedGibbs()])
def test_chains_that_disagree_are_told_whatever_is_kept(keep, method):
    """Eight variables that all want to be alike."""
    pairs = list(itertools.combinations(range(8), 2))
    model = hd.pairwise_model(np.zeros((8, 2)), pairs, 4.0 * np.eye(2))
    with pytest.warns(hd.HerdedWarning, match="the chains disagree"):
        result = hd.infer(model, method, sweeps=200, chains=3, keep=[keep])
    with pytest.raises(hd.NotKeptError):
        result.marginals  # noqa: B018 what was counted is for the warning alone


def test_one_chain_alone_says_so():
    """In the result, and not as a warning: whoever runs one chain knows it."""
    model = hd.FactorGraph([2, 2], [((0, 1), np.eye(2))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hd.infer(model, hd.Gibbs(), sweeps=10).diagnostics == (ONE_CHAIN,)
        assert hd.infer(model, hd.Gibbs(herd=4), sweeps=50).diagnostics == (ONE_CHAIN,)
        assert hd.infer(model, hd.Gibbs(), sweeps=400, chains=2).warnings == ()
        annealed = hd.Gibbs(schedule="linear")
        assert hd.infer(model, annealed, sweeps=10, keep=[hd.BestState()]).warnings == ()
        assert hd.infer(model, hd.Exact()).warnings == ()
