"""The lemmas of Bornn et al. (2013) and of the fixed-point rules, as exact statements.

Whole numbers, every prefix, no tolerance: the scalar rule counts in units of 2^-31, the vector
rule in units of 2^-24.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.herded import herd_scalar, herd_vector
from herded.draws.herded_weights import start_vector
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.integer_conditionals import SCALAR, WEIGHT
from tests.conformance.twins.plain_model import Naive
from tests.support.example_budget import examples
from tests.support.kernel_runs import advance
from tests.support.strategies import distributions, sampled_models, seeds

HALF = 2**30 - 1

lax = examples(60)
few = examples(20)

probabilities = st.one_of(
    st.sampled_from((0, 1, 2, 2**30 - 1, 2**30, 2**30 + 1, SCALAR - 1, SCALAR)),
    st.integers(0, SCALAR),
)
phases = st.one_of(st.sampled_from((0, HALF, SCALAR - 1)), st.integers(0, SCALAR - 1))


def scalar_path(p, phase, T):
    """States of one variable, and the phase after each."""
    w = np.array([phase], np.uint32)
    states, after = [], []
    for _ in range(T):
        states.append(int(herd_scalar(w, 0, np.uint32(p))))
        after.append(int(w[0]))
    return states, after


# -- Lemma 1 ------------------------------------------------------------------------------------


@lax
@given(p=probabilities, phase=phases)
def test_lemma_1(p, phase):
    """Ones within 1 of T pi and zeros within 1 of T (1 - pi), in every window, with no tolerance.

    More than that: the count is the carry of a rotation, floor(phi_0 + T pi) (appendix, eq. 10).
    """
    states, after = scalar_path(p, phase, 200)
    ones = np.concatenate([[0], np.cumsum(states)])
    T = np.arange(201)
    excess = ones * SCALAR - T * p  # exact: well below 2^63
    assert excess.max() - excess.min() <= SCALAR  # any window is a difference of two prefixes
    zeros = (T - ones) * SCALAR - T * (SCALAR - p)
    assert zeros.max() - zeros.min() <= SCALAR
    assert (ones == (phase + T * p) >> 31).all()
    assert all(0 <= phi < SCALAR for phi in after)  # the invariant interval


def test_certain_states_stay_certain():
    """pi = 0 and pi = 1 are exact from every phase, also the extreme ones."""
    for phase in (0, 1, HALF, SCALAR - 1):
        assert set(scalar_path(0, phase, 100)[0]) == {0}
        assert set(scalar_path(SCALAR, phase, 100)[0]) == {1}


def test_lemma_1_in_a_long_run():
    """Every prefix of 300,000 sweeps: nothing drifts."""
    fields = np.random.default_rng(0).normal(size=6) * 3
    model = hd.pairwise_model(np.stack([-fields, fields], axis=1), [], [])
    method = hd.HerdedGibbs()
    layout = method.compile(model)
    samples, *_ = advance(method, layout, np.zeros(6, int), 300_000)
    ones = np.cumsum(samples, axis=0, dtype=np.int64)
    T = np.arange(1, len(samples) + 1)[:, None]
    excess = ones * SCALAR - T * layout.arrays.p.astype(np.int64)
    assert np.abs(excess).max() <= SCALAR


def visits(model, samples, x0, order):
    """(i, neighbours' states, new state) of every visit of a sequential run, from its samples."""
    plain, x = Naive(model, vector=False), [int(k) for k in x0]
    for sample in samples:
        for i in order:
            if i in plain.free:
                x[i] = int(sample[i])
                yield plain, i, plain.around(i, x), x
        assert x == sample.tolist()


@few
@given(model=sampled_models(2, 2), seed=st.integers(0, 5), random=st.booleans())
def test_lemma_1_for_every_weight_of_a_sampler(model, seed, random):
    """Algorithm 1 on any graph: each (variable, neighbours' states) obeys Lemma 1 by itself."""
    method = hd.HerdedGibbs(phases="random" if random else "half", seed=seed)
    x0 = start_state(model, stream_key(seed, 0, 3))
    samples, *_ = advance(method, method.compile(model, kind="table"), x0, 60)
    excess = {}
    for plain, i, around, x in visits(model, samples, x0, range(model.n_variables)):
        p = plain.conditional(i, x)
        excess[i, around] = excess.get((i, around), 0) + x[i] * SCALAR - p
        assert abs(excess[i, around]) <= SCALAR


# -- Lemma 2 ------------------------------------------------------------------------------------


@few
@given(seed=seeds, data=st.data())
def test_lemma_2(seed, data):
    """On complete graphs: visits of Y at step i >= pi_min * visits of X at step i - 1, - |Y|.

    For any set X, any map F of X that changes x_i only, Y = F(X), and any window of sweeps.
    """
    rng = np.random.default_rng(seed)
    n, sweeps = 4, 80
    tables = [(pair, rng.uniform(-1, 1, (2, 2))) for pair in itertools.combinations(range(n), 2)]
    model, x0 = hd.FactorGraph([2] * n, tables), rng.integers(0, 2, n)
    method = hd.HerdedGibbs(phases="random", seed=seed)
    samples, *_ = advance(method, method.compile(model), x0, sweeps)
    step = [tuple(x0.tolist())]  # step[k * n + i + 1]: after variable i in sweep k
    for sample in samples:
        for i in range(n):
            step.append((*step[-1][:i], int(sample[i]), *step[-1][i + 1 :]))
    plain = Naive(model, vector=False)
    ones = [plain.conditional(i, x) for i in range(n) for x in itertools.product((0, 1), repeat=n)]
    least = min(min(p, SCALAR - p) for p in ones)
    for _ in range(20):
        i = int(rng.integers(n))
        X = [x for x in itertools.product((0, 1), repeat=n) if rng.random() < 0.4]
        F = {x: (*x[:i], int(rng.integers(2)), *x[i + 1 :]) for x in X}
        Y = set(F.values())
        first = int(rng.integers(0, sweeps))
        T = int(rng.integers(1, sweeps - first + 1))
        before = sum(step[k * n + i] in F for k in range(first, first + T))
        after = sum(step[k * n + i + 1] in Y for k in range(first, first + T))
        assert after * SCALAR >= least * before - len(Y) * SCALAR


# -- the vector rule ----------------------------------------------------------------------------


@lax
@given(p=distributions(), random=st.booleans(), key=st.integers(0, 2**63))
def test_vector_weights_stay_in_their_interval(p, random, key):
    """The sum never changes, impossible states never win, and no weight leaves its bounds.

    The winner has at least the mean of the possible states, (1 + S) / n after p is added, where S
    is their sum: so it ends above (1 + S) / n - 1, and the others, whose sum is S, below the rest.
    """
    states = len(p)
    w = np.zeros(states, np.int32)
    start_vector(w, 0, states, random, np.uint64(key), np.uint64(7))
    assert w.sum() == 0
    possible = p > 0
    first, total, n = w.astype(np.int64), int(w[possible].sum()), int(possible.sum())
    low = min(int(first[possible].min()), -(-(WEIGHT + total) // n) - WEIGHT)
    high = max(int(first[possible].max()), total - (n - 1) * low)
    counts = np.zeros(states, np.int64)
    for t in range(1, 150):
        x = herd_vector(w, 0, p, 0, states)
        counts[x] += 1
        assert possible[x] and w.sum() == 0
        assert (w[~possible] == first[~possible]).all()
        assert low <= w[possible].min() and w[possible].max() <= high
        assert (first + t * p.astype(np.int64) - counts * WEIGHT == w).all()  # no drift


@lax
@given(p=st.integers(0, WEIGHT))
def test_two_states_are_the_scalar_rule(p):
    """K = 2 from rest: the vector rule is the scalar rule, where p is a multiple of 2^-24."""
    w = np.zeros(2, np.int32)
    both = np.array([WEIGHT - p, p], np.int32)
    found = [int(herd_vector(w, 0, both, 0, 2)) for _ in range(300)]
    assert found == scalar_path(p * 2**7, HALF, 300)[0]


@lax
@given(p=distributions(5).filter(lambda p: len(p) > 1), T=st.integers(1, 400))
def test_herding_frequencies(p, T):
    """herding(p, T), every prefix: counts within K - 1 of T p; zeros never occur."""
    states = hd.herd_distribution(p / WEIGHT, T)
    counts = np.cumsum(states[:, None] == np.arange(len(p)), axis=0)
    gap = np.abs(counts - np.arange(1, T + 1)[:, None] * (p / WEIGHT))
    assert gap.max() <= len(p) - 1 + T * 2.0**-24  # p is rounded to the quantum
    assert (counts[-1][p == 0] == 0).all()


# -- phase locking ------------------------------------------------------------------------------


def coins(n):
    return hd.pairwise_model(np.zeros((n, 2)), [], [])


@pytest.mark.parametrize("n", [1, 3, 6])
def test_fair_coins_lock(n):
    """Theorem 1 needs rationally independent probabilities: fair coins visit 2 of 2^n states.

    Every marginal is exact, so that nothing but the joint can tell.
    """
    method = hd.HerdedGibbs()
    samples, *_ = advance(method, method.compile(coins(n)), np.zeros(n, int), 1000)
    assert len(np.unique(samples, axis=0)) == 2
    assert (samples.sum(axis=0) == 500).all()


def test_slack_unlocks_fair_coins():
    """With slack = 1 all states are visited as often as they should, marginals still at 1 / T.

    5 coins, T = 4096: independent draws would have a total variation of 0.035 on average, with a
    standard deviation of 0.005; locked coins have 0.94.
    """
    n, T = 5, 4096
    method = hd.HerdedGibbs(slack=1.0)
    samples, *_ = advance(method, method.compile(coins(n)), np.zeros(n, int), T)
    counts = np.bincount(samples.astype(int) @ (1 << np.arange(n)), minlength=2**n)
    assert 0.5 * np.abs(counts / T - 2.0**-n).sum() < 0.035 + 4 * 0.005
    assert np.abs(samples.sum(axis=0) - T / 2).max() <= 2.0


# -- moment herding -----------------------------------------------------------------------------


@few
@given(moments=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=4))
def test_moments_of_a_cube(moments):
    """Equation (1) over {0, 1}^d herds each coordinate by itself: within 1 / T, at every T."""
    T = 2000
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=len(moments))))
    rows = hd.herd_moments(corners, moments, T)
    gap = np.cumsum(corners[rows] - moments, axis=0)
    assert np.abs(gap).max() <= 1.0 + 1e-9


def test_moment_error_falls_as_one_over_t():
    """Any features, moments inside their hull: T times the error has one bound for all T.

    By the perceptron cycling theorem w stays bounded: it is no longer after 50,000 than after
    5,000 steps, where draws would have made it three times as long.
    """
    rng = np.random.default_rng(2)
    for _ in range(5):
        phi = rng.normal(size=(12, 3))
        mu = rng.dirichlet(np.full(12, 3.0)) @ phi
        rows = hd.herd_moments(phi, mu, 50_000)
        gap = np.linalg.norm(np.cumsum(phi[rows] - mu, axis=0), axis=1)
        assert gap[5000:].max() <= 1.1 * gap[:5000].max()
        drawn = np.linalg.norm(np.cumsum(phi[rng.integers(0, 12, 50_000)] - phi.mean(0), 0), axis=1)
        assert drawn.max() > 5 * gap.max()  # the statement can fail
