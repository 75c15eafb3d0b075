"""What the appendix defines, on small models: paths, kernels, constants, plateaus."""

import itertools
import math

import numpy as np
import pytest

import herded as hd
from herded import theory
from herded.errors import MethodError, ModelError
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.samplers.algorithm_1 import naive_herded_gibbs
from tests.theory.small_graphs import HARD, SMALL, coins, complete, each

# -- Definition 1 and the path ----------------------------------------------------------------


@each(SMALL)
@pytest.mark.parametrize("weights", ["blanket", "full"])
def test_the_path_is_that_of_the_twin(model, weights):
    path = theory.within_sweep_path(model, 100, weights=weights)
    x = path[0].tolist()
    steps = [list(x)]

    def visited(i, context, p, value, weight):
        x[i] = value
        steps.append(list(x))

    told = {"weights": weights, "phases": "half", "x0": path[0], "sweeps": 100}
    naive_herded_gibbs(model, **told, callback=visited)
    assert path.tolist() == steps
    n = model.n_variables
    assert np.array_equal(theory.path_of_samples(path[0], path[n::n]), path)


def test_random_phases_and_given_starts_too():
    model = SMALL["ternary"]
    path = theory.within_sweep_path(model, 200, phases="random", seed=3, state=[2, 0, 1])
    method = hd.HerdedGibbs(scan="sequential", phases="random", seed=3)
    run = hd.infer(model, method, sweeps=200, keep=[hd.Samples()], start=[2, 0, 1])
    assert np.array_equal(path[3::3], run.samples[0])


@each(SMALL)
def test_definition_1(model):
    cards, n = model.cardinalities, model.n_variables
    path = theory.within_sweep_path(model, 60)
    for tau, T, i in ((0, 60, 0), (3, 20, 0), (7, 11, 1), (0, 60, n)):
        naive = np.zeros(tuple(cards))
        for k in range(tau, tau + T):
            naive[tuple(path[k * n + i])] += 1 / T
        assert theory.empirical_within(path, cards, i, tau, T) == pytest.approx(naive)
    ends = path[n::n]
    # P_T^(tau) = P_T,0^(tau) = P_T,N^(tau-1)
    first = theory.empirical(ends, cards, 4, 30)
    assert np.array_equal(first, theory.empirical_within(path, cards, 0, 4, 30))
    assert np.array_equal(first, theory.empirical_within(path, cards, n, 3, 30))
    assert np.array_equal(first, theory.empirical(path[::n], cards, 4, 30, first=0))


def test_windows_that_are_not_there():
    path = theory.within_sweep_path(HARD, 5)
    with pytest.raises(ModelError, match="window within"):
        theory.empirical(path[3::3], HARD.cardinalities, 0, 2)
    with pytest.raises(ModelError, match="window within"):
        theory.empirical_within(path, HARD.cardinalities, 1, 2, 4)
    with pytest.raises(ModelError, match="step of the sweep"):
        theory.empirical_within(path, HARD.cardinalities, 4, 0, 1)
    with pytest.raises(ModelError, match="sweeps or more"):
        theory.herded_kernel(path, HARD.cardinalities, 0, 0, 6)


def test_total_variation():
    assert theory.total_variation([1, 0], [0, 1]) == 1.0
    assert theory.total_variation([[0.5, 0.5]], [[0.25, 0.75]]) == 0.25
    with pytest.raises(ModelError, match="one shape"):
        theory.total_variation([1, 0], [[1, 0]])


# -- kernels ----------------------------------------------------------------------------------


@each(SMALL)
def test_gibbs_kernels(model):
    pi = naive_joint(model)
    assert theory.target(model) == pytest.approx(pi)
    states = list(itertools.product(*(range(k) for k in model.cardinalities)))
    for i in range(model.n_variables):
        T = theory.gibbs_kernel(model, i)
        assert T.sum(axis=1) == pytest.approx(1)
        assert pi.ravel() @ T == pytest.approx(pi.ravel())
        for a, x in enumerate(states):
            for b, y in enumerate(states):
                same = x[:i] + x[i + 1 :] == y[:i] + y[i + 1 :]
                mass = pi[tuple(slice(None) if j == i else x[j] for j in range(len(x)))].sum()
                if not same:
                    assert T[a, b] == 0
                elif mass > 0:
                    assert T[a, b] == pytest.approx(pi[y] / mass)
                else:
                    assert T[a, b] == pytest.approx(1 / model.cardinalities[i])
    sweep = theory.gibbs_sweep_kernel(model)
    assert pi.ravel() @ sweep == pytest.approx(pi.ravel())
    back = theory.gibbs_sweep_kernel(model, order=range(model.n_variables)[::-1])
    # T_i are reversible: the backward sweep is the time reversal of the forward one
    assert pi.reshape(-1, 1) * sweep == pytest.approx((pi.reshape(-1, 1) * back).T)


@each(SMALL)
def test_dobrushin_contracts(model):
    T, pi = theory.gibbs_sweep_kernel(model), theory.target(model).ravel()
    inside = theory.support(model)
    eta = theory.dobrushin(T, inside)
    assert 0 <= eta <= 1
    pairs = itertools.combinations(np.flatnonzero(inside.ravel()), 2)
    assert eta == pytest.approx(max(theory.total_variation(T[a], T[b]) for a, b in pairs))
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.dirichlet(np.full(len(pi), 0.3)) * inside.ravel()
        p /= p.sum()
        before = theory.total_variation(p, pi)
        assert theory.total_variation(p @ T, pi) <= eta * before + 1e-12


