"""Dirichlet process mixtures, as an estimator for scikit-learn."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from herded.draws.systematic import member_orders
from herded.errors import Interrupted, MethodError, missing_extra_error
from herded.learn.mixture import validation
from herded.learn.mixture.clusters import MixtureData, clusters_bytes, empty_clusters
from herded.learn.mixture.prediction import (
    clusters_of_partition,
    count_shared_clusters,
    finish_densities,
    log_densities,
    nearest_clusters,
    relabel_compactly,
)
from herded.learn.mixture.sweeps import (
    KeptPartitions,
    empty_partitions,
    start_partitions,
    sweep_points,
)
from herded.learn.resumable_herd_run import HerdRun, check_run_options, data_hash
from herded.methods.options import check_herd, check_seed
from herded.run.diagnostics.intervals import t_quantile_95
from herded.run.interrupts import raises_interrupted
from herded.system import memory_limits
from herded.system.argument_checks import is_whole_number, short_repr
from herded.system.atomic_files import FilePath
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.exp_log import log
from herded.system.numerics.log_gamma import log_gamma
from herded.system.numerics.stream_purposes import StreamPurpose

try:
    from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # an older one has no validate_data
    raise missing_extra_error("scikit-learn 1.6 or later", "DirichletMixture", "learn") from error

# difference in nats between the mean log posteriors of herds that gives a warning
MAX_LOG_POSTERIOR_GAP = 20.0
PRIOR = ("alpha", "kappa", "nu", "within", "pseudo")


class CoClustering(NamedTuple):
    """The probabilities that two points share a cluster."""

    probability: np.ndarray  # (rows, rows)
    interval: np.ndarray  # (rows, rows, 2): 95 %, from independent herds


class DirichletMixture(DensityMixin, ClusterMixin, BaseEstimator):
    """A Dirichlet process mixture: clustering without a given number of clusters, by sampling.

    Gaussian clusters have a normal-inverse-Wishart prior, categorical columns a Dirichlet prior.
    Parameters are integrated out. Herds of collapsed Gibbs chains sample partitions of the points
    with fresh phases (each member is exactly such a chain), and also split and merge whole
    clusters.

    The main arguments are `family`, `alpha`, `sweeps` and `chains`. The other arguments set the
    details of the prior, what is kept, checkpoints and resources.

    Parameters
    ----------
    family : "gaussian" or "categorical"
        Categorical columns contain whole numbers from 0.
    alpha : float
        The concentration of the Dirichlet process: how readily a point starts a new cluster.
    kappa, nu, within : float
        For Gaussian clusters, in columns of variance 1: the mean of a cluster varies 1 / kappa
        times as much as points within it, `within` is the variance expected there, and nu says how
        certain that is (by default the number of columns plus 2).
    pseudo : float
        For categorical clusters: the initial count of every value.
    sweeps, burn_in : int
        Visits of all points in each member, after a burn-in (by default half as many).
    herd, chains : int
        The members of a herd, and the number of independent herds, which give intervals.
    keep : int
        The number of sweeps of each herd whose partitions are kept for `co_clustering` and
        `score_samples`.
    max_clusters : int
        Partitions with more clusters are excluded.
    seed : int
        The same seed gives the same bits.
    checkpoint : path, optional
        A file to save the run to, and to resume from.
    progress : bool, optional
        Whether to show a progress bar; False never shows one.
    max_memory : float or str, optional
        A number of bytes, or a text such as "2G"; half of what is free by default.

    Attributes
    ----------
    labels_ : ndarray, (n,)
        The partition with the highest posterior probability found.
    log_posterior_ : float
        The log posterior of that partition, up to the evidence, in columns of variance 1.
    trace_ : ndarray, (chains, herd, burn_in + sweeps)
        The log posterior of every member after every sweep.
    cluster_counts_ : ndarray
        The posterior probability of 0, 1, 2, ... clusters.
    moves_ : dict
        How many splits and merges were tried and accepted.
    interrupted_ : bool
        Whether Ctrl-C ended `fit` before its last sweep.
    warnings_ : tuple of str

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(6.0, 1.0, size=(40, 2))])
    >>> mixture = hd.learn.DirichletMixture(sweeps=50).fit(X)
    >>> mixture.labels_[0] == mixture.labels_[39], mixture.labels_[0] == mixture.labels_[79]
    (np.True_, np.False_)
    >>> mixture.predict([[0.0, 0.0], [6.0, 6.0]]) == mixture.labels_[[0, 79]]
    array([ True,  True])
    >>> mixture.co_clustering([0, 1, 79]).probability[0, 2] < 0.1
    np.True_
    """

    def __init__(
        self,
        family: str = "gaussian",
        *,
        alpha: float = 1.0,
        kappa: float = 0.25,
        nu: float | None = None,
        within: float = 0.2,
        pseudo: float = 0.5,
        sweeps: int = 200,
        burn_in: int | None = None,
        herd: int = 8,
        chains: int = 4,
        keep: int = 20,
        max_clusters: int = 50,
        seed: int = 0,
        checkpoint: FilePath | None = None,
        progress: bool | None = None,
        max_memory: memory_limits.Size | None = None,
    ) -> None:
        self.family = family
        self.alpha = alpha
        self.kappa = kappa
        self.nu = nu
        self.within = within
        self.pseudo = pseudo
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.herd = herd
        self.chains = chains
        self.keep = keep
        self.max_clusters = max_clusters
        self.seed = seed
        self.checkpoint = checkpoint
        self.progress = progress
        self.max_memory = max_memory

    @raises_interrupted
    def fit(self, X: ArrayLike, y: object = None) -> "DirichletMixture":
        """Sample partitions of the rows of X.

        Ctrl-C raises `Interrupted`, a `KeyboardInterrupt`. Its `result` is this mixture with the
        partitions so far, and `interrupted_` set; None if there are none, and then the mixture is
        unchanged.
        """
        table = validate_data(self, X, dtype=np.float64)
        burn_in = self._checked(table.shape[1])
        scaling = validation.check_scaling(table, self.family)
        data = validation.arrange_points(table, scaling, self._prior())
        most = min(self.max_clusters, len(table))
        self._check_memory(data, most, burn_in)
        every = max(1, self.sweeps // self.keep)
        kept, run = self._run(data, most, burn_in, every)
        recorded = run.done - burn_in
        if recorded < every:
            raise Interrupted("interrupted before a partition was kept")
        self._scaling, self._data = scaling, data
        self.interrupted_ = run.interrupted
        best = max(kept, key=lambda one: float(one.top[0]))
        self.labels_ = relabel_compactly(best.best)
        self.log_posterior_ = float(best.top[0])
        self.trace_ = np.array([one.trace[:, : run.done] for one in kept])
        sizes = np.sum([one.sizes for one in kept], axis=0)
        self.cluster_counts_ = np.trim_zeros(sizes / sizes.sum(), "b")
        self._draws = np.array([one.draws[: recorded // every] for one in kept])
        tried = np.sum([one.moves for one in kept], axis=0).tolist()
        names = ("splits tried", "splits taken", "merges tried", "merges taken")
        self.moves_ = dict(zip(names, tried, strict=True))
        self.warnings_ = self._warnings(most, burn_in, table.shape[1], run.interrupted)
        if run.stopped:
            raise Interrupted(
                f"interrupted after {recorded} sweeps: the mixture has the partitions so far", self
            )
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the cluster of `labels_` that each row most probably belongs to."""
        new, herd, data = self._new(X), self._partition(), self._own_data()
        found = np.empty(len(new.alone), np.int64)
        nearest_clusters(clusters_of_partition(data, self.labels_, herd), data, new, found)
        return found

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Compute the log predictive density (or probability) of each row, over partitions.

        Columns that were constant in `fit` do not count.
        """
        new, herd, data = self._new(X), self._partition(), self._own_data()
        draws = self._draws.reshape(-1, self._draws.shape[-1])
        total, found = np.zeros((len(new.alone), 2)), np.empty(len(new.alone))
        for t, labels in enumerate(draws):
            log_densities(clusters_of_partition(data, labels, herd), data, new, t == 0, total)
        log_total = log(draws.shape[1] + self.alpha)
        finish_densities(total, len(draws), log_total, found)
        return found - float(np.log(self._scaling.deviations).sum())

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def co_clustering(self, rows: ArrayLike | None = None) -> CoClustering:
        """Estimate the probability that two points share a cluster, with 95 % intervals.

        Parameters
        ----------
        rows : array_like of int, optional
            The points of `fit` to compare; by default all, with a matrix entry for each pair.

        Examples
        --------
        >>> X = np.array([[0.0], [0.1], [5.0], [5.2]])
        >>> hd.learn.DirichletMixture(sweeps=50).fit(X).co_clustering([0, 1]).probability.shape
        (2, 2)
        """
        check_is_fitted(self)
        n = self._draws.shape[-1]
        chosen = np.arange(n) if rows is None else np.asarray(rows)
        fits = chosen.ndim == 1 and chosen.dtype.kind in "iu" and chosen.size
        if not fits or chosen.min() < 0 or chosen.max() >= n:
            raise MethodError(
                f"expected rows as whole numbers from 0 to {n - 1}, got {short_repr(rows)}"
            )
        herds = len(self._draws)
        need = 8.0 * len(chosen) ** 2 * (herds + 4)
        memory_limits.check_memory(need, self.max_memory, "a matrix of all pairs", "use fewer rows")
        counts = np.zeros((herds, len(chosen), len(chosen)))
        for c, draws in enumerate(self._draws):
            count_shared_clusters(draws.reshape(-1, n), chosen.astype(np.int64), counts[c])
        counts /= self._draws.shape[1] * self._draws.shape[2]
        mean = counts.mean(axis=0)
        if herds == 1:
            return CoClustering(mean, np.full((*mean.shape, 2), np.nan))
        reach = t_quantile_95(herds) * counts.std(axis=0, ddof=1) / np.sqrt(herds)
        ends = np.stack([mean - reach, mean + reach], axis=-1)
        return CoClustering(mean, np.clip(ends, 0.0, 1.0))

    def plot(self) -> Any:
        """Plot the points of `fit` by cluster, and how probably pairs share one.

        With many points, the matrix of pairs shows some of them, sorted by cluster.
        """
        from herded.learn.mixture.cluster_plot import MAX_PLOTTED_POINTS, cluster_figure

        check_is_fitted(self)
        n = len(self.labels_)
        some = np.arange(0, n, -(-n // MAX_PLOTTED_POINTS))
        rows = some[np.argsort(self.labels_[some], kind="stable")]
        data = self._data.points if self.family == "gaussian" else self._data.codes
        return cluster_figure(data, self.labels_, self.co_clustering(rows).probability)

    # -- the run ---------------------------------------------------------------------------------

    def _prior(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in PRIOR}

    def _checked(self, columns: int) -> int:
        """Check all options, and return the burn-in."""
        validation.check_mixture_prior(family=self.family, columns=columns, **self._prior())
        check_herd(self.herd)
        check_seed(self.seed)
        if not is_whole_number(self.max_clusters, 1):
            raise MethodError(
                "expected max_clusters as a whole number of 1 or more, got "
                f"{short_repr(self.max_clusters)}"
            )
        return check_run_options(
            self.sweeps, self.burn_in, chains=self.chains, keep=self.keep, burn_in_divisor=2
        )

    def _check_memory(self, data: MixtureData, most: int, burn_in: int) -> None:
        n, d, cells = len(data.alone), data.points.shape[1], data.cells
        members = self.herd * (4 * n * self.keep + 8 * (burn_in + self.sweeps))
        need = self.chains * (clusters_bytes(self.herd, most, n, d, cells) + members)
        memory_limits.check_memory(
            need, self.max_memory, f"{self.chains} herds", "use fewer members or keep="
        )

    def _run(
        self, data: MixtureData, most: int, burn_in: int, every: int
    ) -> tuple[list[KeptPartitions], HerdRun]:
        n, total, table = len(data.alone), burn_in + self.sweeps, member_orders(self.herd)
        herds = [
            (
                empty_clusters(self.herd, most, data),
                empty_partitions(self.herd, n, most, total, self.sweeps // every),
            )
            for _ in range(self.chains)
        ]
        keys = [self._stream_keys(c) for c in range(self.chains)]
        for c, (clusters, _) in enumerate(herds):
            key = stream_key(self.seed, c, StreamPurpose.MIXTURE_STARTS)
            start_partitions(clusters, data, key)
        constant = log_gamma(self.alpha) - log_gamma(self.alpha + n)

        def advance(c: int, first: int, step: int) -> None:
            sweep_points(
                *(herds[c][0], data, herds[c][1], table.ravel(), len(table), keys[c]),
                *(first, step, burn_in, every, constant),
            )

        slots = herds[0][0].size.shape[1]
        limits = {
            "label": (0, slots - 1),
            "used": (0, slots - 1),
            "clusters": (1, most),
            "size": (0, n),
            "counts": (0, n),
        }
        run = HerdRun("clustering", herds, advance, total)
        identity = {
            "run": "DirichletMixture",
            "data": data_hash(data.points, data.codes, data.prior, data.tables),
            "options": [self.herd, self.chains, self.seed, self.sweeps, burn_in, most, every],
        }
        run.run(
            identity=identity, limits=limits, progress=self.progress, checkpoint=self.checkpoint
        )
        return [kept for _, kept in herds], run

    def _stream_keys(self, chain: int) -> np.ndarray:
        """(3,) the streams of phases, of orders, and of splits and merges."""
        return np.array(
            [
                stream_key(self.seed, chain, StreamPurpose.HERD_PHASES),
                stream_key(self.seed, chain, StreamPurpose.MEMBER_ORDERS),
                stream_key(self.seed, chain, StreamPurpose.MIXTURE_MOVES),
            ],
            np.uint64,
        )

    def _warnings(
        self, most: int, burn_in: int, columns: int, interrupted: bool
    ) -> tuple[str, ...]:
        """Return the reasons to doubt the answer."""
        found = []
        left = columns - len(self._scaling.varies)
        if left:
            found.append(f"{left} constant columns separate no points, and were ignored")
        means = self.trace_[:, :, burn_in:].mean(axis=2)
        if means.max() - means.min() > MAX_LOG_POSTERIOR_GAP:
            found.append(
                f"the log posteriors of members differ by up to {means.max() - means.min():.0f} on "
                "average: they have not explored everything yet; use more sweeps"
            )
        if len(self.cluster_counts_) == most + 1 and most < self.labels_.size:
            found.append("the number of clusters reached its limit: raise max_clusters=")
        if interrupted:
            found.append("the run was interrupted")
        return tuple(found)

    def _new(self, X: ArrayLike) -> MixtureData:
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        return validation.arrange_points(table, self._scaling, self._prior())

    def _own_data(self) -> MixtureData:
        """Return a copy of the points of `fit`, since a file mapping would need other kernels."""
        arrays = {name: a for name, a in self._data._asdict().items() if isinstance(a, np.ndarray)}
        lent: dict[str, Any] = {
            name: np.array(a) for name, a in arrays.items() if not a.flags.writeable
        }
        return self._data._replace(**lent)

    def _partition(self) -> Any:
        """Allocate memory for the clusters of one partition."""
        most = int(max(self._draws.max(), self.labels_.max())) + 1
        return empty_clusters(1, most, self._data)
