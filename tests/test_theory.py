"""Every statement of the appendix on small models, and that each check can fail."""

import itertools
import math

import numpy as np
import pytest
from naive import naive_joint

import herded as hd
from herded import theory
from herded.errors import MethodError, ModelError
from herded.theory.path import run_path


def complete(seed, n, scale=0.3, states=2):
    return theory.random_complete_graph(np.random.default_rng(seed), n, scale, states)


def ising(edges, n, J, seed=0):
    """A sparse model with couplings from -J to J."""
    rng = np.random.default_rng(seed)
    tables = np.array([[1.0, -1.0], [-1.0, 1.0]]) * rng.uniform(-J, J, len(edges))[:, None, None]
    return hd.pairwise(0.5 * rng.uniform(-1, 1, (n, 2)), edges, tables)


RING = [(i, (i + 1) % 8) for i in range(8)]
HARD = hd.FactorGraph(  # complete, and 3 of its 8 states are impossible; irreducible
    [2, 2, 2],
    [
        (
            (0, 1, 2),
            np.array([[[0.1, 0.3], [-0.2, -np.inf]], [[0.2, -np.inf], [0.4, -np.inf]]]),
        )
    ],
)
MIXED = hd.FactorGraph([2, 3, 2], [((0, 1, 2), np.random.default_rng(5).normal(size=(2, 3, 2)))])
SMALL = {
    "binary": complete(0, 3),
    "four": complete(1, 4),
    "ternary": complete(2, 3, states=3),
    "mixed": MIXED,
    "hard zeros": HARD,
    "sparse": ising([(0, 1), (1, 2), (2, 3)], 4, 1.0),
}
COVERED = {name: model for name, model in SMALL.items() if name != "sparse"}


def each(models):
    return pytest.mark.parametrize("model", list(models.values()), ids=list(models))


# -- Definition 1 and the path ----------------------------------------------------------------


@each(SMALL)
@pytest.mark.parametrize("weights", ["blanket", "full"])
def test_the_path_is_the_compiled_run(model, weights):
    path = theory.within_sweep_path(model, 300, weights=weights)
    method = hd.HerdedGibbs(scan="sequential", weights=weights)
    samples = hd.infer(model, method, sweeps=300, keep=[hd.Samples()]).samples[0]
    assert np.array_equal(path[model.n_variables :: model.n_variables], samples)
    assert np.array_equal(theory.path_of_samples(path[0], samples), path)


def test_random_phases_and_given_starts_too():
    model = SMALL["ternary"]
    path = theory.within_sweep_path(model, 200, phases="random", seed=3, state=[2, 0, 1])
    method = hd.HerdedGibbs(scan="sequential", phases="random", seed=3)
    run = hd.infer(model, method, sweeps=200, keep=[hd.Samples()], state=[2, 0, 1])
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
    path = [tuple(x) for x in run_path(model, 400).tolist()]
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
    path = run_path(model, T)
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


def test_theorem_2_on_random_complete_graphs():
    rows = theory.theorem2_table(24, seed=0)
    print("\n" + theory.format_rows(rows))
    assert len(rows) == 24 and {row.N for row in rows} == {3, 4, 5}
    for row in rows:
        assert row.holds and row.T_star <= row.T and row.bound <= 0.1
        assert 0 < row.measured * row.T < 20  # 1/T indeed, with a constant far below lambda
    assert len(theory.format_rows(rows).splitlines()) == 25


@pytest.mark.parametrize("seed", range(4))
def test_theorem_2_from_every_tau_and_at_growing_lengths(seed):
    model = complete(seed, 3, 0.2)
    c = theory.constants(model)
    T = math.ceil(10 * c.lambda_)
    samples = run_path(model, 8 * T + 100)[3::3]
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
    other = run_path(complete(9, 2, 0.2), T + 100)[2::2]
    assert not theory.check_theorem2(model, T, samples=other).holds


def test_broken_sequences_fail_the_other_checks():
    model = SMALL["binary"]
    c = theory.constants(model)
    T = math.ceil(3 * c.T_star)
    path = run_path(model, T)
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
    with pytest.raises(MethodError, match="where the bound begins"):
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


def coins(*probabilities):
    factors = [((i,), np.log([1 - p, p])) for i, p in enumerate(probabilities)]
    return hd.FactorGraph([2] * len(probabilities), factors)


def joint_error(model, T=20_000, **options):
    run = hd.infer(model, hd.HerdedGibbs(**options), sweeps=T, keep=[hd.Joint()])
    return theory.total_variation(run.joint, theory.target(model)), run.joint


def test_fair_coins_lock():
    n = 5
    model = coins(*[0.5] * n)
    error, joint = joint_error(model)
    assert (joint > 0).sum() == 2 and error == pytest.approx(1 - 2 / 2**n)
    marginals = hd.infer(model, sweeps=1000).marginals
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


# -- rotor-router -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_rotor_router_visits_the_same_states(seed):
    model = complete(seed, 2 + seed % 3, scale=1.0, states=2 + seed % 2)
    assert np.array_equal(theory.rotor_router(model, 400), theory.within_sweep_path(model, 400))


@each({"hard zeros": HARD, "mixed": MIXED, "fair coins": complete(0, 3, 0.0)})
def test_rotor_router_with_zeros_ties_and_cardinalities(model):
    walk = theory.rotor_router(model, 400)
    assert np.array_equal(walk, run_path(model, 400))


def test_rotor_router_needs_a_complete_graph():
    with pytest.raises(MethodError, match="complete graph"):
        theory.rotor_router(SMALL["sparse"], 10)


# -- the plateau of sparse graphs -------------------------------------------------------------


def test_no_plateau_is_predicted_or_found_on_complete_graphs():
    told = theory.plateau_predictor(complete(0, 5, 1.0), 5000)
    assert told.distance == told.floor == told.excess == 0
    found = theory.measured_plateau(complete(0, 5, 0.5), 2**17)
    assert found.slope < -0.8 and found.plateau < 1e-5


def test_independent_variables_predict_nothing():
    told = theory.plateau_predictor(coins(0.3, 0.6, 0.45, 0.2), 30_000)
    assert abs(told.excess) < 0.003 < 0.01 and told.floor > 0
    assert len(told.per_variable) == 4


def test_strong_sparse_couplings_are_told_from_weak():
    models = {"weak": ising(RING, 8, 0.1), "strong": ising(RING, 8, 1.0)}
    weak, strong = theory.plateau_table(models, 60_000, 2**17)
    print("\n" + theory.format_rows([weak, strong]))
    assert abs(weak.excess) < 0.002 and strong.excess > 0.008
    assert strong.plateau > 1e-4 and strong.plateau > 20 * weak.plateau
    assert weak.slope < -0.6 < strong.slope


def test_the_predictor_takes_more_states_and_hard_zeros():
    rng = np.random.default_rng(0)
    ring = hd.pairwise(
        np.zeros((5, 3)), [(i, (i + 1) % 5) for i in range(5)], 2 * rng.normal(size=(5, 3, 3))
    )
    assert theory.plateau_predictor(ring, 40_000).excess > 0.003
    assert "noise" in str(theory.plateau_predictor(HARD, 1000))
    assert "plateau" in str(theory.measured_plateau(HARD, 1024))
