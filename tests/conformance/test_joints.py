"""Every sampler against the enumerated joint of small models: joints, not only marginals.

Complete graphs have a bound (theorem 2); it is tested in the sharp form that Lemma 1 gives, with
no tolerance. Sparse graphs have no proof: there samplers are measured against draws.
"""

import functools
import itertools

import numpy as np
import pytest

import herded as hd
from herded.layouts.general.context_weights import WEIGHT_MODES
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.support.kernel_runs import advance

POINTS = np.array([1_000, 3_162, 10_000, 31_623, 100_000])
SHORTER = POINTS[:-1]  # enough for a power of T
COMPLETE = [(4, 2), (6, 2), (4, 3)]  # variables, states
SEEDS = range(4)


@functools.cache
def complete(seed, n, k, scale=0.5):
    """All pairs coupled, log-potentials uniform on (-scale, scale)."""
    rng = np.random.default_rng(seed)
    pairs = [(e, rng.uniform(-scale, scale, (k, k))) for e in itertools.combinations(range(n), 2)]
    return hd.FactorGraph(
        [k] * n, pairs + [((i,), rng.uniform(-scale, scale, k)) for i in range(n)]
    )


@functools.cache
def sparse(seed, name):
    """Six binary variables: a ring, a chain, a 2 x 3 grid with any couplings or with equal ones."""
    rng = np.random.default_rng(seed)
    if name in ("grid", "even grid"):
        pair = (rng.uniform(-0.5, 0.5, (2, 2)), rng.uniform(-0.5, 0.5, (1, 3)))
        return hd.ising_grid(rng.uniform(-0.5, 0.5, (2, 3)), pair if name == "grid" else 0.3)
    edges = [(i, (i + 1) % 6) for i in range(6 if name == "ring" else 5)]
    tables = rng.uniform(-0.5, 0.5, (len(edges), 2, 2))
    return hd.pairwise_model(rng.uniform(-0.5, 0.5, (6, 2)), edges, tables)


@functools.cache
def joint_of(model):
    return naive_joint(model)


@functools.cache
def run_of(model, method, sweeps):
    """The numbers of the states of a run, which several tests look at."""
    samples = hd.infer(model, method, sweeps=sweeps, keep=[hd.Samples()]).samples[0]
    places = np.cumprod([1, *joint_of(model).shape[:0:-1]])[::-1]
    return samples @ places.astype(np.uint16)


def total_variations(model, method, points):
    """d_v(P_T, pi) for T in `points`, from one run."""
    states, pi = run_of(model, method, int(max(points))), joint_of(model)
    counts = [np.bincount(states[:T], minlength=pi.size) / T for T in points]
    return np.array([0.5 * np.abs(found - pi.ravel()).sum() for found in counts])


def drawn_variation(model, T):
    """The mean d_v of T independent draws: sqrt(2 / pi) of a standard deviation for each state."""
    pi = joint_of(model)
    return 0.5 * np.sqrt(2 / np.pi * pi * (1 - pi) / T).sum()


def slope(points, errors):
    return np.polyfit(np.log(points), np.log(errors), 1)[0]


# -- what is proved -----------------------------------------------------------------------------


@functools.cache
def sweep_contraction(model):
    """Dobrushin's coefficient eta of a sweep's kernel: the largest distance of two of its rows."""
    pi = joint_of(model)
    kernel = np.eye(pi.size)
    for i in range(pi.ndim):
        total = pi.sum(axis=i, keepdims=True)
        conditional = np.divide(pi, total, out=np.zeros_like(pi), where=total > 0)
        step = np.zeros((pi.size, pi.size))
        for y in np.ndindex(*pi.shape):
            for k in range(pi.shape[i]):
                x = (*y[:i], k, *y[i + 1 :])
                step[np.ravel_multi_index(x, pi.shape), np.ravel_multi_index(y, pi.shape)] = (
                    conditional[y]
                )
        kernel = kernel @ step
    rows = kernel[pi.ravel() > 0]
    return max(0.5 * np.abs(rows - row).sum(axis=1).max() for row in rows)


def proved_bound(model, slack=0.0):
    """C with d_v(P_T, pi) <= C / T for all T where each weight belongs to one full context.

    With A the sum over variables of (contexts times the most misplaced visits of one context), a
    sweep carries P_0 (the states before) to P_N = P_0 K + e, |e| <= A / T; P_0 and P_N differ in
    one state of T; and K contracts by eta. Hence d <= (A + eta) / (1 - eta) / T. A context of K
    states misplaces at most K - 1 visits (Lemma 1 for K = 2), or 1 + slack (two states).
    """
    pi = joint_of(model)
    assert slack == 0 or max(pi.shape) == 2
    misplaced = sum(
        int((pi.sum(axis=i) > 0).sum()) * (pi.shape[i] - 1 + slack) for i in range(pi.ndim)
    )
    eta = sweep_contraction(model)
    assert eta < 0.9  # or the bound would say little
    return (misplaced + eta) / (1 - eta)