def test_dobrushin_of_the_extremes():
    assert theory.dobrushin(np.eye(3)) == 1
    assert theory.dobrushin(np.full((4, 4), 0.25)) == 0
    with pytest.raises(ModelError, match="square"):
        theory.dobrushin(np.ones((2, 3)))


@each(SMALL)
@pytest.mark.parametrize(("tau", "T"), [(0, 40), (5, 200)])
def test_herded_kernels_carry_the_empirical_distribution(model, tau, T):
    """P_T,i = P_T,i-1 T~_i and P^(tau+1) = P^(tau) T~, on any graph."""
    cards, n = model.cardinalities, model.n_variables
    path = theory.within_sweep_path(model, tau + T + 1)
    for i in range(n):
        before = theory.empirical_within(path, cards, i, tau, T).ravel()
        after = theory.empirical_within(path, cards, i + 1, tau, T).ravel()
        kernel = theory.herded_kernel(path, cards, i, tau, T)
        assert kernel.sum(axis=1) == pytest.approx(1)
        assert before @ kernel == pytest.approx(after)
    now = theory.empirical_within(path, cards, 0, tau, T).ravel()
    following = theory.empirical_within(path, cards, 0, tau + 1, T).ravel()
    for known in (None, model):
        sweep = theory.herded_sweep_kernel(path, cards, tau, T, model=known)
        assert now @ sweep == pytest.approx(following)


def test_states_beyond_any_float_are_told(recwarn):
    with pytest.raises(MethodError, match=r"joint states, .* got 2\^1600: use a smaller model"):
        hd.theory.gibbs_kernel(hd.ising_grid(np.zeros((40, 40))), 0)
    assert not recwarn.list


def test_too_large_is_said():
    large = hd.FactorGraph([2] * 12, [])
    with pytest.raises(MethodError, match="at most 2048 joint states"):
        theory.gibbs_kernel(large, 0)
    with pytest.raises(MethodError, match="without evidence"):
        theory.constants(HARD.given({0: 1}))


# -- constants --------------------------------------------------------------------------------


def test_constants_by_hand():
    """Two coins on a complete graph without interaction: eta = 0, everything in closed form."""
    q = 0.3
    tables = [((0,), np.log([1 - q, q])), ((1,), np.log([0.5, 0.5])), ((0, 1), np.zeros((2, 2)))]
    c = theory.constants(hd.FactorGraph([2, 2], tables))
    assert (c.N, c.t_star) == (2, 2) and c.pi_min == pytest.approx(q)
    assert c.l == pytest.approx(q**2) and c.eta == pytest.approx(0, abs=1e-12)
    assert pytest.approx(q**2 + 1 + 2 * q) == c.B  # tau* l + pi^0 2^0 + pi^1 2^1
    assert c.lambda_ == pytest.approx(4 / q**2) and c.T_star == pytest.approx(2 * c.B / c.l)
    assert c.tau_star(1000) == pytest.approx(math.log2(q**2 * 1000 / 8))
    assert c.bound(1000) == pytest.approx(c.lambda_ / 1000)
    assert c.corollary_bound(1000) == pytest.approx((c.lambda_ + c.tau_star(1000)) / 1000)
    assert c.kernel_bound(1000) == pytest.approx(8 / (c.l * 1000))


def naive_t_star(model):
    """Smallest t for which every product of t kernels is positive on the support."""
    inside = theory.support(model).ravel()
    steps = [theory.gibbs_kernel(model, i) > 0 for i in range(model.n_variables)]
    for t in range(1, 40):
        reached = []
        for end in range(len(steps)):
            product = np.eye(len(inside))
            for back in range(t):
                product = (steps[(end - back) % len(steps)] @ product) > 0
            reached.append(product[np.ix_(inside, inside)].all())
        if all(reached):
            return t
    raise AssertionError


@each(SMALL)
def test_t_star(model):
    c = theory.constants(model)
    assert c.t_star == naive_t_star(model)
    if not model.has_hard_zeros:
        assert c.t_star == model.n_variables
    else:
        assert c.t_star > model.n_variables


def test_reducible_models_are_refused():
    xor = hd.FactorGraph([2, 2], [((0, 1), np.array([[0.0, -np.inf], [-np.inf, 0.0]]))])
    with pytest.raises(MethodError, match="irreducible"):
        theory.constants(xor)


# -- the plateau of sparse graphs -------------------------------------------------------------


def test_no_plateau_is_predicted_on_complete_graphs():
    told = theory.plateau_predictor(complete(0, 5, 1.0), 5000)
    assert told.distance == told.floor == told.excess == 0


def test_independent_variables_predict_nothing():
    told = theory.plateau_predictor(coins(0.3, 0.6, 0.45, 0.2), 30_000)
    assert abs(told.excess) < 0.003 < 0.01 and told.floor > 0
    assert len(told.per_variable) == 4


def test_the_predictor_takes_more_states_and_hard_zeros():
    rng = np.random.default_rng(0)
    ring = hd.pairwise_model(
        np.zeros((5, 3)), [(i, (i + 1) % 5) for i in range(5)], 2 * rng.normal(size=(5, 3, 3))
    )
    assert theory.plateau_predictor(ring, 40_000).excess > 0.003
    assert "noise" in str(theory.plateau_predictor(HARD, 1000))
