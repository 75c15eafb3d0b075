"""Every statement of the appendix on small models, and that each check can fail."""

import math

import numpy as np
import pytest

import herded as hd
from herded import theory
from herded.errors import MethodError, ModelError
from herded.theory import within_sweep_path
from tests.theory.small_graphs import COVERED, SMALL, coins, complete, each, ising

# -- the statements, checked against runs -----------------------------------------------------


@each(SMALL)
def test_lemma_1(model):
    check = theory.check_lemma1(model, 2000)
    assert check.holds and check.measured > 0.3, check


@pytest.mark.parametrize("k", [3, 5, 8])
def test_k_states_stay_within_k_minus_one(k):
    for seed in range(5):
        p = np.random.default_rng(seed).dirichlet(np.full(k, 0.5))
        check = theory.check_lemma1(hd.FactorGraph([k], [((0,), np.log(p))]), 3000)
        assert check.holds, check


@each({name: COVERED[name] for name in ("binary", "four", "hard zeros")})
def test_lemma_2(model):
    """Visits of Y after step i >= pi_min visits of X before it - |Y|, if F: X -> Y changes x_i."""
    rng, n = np.random.default_rng(0), model.n_variables
    pi, pi_min = theory.target(model), theory.constants(model).pi_min
    path = [tuple(x) for x in within_sweep_path(model, 400).tolist()]
    states = [tuple(x) for x in np.argwhere(pi > 0).tolist()]
    for _ in range(100):
        i, s = int(rng.integers(n)), int(rng.integers(200))
        X = [x for x in states if rng.random() < 0.6]
        Y = set()
        for x in X:
            options = [(*x[:i], v, *x[i + 1 :]) for v in range(2)]
            Y.add(options[int(rng.choice([v for v in range(2) if pi[options[v]] > 0]))])
        before = sum(path[k * n + i] in X for k in range(s, s + 200))
        after = sum(path[k * n + i + 1] in Y for k in range(s, s + 200))
        assert after >= pi_min * before - len(Y)


@each(COVERED)
def test_propositions_1_and_2(model):
    T = math.ceil(max(2 * theory.constants(model).T_star, 2000))
    path = within_sweep_path(model, T)
    assert theory.check_proposition1(model, path=path).holds
    for tau in (0, 10):
        T_star = math.ceil(theory.constants(model).T_star)
        for window in (T_star, T - 10):
            assert theory.check_proposition2(model, window, tau, path=path).holds


@each(COVERED)
def test_theorem_2_and_the_corollary(model):
    check = theory.check_theorem2(model)
    assert check.holds and check.bound <= 0.1, check
    corollary = theory.check_corollary(model)
    assert corollary.holds and corollary.bound < 0.2, corollary


@pytest.mark.parametrize("seed", range(4))
def test_theorem_2_from_every_tau_and_at_growing_lengths(seed):
    model = complete(seed, 3, 0.2)
    c = theory.constants(model)
    T = math.ceil(10 * c.lambda_)
    samples = within_sweep_path(model, 8 * T + 100)[3::3]
    for factor in (1, 2, 4, 8):
        start = math.ceil(c.tau_star(factor * T)) + 1
        for tau in (start, start + 1, start + 17):
            assert theory.check_theorem2(model, factor * T, tau, samples=samples).holds


def test_theorem_2_holds_on_sparse_graphs_with_full_weights():
    model = ising([(0, 1), (1, 2)], 3, 0.3)
    with pytest.raises(MethodError, match="complete graph"):
        theory.check_theorem2(model)
    for check in (theory.check_theorem2, theory.check_corollary, theory.check_proposition1):
        assert check(model, weights="full").holds


def test_gibbs_and_a_wrong_model_fail_theorem_2():
    """The bound is loose but not empty: 1 / sqrt(T) falls behind it."""
    model = complete(0, 2, 0.2)
    T = 400_000
    plain = hd.Gibbs(seed=1, scan="sequential")
    samples = hd.infer(model, plain, sweeps=T + 100, keep=[hd.Samples()]).samples[0]
    random = theory.check_theorem2(model, T, samples=samples)
    assert not random.holds and "FAILS" in str(random)
    assert not theory.check_corollary(model, T, samples=samples).holds
    herded = theory.check_theorem2(model, T)
    assert herded.holds and "holds" in str(herded)
    other = within_sweep_path(complete(9, 2, 0.2), T + 100)[2::2]
    assert not theory.check_theorem2(model, T, samples=other).holds