@pytest.mark.parametrize(("n", "k"), COMPLETE)
@pytest.mark.parametrize("weights", ["blanket", "lazy", "full"])
def test_complete_graphs_keep_the_proved_bound(weights, n, k):
    """Theorem 2, with no burn-in and no tolerance, at 60 lengths of the run."""
    T = np.unique(np.geomspace(1, SHORTER[-1], 60).round().astype(int))
    for seed in SEEDS[:2]:
        model = complete(seed, n, k)
        bound = proved_bound(model)
        for phases in ("half", "random"):
            found = total_variations(model, hd.HerdedGibbs(weights, phases=phases), T)
            assert (found * T <= bound).all()


@pytest.mark.parametrize("n", [4, 5, 6])
def test_slack_keeps_its_bound(n):
    """The same with slack = 1: two visits of a context may be misplaced, not one."""
    T = np.unique(np.geomspace(1, SHORTER[-1], 60).round().astype(int))
    model = complete(0, n, 2)
    found = total_variations(model, hd.HerdedGibbs(slack=1.0), T)
    assert (found * T <= proved_bound(model, slack=1.0)).all()


def mixed():
    """Cardinalities 2, 3, 2, not all coupled, with an impossible pair."""
    rng = np.random.default_rng(8)
    first, second = rng.uniform(-0.5, 0.5, (2, 3)), rng.uniform(-0.5, 0.5, (3, 2))
    first[1, 2] = -np.inf
    return hd.FactorGraph([2, 3, 2], [((0, 1), first), ((1, 2), second)])


@pytest.mark.parametrize(
    "model",
    [*(sparse(0, name) for name in ("ring", "chain", "grid", "even grid")), mixed()],
    ids=["ring", "chain", "grid", "even grid", "mixed"],
)
def test_full_weights_keep_the_bound_on_sparse_graphs(model):
    """With a weight for every full context the proof needs no complete graph."""
    T = np.unique(np.geomspace(1, SHORTER[-1], 60).round().astype(int))
    found = total_variations(model, hd.HerdedGibbs("full", scan="sequential"), T)
    assert (found * T <= proved_bound(model)).all()


@pytest.mark.parametrize("model", [complete(0, 4, 2), sparse(0, "ring")], ids=["complete", "ring"])
def test_draws_break_the_proved_bound(model):
    """The bound is no formality: at 10^5 sweeps Gibbs sampling is far above it."""
    found = total_variations(model, hd.Gibbs(), [100_000])[0]
    assert found * 100_000 > 2 * proved_bound(model)


# -- rates --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), COMPLETE)
@pytest.mark.parametrize("weights", ["blanket", "shared", "lazy", "full"])
@pytest.mark.parametrize("slack", [0.0, 1.0])
def test_complete_graphs_converge_as_one_over_t(weights, slack, n, k):
    """The fitted log-log slope from 1,000 to 31,623 sweeps, four models: at most -0.9."""
    runs = [(complete(s, n, k), hd.HerdedGibbs(weights, slack)) for s in SEEDS]
    errors = np.mean([total_variations(*run, SHORTER) for run in runs], axis=0)
    assert slope(SHORTER, errors) <= -0.9
    gibbs = np.mean([drawn_variation(model, SHORTER[-1]) for model, _ in runs])
    assert errors[-1] < gibbs / 10


@pytest.mark.parametrize(("n", "k"), COMPLETE)
def test_gibbs_converges_as_draws_do(n, k):
    """1 / sqrt(T), and nearly as well as independent draws at these couplings.

    The mean of 8 runs of 16 to 81 states has a standard deviation of about 5 per cent; the
    correlation of sweeps adds at most a fifth.
    """
    runs = [(complete(s, n, k), hd.Gibbs(seed=seed)) for s in SEEDS for seed in (s, s + 10)]
    errors = np.mean([total_variations(*run, SHORTER) for run in runs], axis=0)
    drawn = np.mean([[drawn_variation(model, T) for T in SHORTER] for model, _ in runs], axis=0)
    assert -0.6 < slope(SHORTER, errors) < -0.4
    assert (errors < 1.35 * drawn).all() and (errors > 0.75 * drawn).all()


