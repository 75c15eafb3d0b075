"""Annealed herding: the twin's bits, the argmax at 0, and weights that no schedule can spoil."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.herded import VECTOR_ONE_INT, herd_scalar, herd_vector
from herded.errors import MethodError
from herded.methods.herded_gibbs import MAX_ANNEALED_STATES
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.samplers.algorithm_1 import naive_annealed_herded_gibbs
from tests.support.example_budget import examples
from tests.support.kernel_runs import advance
from tests.support.strategies import sampled_models, seeds

RULES = {"binary": (2, 2), "mixed": (1, 4)}
quick = examples(40)


def straight(sweep, total):
    return 1.0 - sweep / (total - 1) if total > 1 else 0.0


def cooling(sweep, total):
    return 4.0 / (1 + sweep) ** 2 if sweep % 5 else 0.0


def jumping(sweep, total):
    """From hot to frozen and back in every few sweeps."""
    return (0.0, 1e300, 0.05, 3.0, 1e-3, 0.3, 40.0)[sweep * sweep % 7]


SCHEDULES = {"linear": straight, cooling: cooling, jumping: jumping}


# -- the twin -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["lazy", "pooled"])
@pytest.mark.parametrize("rule", RULES)
@quick
@given(data=st.data())
def test_equal_to_the_naive_twin(rule, weights, data):
    """Any schedule, scan and phases, cut anywhere, over the first split of the pools."""
    model = data.draw(sampled_models(*RULES[rule]))
    scans = ("sequential", "checkerboard", "random") + ("jacobi",) * (not model.has_hard_zeros)
    options = {
        "scan": data.draw(st.sampled_from(scans)),
        "phases": data.draw(st.sampled_from(("half", "random"))),
        "seed": data.draw(st.integers(0, 3)),
    }
    chain = data.draw(st.integers(0, 1))
    sweeps = data.draw(st.sampled_from((1, 2, 15, 140)))
    schedule = data.draw(st.sampled_from(list(SCHEDULES)))
    x0 = start_state(model, stream_key(0, chain, 3))
    method = hd.HerdedGibbs(weights, schedule=schedule, **options)
    expected = naive_annealed_herded_gibbs(
        model, SCHEDULES[schedule], weights=weights, **options, chain=chain, x0=x0, sweeps=sweeps
    )
    found = advance(method, method.compile(model), x0, sweeps, chain, cuts=[sweeps // 3])
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("weights", ["lazy", "pooled"])
@quick
@given(model=sampled_models(1, 4), phases=st.sampled_from(("half", "random")), seed=seeds)
def test_at_temperature_1_it_is_herded_gibbs(weights, model, phases, seed):
    options = {"weights": weights, "phases": phases, "seed": seed}
    annealed = hd.HerdedGibbs(schedule=lambda sweep, total: 1, **options)
    plain = hd.HerdedGibbs(**options)
    keep = [hd.Samples(), hd.Marginals(rao_blackwell=True)]
    one = hd.infer(model, annealed, sweeps=60, chains=2, keep=keep)
    other = hd.infer(model, plain, sweeps=60, chains=2, keep=keep, layout="factor")
    np.testing.assert_array_equal(one.samples, other.samples)
    np.testing.assert_array_equal(one.marginals, other.marginals)


@quick
@given(model=sampled_models(1, 4), schedule=st.sampled_from(list(SCHEDULES)), seed=seeds)
def test_weights_of_algorithm_1_are_hashed(model, schedule, seed):
    """Nothing can be tabulated: "blanket" has the bits of "lazy"."""
    blanket, lazy = (
        hd.infer(
            model,
            hd.HerdedGibbs(weights, seed=seed, schedule=schedule),
            sweeps=40,
            chains=2,
            keep=[hd.Samples()],
        )
        for weights in ("blanket", "lazy")
    )
    np.testing.assert_array_equal(blanket.samples, lazy.samples)


# -- what it is for -----------------------------------------------------------------------------


@pytest.mark.parametrize("states", [2, 3])
def test_at_temperature_0_it_climbs(states):
    """Every visit takes a best state of its conditional, and no weight moves."""
    rng = np.random.default_rng(states)
    edges = [(i, i + 1) for i in range(11)]
    model = hd.pairwise_model(
        rng.normal(size=(12, states)), edges, rng.normal(size=(states, states))
    )
    method = hd.HerdedGibbs(schedule=lambda sweep, total: 0)
    layout, x0 = method.compile(model), rng.integers(0, states, 12)
    state = method.init(layout, x0, total=20)
    block, before = np.zeros((1, 12), np.uint8), np.array(x0)
    for _ in range(20):
        method.advance(layout, state, block)
        for i in range(12):
            choices = np.repeat(before[None], states, axis=0)
            choices[:, i] = range(states)
            assert block[0, i] == model.log_score(choices).argmax()
            before[i] = block[0, i]
    met = state.method_arrays["keys"] > 0
    again = state.copy()
    method.advance(layout, again, block)
    np.testing.assert_array_equal(again.method_arrays["w"], state.method_arrays["w"])
    assert met.sum() == state.method_arrays["filled"].sum() > 12


def test_equals_take_turns_at_temperature_0():
    """Where Gibbs sampling draws one of several best states, herding alternates."""
    model = hd.FactorGraph([2, 3], [((0,), [0.5, 0.5]), ((1,), [1.0, 0.0, 1.0])])
    method = hd.HerdedGibbs(schedule=lambda sweep, total: 0.0)
    samples = hd.infer(model, method, sweeps=300, keep=[hd.Samples()]).samples[0].astype(int)
    assert (np.bincount(samples[:, 0]) == 150).all()
    assert np.bincount(samples[:, 1]).tolist() == [150, 0, 150]


@pytest.mark.parametrize("weights", ["lazy", "pooled"])
def test_finds_the_best_of_chains(weights):
    rng = np.random.default_rng(1)
    model = hd.chain_model(2 * rng.normal(size=(80, 4)), rng.normal(size=(4, 4)), lengths=[8] * 10)
    method = hd.HerdedGibbs(weights, schedule="linear")
    found = hd.infer(model, method, sweeps=400, keep=[hd.BestState()]).best.log_score
    np.testing.assert_allclose(found, hd.infer(model, hd.Viterbi()).best.log_score)


@pytest.mark.parametrize("kind", ["table", "grid"])
def test_other_layouts_are_refused(kind):
    with pytest.raises(MethodError, match="expected a factor layout with a schedule"):
        hd.HerdedGibbs(schedule="linear").compile(hd.ising_grid(np.zeros((3, 3))), kind=kind)


# -- weights ------------------------------------------------------------------------------------


def most(states, j):
    """What j weights of a vector may sum to, at most."""
    return j * (states - j) / 2 * VECTOR_ONE_INT


def assert_bounded(w):
    largest_first = np.cumsum(np.sort(w.astype(np.int64))[::-1])
    assert largest_first[-1] == 0
    assert (largest_first <= most(len(w), np.arange(1, len(w) + 1))).all()


@pytest.mark.parametrize("states", [2, 3, 7, MAX_ANNEALED_STATES])
@examples(20)
@given(seed=seeds, few=st.booleans())
def test_weight_vectors_are_bounded_whatever_the_conditionals(states, seed, few):
    """Conditionals of random supports, rounded to whole numbers of sum 2^24, one after another."""
    rng = np.random.default_rng(seed)
    w = np.zeros(states, np.int32)
    for _ in range(60):
        support = rng.permutation(states)[: 2 if few else rng.integers(1, states + 1)]
        cuts = np.sort(rng.integers(0, VECTOR_ONE_INT + 1, len(support) - 1))
        p = np.zeros(states, np.int32)
        p[support] = np.diff(np.concatenate([[0], cuts, [VECTOR_ONE_INT]]))
        herd_vector(w, 0, p, 0, states)
        assert_bounded(w)


@pytest.mark.parametrize("states", [2, 8, 20])
def test_an_enemy_reaches_the_bound(states):
    """It makes the lower of the two nearest weights win by a hair: the bound is the best there is.

    So 32 bits do not do for any number of states: `MAX_ANNEALED_STATES` is no mere caution.
    """
    w = np.zeros(states, np.int32)
    for _ in range(states**3):
        order = np.argsort(-w, kind="stable")
        gaps = -np.diff(w[order].astype(np.int64))
        at = gaps.argmin()
        if gaps[at] >= VECTOR_ONE_INT - 2:
            break
        p = np.zeros(states, np.int32)
        p[order[at + 1]] = (VECTOR_ONE_INT + gaps[at]) // 2 + 1
        p[order[at]] = VECTOR_ONE_INT - p[order[at + 1]]
        assert herd_vector(w, 0, p, 0, states) == order[at + 1]
        assert_bounded(w)
    assert np.abs(w).max() > 0.999 * most(states, 1)


def test_the_most_states_do_not_overflow():
    """From the enemy's last position, a step apart each, any conditional leads back."""
    stairs = ((MAX_ANNEALED_STATES - 1) / 2 - np.arange(MAX_ANNEALED_STATES)) * VECTOR_ONE_INT
    for first in range(0, MAX_ANNEALED_STATES, 11):
        for states in (1, 2, MAX_ANNEALED_STATES - first):
            w, p = stairs.astype(np.int32), np.zeros(MAX_ANNEALED_STATES, np.int32)
            p[first : first + states] = VECTOR_ONE_INT // states
            p[first] += VECTOR_ONE_INT - p.sum()
            assert herd_vector(w, 0, p, 0, MAX_ANNEALED_STATES) == first
            expected = stairs + p
            expected[first] -= VECTOR_ONE_INT
            assert (w == expected).all()
            assert_bounded(w)


