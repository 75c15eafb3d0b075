"""Dirichlet mixtures: bits of their twin, laws against all partitions, densities, and bad input."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import herded as hd
from herded.draws.systematic import member_orders
from herded.errors import CheckpointError, MemoryLimitError, MethodError, ModelError
from herded.learn.mixture.clusters import categorical_data, empty_clusters, gaussian_data
from herded.learn.mixture.prediction import relabel_compactly
from herded.learn.mixture.sweeps import empty_partitions, start_partitions, sweep_points
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.log_gamma import log_gamma
from tests.conformance.twins.learning.dirichlet_mixture import NaiveData, naive_mixture

RNG = np.random.default_rng(5)
POINTS = np.concatenate([RNG.normal(size=(4, 2)), RNG.normal(3.0, 1.0, size=(5, 2))])
VALUES = RNG.integers(0, [2, 3, 2], size=(8, 3))
CATEGORIES = np.array([2, 3, 2])
ALPHA = 1.3


def gaussian(points=POINTS):
    prior = {"alpha": ALPHA, "kappa": 0.3, "nu": 4.5, "scale": 0.7}
    return gaussian_data(points, **prior), NaiveData(points, **prior)


def categorical(values=VALUES):
    naive = NaiveData(values, alpha=ALPHA, categories=CATEGORIES, pseudo=0.5)
    return categorical_data(values, CATEGORIES, ALPHA, 0.5), naive


def sampled(data, members, sweeps, burn_in, most, seed=1, cuts=()):
    n, table = len(data.alone), member_orders(members)
    herd = empty_clusters(members, most, data)
    kept = empty_partitions(members, n, most, sweeps, sweeps - burn_in)
    keys = np.array([stream_key(seed, 0, part) for part in (4, 5, 6)], np.uint64)
    constant = log_gamma(ALPHA) - log_gamma(ALPHA + n)
    start_partitions(herd, data, stream_key(seed, 0, 3))
    for a, b in itertools.pairwise([0, *cuts, sweeps]):
        sweep_points(
            herd, data, kept, table.ravel(), len(table), keys, a, b - a, burn_in, 1, constant
        )
    return herd, kept


def as_sets(labels):
    return sorted(np.flatnonzero(labels == c).tolist() for c in set(labels.tolist()))


@pytest.mark.parametrize("family", [gaussian, categorical])
@pytest.mark.parametrize(("members", "most"), [(1, 9), (4, 3)])
def test_partitions_are_those_of_the_naive_twin(family, members, most):
    data, naive = family()
    options = {"members": members, "sweeps": 6, "burn_in": 6, "seed": 1, "most": most}
    partitions, trace = naive_mixture(naive, **options)
    for sweeps in (1, 6):
        herd, kept = sampled(data, members, sweeps, sweeps, most)
        assert [as_sets(labels) for labels in herd.label] == partitions[sweeps - 1]
    assert kept.trace == pytest.approx(trace, abs=1e-9)


def all_partitions(n):
    found = [[0]]
    for _ in range(n - 1):
        found = [[*part, c] for part in found for c in range(max(part) + 2)]
    return [tuple(part) for part in found]


@pytest.mark.parametrize("family", [gaussian, categorical])
@pytest.mark.parametrize("most", [5, 2])
def test_members_visit_partitions_by_their_posterior(family, most):
    """All 52 partitions of 5 points, or the 16 of at most two clusters."""
    chosen = [0, 3, 4, 5, 7]
    data, naive = family(POINTS[chosen] if family is gaussian else VALUES[chosen])
    scores = {
        part: naive.posterior([set(np.flatnonzero(np.equal(part, c))) for c in set(part)])
        for part in all_partitions(5)
        if max(part) < most
    }
    top = max(scores.values())
    total = sum(math.exp(score - top) for score in scores.values())
    _, kept = sampled(data, 8, 5000, 200, most)
    met = Counter()
    drawn, times = np.unique(kept.draws.reshape(-1, 5)[::2], axis=0, return_counts=True)
    for row, count in zip(drawn, times.tolist(), strict=True):  # the same under many labels
        met[tuple(relabel_compactly(row).tolist())] += count
    assert met.keys() <= scores.keys()
    for part, score in scores.items():
        share = math.exp(score - top) / total
        assert met[part] / met.total() == pytest.approx(share, abs=6e-3)
    assert min(kept.moves[1], kept.moves[3]) > 10  # splits and merges are part of it


def textbook(X, options):
    """The log posterior of every partition, by determinants and gamma functions alone."""
    n, d = X.shape
    points, alpha = (X - X.mean(0)) / X.std(0), options["alpha"]
    nu = options.get("nu") or d + 2.0
    scale = options.get("within", 0.2) * max(nu - d - 1.0, 1.0)

    def log_gammas(a):
        return sum(math.lgamma(a - j / 2) for j in range(d))

    def marginal(rows):
        k, kappa = len(rows), options.get("kappa", 0.25)
        if "pseudo" in options:
            counts = [np.bincount(X[rows, j], minlength=X[:, j].max() + 1) for j in range(d)]
            pseudo, total = options["pseudo"], 0.0
            for column in counts:
                total += math.lgamma(pseudo * len(column)) - math.lgamma(pseudo * len(column) + k)
                total += sum(math.lgamma(pseudo + c) - math.lgamma(pseudo) for c in column)
            return total
        mean = points[rows].mean(0)
        spread = points[rows] - mean
        after = scale * np.eye(d) + spread.T @ spread
        after += kappa * k / (kappa + k) * np.outer(mean, mean)
        found = log_gammas((nu + k) / 2) - log_gammas(nu / 2) - k * d / 2 * math.log(math.pi)
        found += d / 2 * (nu * math.log(scale) + math.log(kappa / (kappa + k)))
        return found - (nu + k) / 2 * np.linalg.slogdet(after)[1]

    scores = {}
    for part in all_partitions(n):
        clusters = [np.flatnonzero(np.equal(part, c)) for c in set(part)]
        score = math.lgamma(alpha) - math.lgamma(alpha + n) + len(clusters) * math.log(alpha)
        scores[part] = score + sum(math.lgamma(len(c)) + marginal(c) for c in clusters)
    return scores


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (1, {"alpha": 1.0, "herd": 1}),
        (3, {"alpha": 0.3, "kappa": 1.5, "nu": 3.0, "within": 0.6, "herd": 3}),
        (2, {"alpha": 4.0, "family": "categorical", "pseudo": 0.3, "herd": 8}),
    ],
)
def test_answers_are_those_of_all_partitions(columns, options):
    """Six points, 203 partitions: co-clustering, numbers of clusters, the best one, the trace."""
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(6, columns)) + 2.0 * rng.integers(0, 2, (6, 1))
    if "pseudo" in options:
        X = rng.integers(0, [3, 4], (6, 2))
    scores = textbook(X, options)
    values, parts = np.array(list(scores.values())), np.array(list(scores))
    share = np.exp(values - values.max())
    share /= share.sum()
    together = np.einsum("p,pij->ij", share, parts[:, :, None] == parts[:, None])
    counts = np.bincount(parts.max(axis=1) + 1, share, minlength=7)
    lengths = {"sweeps": 3000, "burn_in": 100, "chains": 4, "keep": 3000}
    found = mixture(**options, **lengths, progress=False).fit(X)
    assert found.co_clustering(range(6)).probability == pytest.approx(together, abs=0.02)
    most = len(found.cluster_counts_)
    assert found.cluster_counts_ == pytest.approx(counts[:most], abs=0.02)
    assert counts[most:].sum() < 0.01
    assert found.log_posterior_ == pytest.approx(values.max(), abs=1e-9)
    assert found.trace_[:, :, 100:].mean() == pytest.approx(share @ values, abs=0.05)


def test_bits_do_not_depend_on_blocks_and_do_on_seeds():
    data, _ = gaussian()
    one, other = sampled(data, 3, 70, 10, 9)[1], sampled(data, 3, 70, 10, 9, cuts=(1, 13, 64))[1]
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(sampled(data, 3, 70, 10, 9, seed=2)[1].trace, one.trace)
    assert 0 < one.drift[0] < 1e-12


def test_log_gamma():
    for x in (1e-3, 0.5, 1.0, 2.0, 7.3, 15.99, 16.0, 100.0, 1e6):
        assert log_gamma(x) == pytest.approx(math.lgamma(x), rel=1e-13, abs=1e-13)


def blobs(n=120):
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    return centres[truth] + rng.normal(size=(n, 2)), truth


def mixture(**options):
    """Imports scikit-learn only now: uncompiled twins have a process of their own."""
    pytest.importorskip("sklearn", reason="DirichletMixture needs scikit-learn")
    options = {"sweeps": 40, "herd": 4, "chains": 2, **options}
    return hd.learn.DirichletMixture(**options)


def test_clusters_are_found():
    X, truth = blobs()
    found = mixture().fit(X)
    from sklearn.metrics import adjusted_rand_score

    assert adjusted_rand_score(truth, found.labels_) > 0.95
    assert found.cluster_counts_.sum() == pytest.approx(1) and found.cluster_counts_[:3].sum() == 0
    assert found.trace_.shape == (2, 4, 60) and found.trace_.max() == found.log_posterior_
    pairs = found.co_clustering([0, 3, 1])
    assert pairs.probability[0, 1] > 0.7 and pairs.probability[0, 2] < 0.05
    assert (pairs.interval[..., 0] <= pairs.probability).all()
    assert (pairs.interval[..., 1] >= pairs.probability).all()
    assert found.co_clustering().probability.shape == (120, 120)


def test_densities_add_up_to_one():
    X, _ = blobs(60)
    found = mixture().fit(X)
    axis = np.arange(-30.0, 40.0, 1.0)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert np.exp(found.score_samples(grid)).sum() == pytest.approx(1, abs=0.01)
    assert found.score(X) == pytest.approx(found.score_samples(X).mean())
    values = mixture(family="categorical").fit(VALUES)
    assert values.cluster_counts_[1] > 0  # also where all points are in one cluster
    everything = list(itertools.product(range(2), range(3), range(2)))
    assert np.exp(values.score_samples(everything)).sum() == pytest.approx(1)


def test_a_run_is_resumed_to_the_same_bits(tmp_path, monkeypatch):
    from herded.learn.resumable_herd_run import HerdRun

    X, path = blobs(30)[0], tmp_path / "run.ckpt"
    whole, advance = mixture().fit(X), HerdRun.advance

    def interrupted(self, most):
        if self.done >= 30:
            raise RuntimeError("the power is gone")
        return advance(self, min(most, 7))

    monkeypatch.setattr(HerdRun, "advance", interrupted)
    monkeypatch.setattr("herded.learn.resumable_herd_run.SAVE_INTERVAL_SECONDS", 0.0)
    with pytest.raises(RuntimeError):
        mixture(checkpoint=path).fit(X)
    monkeypatch.setattr(HerdRun, "advance", advance)
    again = mixture(checkpoint=path).fit(X)
    assert np.array_equal(again.trace_, whole.trace_)
    assert np.array_equal(again.labels_, whole.labels_)
    with pytest.raises(CheckpointError, match=r"^expected a checkpoint with data"):
        mixture(checkpoint=path).fit(X + RNG.normal(size=X.shape))


def test_a_checkpoint_is_not_believed(tmp_path):
    from herded.run.checkpoints import checkpoint_file

    X, path = blobs(30)[0], tmp_path / "run.ckpt"
    mixture(checkpoint=path).fit(X)
    header, arrays = checkpoint_file.read_checkpoint(path)
    for name, value in (("0/0/label", 10**6), ("1/0/size", -1), ("0/0/clusters", 99)):
        lies = {**arrays, name: np.full_like(arrays[name], value)}
        checkpoint_file.write_checkpoint(
            path, {k: v for k, v in header.items() if k != "format"}, lies
        )
        with pytest.raises(CheckpointError, match="got arrays that do not fit it"):
            mixture(checkpoint=path).fit(X)


def test_constant_columns_are_left_out():
    X, _ = blobs(30)
    found = mixture().fit(np.column_stack([X, np.full(30, 7.0)]))
    assert np.array_equal(found.labels_, mixture().fit(X).labels_)
    assert found.warnings_[0].startswith("1 constant columns separate no points")


X9 = blobs(9)[0]
BAD = {
    "text": ([["a", "b"]] * 4, {}, ValueError, "could not convert string"),
    "nan": (np.where(X9 > 5, np.nan, X9), {}, ValueError, "Input X contains NaN"),
    "constant": (np.ones((9, 2)), {}, ModelError, "expected a column of X that varies"),
    "one row": (X9[:1], {}, ModelError, "expected a column of X that varies"),
    "family": (X9, {"family": "poisson"}, MethodError, 'expected family "gaussian"'),
    "not whole": (X9, {"family": "categorical"}, ModelError, "expected whole numbers from 0"),
    "alpha": (X9, {"alpha": 0}, MethodError, "expected alpha as a number from 1e-9"),
    "nu": (X9, {"nu": 0.5}, MethodError, "expected nu above the number of columns less one, 1"),
    "sweeps": (X9, {"sweeps": 0}, MethodError, "expected sweeps as a whole number"),
    "burn-in": (X9, {"burn_in": 0.5}, MethodError, "expected burn_in as a whole number"),
    "herd": (X9, {"herd": 0}, MethodError, "expected a herd of 1 to"),
    "clusters": (X9, {"max_clusters": 0}, MethodError, "expected max_clusters"),
    "memory": (X9, {"max_memory": 10}, MemoryLimitError, "expected 2 herds of at most 10 bytes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_sentence(name):
    X, options, error, message = BAD[name]
    with pytest.raises(error) as caught:
        mixture(**options).fit(X)
    assert str(caught.value).startswith(message)


def test_bad_questions_are_sentences():
    found = mixture(family="categorical").fit(VALUES)
    with pytest.raises(
        ModelError, match="expected values from 0 to 1 in column 0, as in fit, got 2"
    ):
        found.predict([[2, 0, 0]])
    with pytest.raises(MethodError, match="expected rows as whole numbers from 0 to 7"):
        found.co_clustering([8])
    near = mixture().fit(X9)
    assert np.isfinite(near.score_samples([[1e149, -1e149]])).all()
    for far in (1e155, 1e308):
        with pytest.raises(ModelError, match="expected points within 1e\\+150 standard deviations"):
            near.score_samples([[far, 0.0]])