@pytest.mark.parametrize("slack", [0.0, 1.0])
@pytest.mark.parametrize(("n", "k"), COMPLETE)
def test_pools_have_no_plateau_while_they_split(n, k, slack):
    """`pooled` has no proof. Its bins double when the run is 4 times as long: so from 10^3 to 10^5
    sweeps the joint improves at least 4-fold, where one pool would stand still."""
    ends = POINTS[[0, -1]]
    pooled = hd.HerdedGibbs("pooled", slack)
    first, last = np.mean(
        [total_variations(complete(s, n, k), pooled, ends) for s in SEEDS[:2]], axis=0
    )
    assert last < first / 4


# -- sparse graphs: no proof --------------------------------------------------------------------


# a pool of few bins is biased at once
STRICT = [(w, 0.0, 3_000) for w in WEIGHT_MODES if w != "pooled"]
SLACK = [(w, 1.0, 20_000) for w in WEIGHT_MODES]


@pytest.mark.parametrize("name", ["ring", "chain", "grid", "even grid"])
@pytest.mark.parametrize(("weights", "slack", "T"), STRICT + SLACK)
def test_joints_of_sparse_graphs(weights, slack, T, name):
    """Joints as good as those of Gibbs sampling, before the plateau or, with slack, without one.

    Independent draws have a ratio of 1, with 5 per cent of deviation in a mean of four models of
    64 states; sweeps of Gibbs sampling, being correlated, have up to 1.2.
    """
    models = [sparse(s, name) for s in SEEDS]
    found = np.mean([total_variations(m, hd.HerdedGibbs(weights, slack), [T])[0] for m in models])
    assert found < 1.2 * np.mean([drawn_variation(m, T) for m in models])


@pytest.mark.parametrize("name", ["ring", "chain", "grid", "even grid"])
def test_gibbs_on_sparse_graphs(name):
    """The baseline of the test above, also on the lattice layout."""
    runs = [(sparse(s, name), hd.Gibbs(seed=seed)) for s in SEEDS for seed in (s, s + 10)]
    found = np.mean([total_variations(*run, [20_000])[0] for run in runs])
    drawn = np.mean([drawn_variation(model, 20_000) for model, _ in runs])
    assert 0.8 * drawn < found < 1.35 * drawn


@pytest.mark.parametrize("weights", WEIGHT_MODES)
@pytest.mark.parametrize("slack", [0.0, 1.0])
def test_joints_with_evidence_zeros_and_mixed_cardinalities(weights, slack):
    """Conditioned on a value, with an impossible pair: no mass where there is none."""
    model = mixed().given({2: 1})
    method = hd.HerdedGibbs(weights, slack)
    found = hd.infer(model, method, sweeps=20_000, keep=[hd.Joint()]).joint
    pi = joint_of(model)
    assert (found[pi == 0] == 0).all()
    # Two coupled variables are a complete graph: errors are of order 1 / T, pools' of 1 / bins.
    assert 0.5 * np.abs(found - pi).sum() < (0.02 if weights == "pooled" else 30 / 20_000)


def errors_on_grids(J, method):
    """Mean absolute errors of the Rao-Blackwellised marginals of 10 x 10 Ising models."""
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        pair = (rng.uniform(-J, J, (10, 9)), rng.uniform(-J, J, (9, 10)))
        model = hd.ising_grid(rng.uniform(-J, J, (10, 10)), pair)
        truth = hd.infer(model, hd.Exact()).marginals
        keep = [hd.Marginals(rao_blackwell=True)]
        found = hd.infer(model, method(seed=seed), sweeps=1000, keep=keep).marginals
        errors.append(np.abs(found - truth).mean())
    return np.mean(errors)


@pytest.mark.parametrize(("J", "share"), [(1.0, 1 / 2), (0.3, 1 / 4)])
def test_marginals_of_ising_grids(J, share):
    """At 1,000 sweeps herding has half of Gibbs's error, a quarter where couplings are weak."""
    assert errors_on_grids(J, hd.HerdedGibbs) <= share * errors_on_grids(J, hd.Gibbs)


def test_advance_and_infer_agree():
    """The tests that drive a method by hand see what `infer` sees."""
    model = sparse(0, "ring")
    for method in (hd.HerdedGibbs(), hd.Gibbs()):
        samples, *_ = advance(method, method.compile(model), np.zeros(6, int), 50)
        run = hd.infer(model, method, sweeps=50, start=np.zeros(6, int), keep=[hd.Samples()])
        np.testing.assert_array_equal(run.samples[0], samples)