@given(seed=seeds)
@quick
def test_phases_never_leave_their_range(seed):
    rng = np.random.default_rng(seed)
    w = np.array([rng.integers(0, 2**31)], np.uint32)
    total, ones, start = 0, 0, int(w[0])
    for p in rng.choice([0, 1, 2**30, 2**31 - 1, 2**31, int(rng.integers(0, 2**31))], 200):
        ones += int(herd_scalar(w, 0, np.uint32(p)))
        total += int(p)
        assert w[0] < 2**31 and int(w[0]) == start + total - ones * 2**31


@pytest.mark.parametrize("weights", ["lazy", "pooled"])
@quick
@given(model=sampled_models(2, 5), schedule=st.sampled_from(list(SCHEDULES)), chain=st.booleans())
def test_runs_stay_within_the_bound(weights, model, schedule, chain):
    """Weights as a run leaves them, also where several contexts share one."""
    method = hd.HerdedGibbs(weights, schedule=schedule, max_weights=1)
    layout, x0 = method.compile(model), start_state(model, stream_key(0, 0, 3))
    state = advance(method, layout, x0, 300, chain=int(chain))[2]
    w = state.method_arrays["w"].astype(np.int64)
    if layout.scalar:
        assert (w < 2**31).all()
    else:
        assert np.abs(w).max(initial=0) <= most(layout.width, 1)


def test_more_states_than_weights_can_hold():
    wide = hd.FactorGraph(
        [MAX_ANNEALED_STATES + 1, 2], [((0, 1), np.zeros((MAX_ANNEALED_STATES + 1, 2)))]
    )
    with pytest.raises(MethodError, match=r"at most 254 states.*got 255: use Gibbs\(schedule="):
        hd.infer(wide, hd.HerdedGibbs(schedule="linear"), sweeps=1)
    assert hd.infer(wide.given({0: 254}), hd.HerdedGibbs(schedule="linear"), sweeps=1).sweeps == 1
    just = hd.FactorGraph([MAX_ANNEALED_STATES], [((0,), np.zeros(MAX_ANNEALED_STATES))])
    assert hd.infer(just, hd.HerdedGibbs(schedule="linear"), sweeps=1).sweeps == 1