def test_broken_sequences_fail_the_other_checks():
    model = SMALL["binary"]
    c = theory.constants(model)
    T = math.ceil(3 * c.T_star)
    path = within_sweep_path(model, T)
    stuck = np.concatenate([path[: 3 * (T // 3)], np.tile(path[0], (2 * T, 1))])
    assert theory.check_proposition1(model, path=path).holds
    assert not theory.check_proposition1(model, path=stuck).holds
    plain = hd.infer(model, hd.Gibbs(scan="sequential"), sweeps=200_000, keep=[hd.Samples()])
    drawn = theory.path_of_samples(path[0], plain.samples[0])
    assert not theory.check_proposition2(model, 200_000, path=drawn).holds
    assert theory.check_proposition2(model, 200_000).holds
    assert not theory.check_lemma1(model, path=drawn[:3001]).holds


def test_bounds_that_say_nothing_are_refused():
    model = SMALL["binary"]
    with pytest.raises(MethodError, match="from which the bound holds"):
        theory.check_theorem2(model, 10)
    with pytest.raises(MethodError, match="weaker couplings"):
        theory.check_theorem2(complete(0, 5, 2.0))
    stairs = np.full((4, 4), -np.inf)  # irreducible, but far ends do not meet within a sweep
    stairs[np.arange(4), np.arange(4)] = stairs[np.arange(3), np.arange(1, 4)] = 0.0
    frozen = hd.FactorGraph([4, 4], [((0, 1), stairs)])
    assert theory.constants(frozen).eta == 1
    with pytest.raises(MethodError, match="Dobrushin"):
        theory.check_theorem2(frozen)
    assert theory.check_proposition1(frozen, 5000).holds


# -- Theorem 1 --------------------------------------------------------------------------------


def joint_error(model, T=20_000, **options):
    method = hd.HerdedGibbs(phases="half", **options)
    run = hd.infer(model, method, sweeps=T, keep=[hd.Joint()])
    return theory.total_variation(run.joint, theory.target(model)), run.joint


def test_fair_coins_lock():
    n = 5
    model = coins(*[0.5] * n)
    error, joint = joint_error(model)
    assert (joint > 0).sum() == 2 and error == pytest.approx(1 - 2 / 2**n)
    marginals = hd.infer(model, hd.HerdedGibbs(), sweeps=1000).marginals
    assert marginals == pytest.approx(0.5)
    warning = theory.warn_if_locked(model)
    assert warning is not None and "lockstep" in warning and "slack=1" in warning
    assert joint_error(model, slack=1.0)[0] < 0.05


def test_relations_and_what_they_do():
    assert theory.rational_dependence([math.sqrt(2) - 1, math.sqrt(3) - 1]) == []
    assert theory.warn_if_locked(coins(math.sqrt(2) - 1, math.sqrt(3) - 1)) is None
    assert joint_error(coins(math.sqrt(2) - 1, math.sqrt(3) - 1))[0] < 2e-3
    # pi_2 = 1 - 2 pi_1
    p = math.sqrt(2) / 5
    first = theory.rational_dependence([p, 1 - 2 * p])[0]
    assert (first.variables, first.coefficients, first.constant) == ((0, 1), (2, 1), -1)
    error, _ = joint_error(coins(p, 1 - 2 * p))
    assert error > 0.5 * first.bias > 0.02
    assert "0" in str(theory.warn_if_locked(coins(p, 1 - 2 * p)))
    # three together, though every two of them are independent
    a, b = math.sqrt(2) - 1, math.sqrt(3) - 1.2
    three = theory.rational_dependence([a, b, 1 - a / 2 - b / 2 + 0.0], 4)
    assert three[0].variables == (0, 1, 2)
    assert theory.rational_dependence([a, b, 1 - a / 2 - b / 2], 4, max_terms=2) == []


@pytest.mark.parametrize("pair", [(0.5, math.sqrt(2) - 1), (0.5, 1 / 3), (0.0, 0.5), (0.25, 0.6)])
def test_theorem_1_is_sufficient_not_necessary(pair):
    """Relations with bias 0 do no harm: 1/2 and 1/3 are dependent, and the joint is right."""
    relations = theory.rational_dependence(pair)
    assert all(r.bias == 0 for r in relations)
    with np.errstate(divide="ignore"):
        model = coins(*pair)
        assert theory.warn_if_locked(model) is None
        assert joint_error(model, 60_000)[0] < 1e-3


def test_nearly_locked_for_a_while():
    model = coins(0.4, 0.4 + 1e-6)
    assert theory.warn_if_locked(model) is None
    assert theory.warn_if_locked(model, sweeps=1000) is not None
    assert joint_error(model, 1000)[0] > 0.1


def test_locks_beyond_coins():
    three = np.log([0.2, 0.3, 0.5])
    same = hd.FactorGraph([3, 3], [((0,), three), ((1,), three)])
    assert "same distribution" in str(theory.warn_if_locked(same))
    assert theory.warn_if_locked(complete(0, 3)) is None
    assert "pi[2]" in str(theory.warn_if_locked(hd.FactorGraph([3, 2, 2], [((0,), three)])))
    with pytest.raises(ModelError, match="probabilities"):
        theory.rational_dependence([2.0])
    assert "pi[0] -1 pi[1]" in str(theory.warn_if_locked(coins(*[0.5] * 300)))
    with pytest.raises(ModelError, match="combinations"):
        theory.rational_dependence(np.full(300, 0.5))
