"""A general Boltzmann machine as a scikit-learn estimator."""

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import (
    Interrupted,
    MemoryLimitError,
    MethodError,
    ModelError,
    missing_extra_error,
)
from herded.learn.boltzmann.log_z import LearnedLogZ, ladder_log_z
from herded.learn.fitting.exact_moments import ExactMoments, KnownRows
from herded.learn.fitting.fit_function import fit
from herded.learn.fitting.fit_result import Fitted
from herded.methods.gibbs import Gibbs
from herded.methods.options import check_seed
from herded.models.constraints.start_states import member_starts
from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import pairwise_model
from herded.run.diagnostics.log_z_check import QUICK_EXACT_BYTES
from herded.run.interrupts import raises_interrupted
from herded.system import memory_limits
from herded.system.argument_checks import edge_array, is_number_between, is_whole_number, short_repr
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.exp_log import exp_array
from herded.system.numerics.stream_purposes import StreamPurpose

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # an older one has no validate_data
    raise missing_extra_error("scikit-learn 1.6 or later", "BoltzmannMachine", "learn") from error


class BoltzmannMachine(TransformerMixin, BaseEstimator):
    """A Boltzmann machine: two-state units, visible and hidden, coupled in any pairs.

    p(x) is proportional to exp(sum_i b_i x_i + sum_(i,j) w_ij x_i x_j), x in {0, 1}. It is fitted
    by `hd.learn.fit`: exactly if elimination fits, else by a herd of persistent chains. Without
    hidden units, learning starts at the best pseudo-likelihood.

    Parameters
    ----------
    hidden : int
        The number of hidden units, which follow the visible ones.
    edges : array_like of shape (E, 2), optional
        Pairs of units that are coupled; all pairs by default.
    threshold : float
        Features above it become 1, others 0.
    l2 : float
        A penalty on all weights and biases, which keeps them finite if a feature is constant.
    method : {"auto", "exact", "herd"}
    steps, rate, batch, herd, sweeps, seed, progress
        As in `hd.learn.fit`.

    Attributes
    ----------
    model_ : FactorGraph
        The machine, for `hd.infer`: visible units first, then hidden ones.
    fitted_ : Fitted
        The result of `hd.learn.fit`, with its sentence on convergence.
    log_z_ : LogZ or None
        The latest result of `log_z`, if it was called.
    biases_ : ndarray of shape (units,)
    edges_ : ndarray of shape (E, 2)
    weights_ : ndarray of shape (E,)
    n_features_in_ : int

    Examples
    --------
    >>> rows = [[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]] * 5
    >>> machine = hd.learn.BoltzmannMachine().fit(rows)
    >>> machine.edges_.tolist(), machine.weights_.round(2).tolist()
    ([[0, 1]], [1.35])
    >>> machine.score_samples([[0, 0], [0, 1]]).round(2)
    array([-1.11, -1.78])
    """

    log_z_: LearnedLogZ | None

    def __init__(
        self,
        hidden: int = 0,
        *,
        edges: ArrayLike | None = None,
        threshold: float = 0.5,
        l2: float = 1e-3,
        method: str = "auto",
        steps: int = 200,
        rate: float = 0.5,
        batch: int | None = None,
        herd: int = 256,
        sweeps: int = 4,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        self.hidden = hidden
        self.edges = edges
        self.threshold = threshold
        self.l2 = l2
        self.method = method
        self.steps = steps
        self.rate = rate
        self.batch = batch
        self.herd = herd
        self.sweeps = sweeps
        self.seed = seed
        self.progress = progress

    @raises_interrupted
    def fit(self, X: ArrayLike, y: object = None) -> "BoltzmannMachine":
        """Learn from rows of features.

        Ctrl-C raises `Interrupted`, a `KeyboardInterrupt`. Its `result` is this machine with the
        parameters of the last step, and `fitted_.interrupted` is True. It is None before the first
        step.
        """
        if not is_whole_number(self.hidden, 0):
            raise MethodError(f"expected hidden units of 0 or more, got {short_repr(self.hidden)}")
        if not is_number_between(self.l2, 0.0, 1e6):
            raise MethodError(f"expected l2 of 0 or more, got {short_repr(self.l2)}")
        visible = self._states(X, first=True)
        if len(visible) < 2:
            raise ModelError("expected two rows of data or more, got 1 sample")
        units = visible.shape[1] + self.hidden
        edges = self._edges(units)
        blank = _graph(units, edges, np.zeros(units), np.zeros(len(edges)))
        groups = np.where(_is_on(blank), np.cumsum(_is_on(blank)) - 1, -1)
        rows = np.concatenate([visible, np.full((len(visible), self.hidden), -1, np.int64)], axis=1)
        count = units + len(edges)
        try:
            found = fit(
                blank,
                rows,
                groups=groups,
                method=self.method,
                l2=np.full(count, float(self.l2)),
                steps=self.steps,
                rate=self.rate,
                batch=self.batch,
                herd=self.herd,
                sweeps=self.sweeps,
                seed=self.seed,
                progress=self.progress,
            )
        except Interrupted as error:
            if error.result is not None:
                error.result = self._keep(error.result, edges)
            raise
        return self._keep(found, edges)

    def _keep(self, found: Fitted, edges: np.ndarray) -> "BoltzmannMachine":
        self.fitted_, self.edges_ = found, edges
        units = len(found.parameters) - len(self.edges_)
        self.biases_, self.weights_ = np.split(found.parameters, [units])
        self.model_ = _graph(units, self.edges_, self.biases_, self.weights_)
        self.log_z_ = None
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Compute the probability (rows, hidden) that each hidden unit is 1, given the row.

        Without hidden units it is that of each visible unit, given all others: (rows, n_features).
        """
        check_is_fitted(self, "model_")
        rows = self._states(X)
        if not self.hidden:
            return np.stack([self._given(rows, i) for i in range(rows.shape[1])], axis=1)
        return self._known(rows).marginals(self.model_.log_tables)[..., 1]

    def _given(self, rows: np.ndarray, i: int) -> np.ndarray:
        """(rows,) p(x_i = 1 | all others)."""
        fields = np.full(len(rows), self.biases_[i])
        for (a, b), weight in zip(self.edges_.tolist(), self.weights_, strict=True):
            if i in (a, b):
                fields += weight * rows[:, b if i == a else a]
        return 1.0 / (1.0 + exp_array(-fields))

    def sample(self, rows: int = 1, *, sweeps: int = 1000, seed: int | None = None) -> np.ndarray:
        """Draw states (rows, n_features) of the model from a herd after `sweeps` sweeps."""
        check_is_fitted(self, "model_")
        for name, value in (("rows", rows), ("sweeps", sweeps)):
            if not is_whole_number(value, 1):
                raise MethodError(
                    f"expected {name} as a whole number from 1, got {short_repr(value)}"
                )
        seed = self.seed if seed is None else seed
        check_seed(seed)
        method = Gibbs(seed=seed, herd=max(2, rows))
        layout = method.compile(self.model_)
        key = stream_key(seed, 0, StreamPurpose.MACHINE_SAMPLES)
        start = member_starts(self.model_, max(2, rows), key)
        state = method.init(layout, start)
        method.advance(layout, state, np.empty((sweeps, 0), layout.sample_type))
        return np.ascontiguousarray(layout.values(state)[:rows, : self.n_features_in_])

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Compute the log-probability (rows,) of each row, exactly if `log_z` is exact."""
        check_is_fitted(self, "model_")
        rows = self._states(X)
        if self.hidden:
            scores = self._known(rows).log_z(self.model_.log_tables)
        else:
            scores = self.model_.log_score(rows)
        found: np.ndarray = np.asarray(scores) - self.log_z().value
        return found

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Compute the mean log-probability of the rows."""
        return float(self.score_samples(X).mean())

    def log_z(self, *, sweeps: int = 1000) -> LearnedLogZ:
        """Compute log Z, exactly if elimination is quick, else by a ladder of temperatures.

        Parameters
        ----------
        sweeps : int
            The sweeps of the ladder.

        Returns
        -------
        LogZ
            `value`, `interval` (99 %), `is_exact`.
        """
        check_is_fitted(self, "model_")
        if self.log_z_ is None:
            try:
                exact = ExactMoments(self.model_, QUICK_EXACT_BYTES).of(self.model_.log_tables)[0]
                self.log_z_ = LearnedLogZ(exact, (exact, exact), True)
            except MemoryLimitError:
                self.log_z_ = ladder_log_z(self.model_, sweeps, self.seed)
        return self.log_z_

    def _known(self, rows: np.ndarray) -> KnownRows:
        """Return the rows, with unknown hidden units."""
        unknown = np.full((len(rows), self.hidden), -1, np.int64)
        every = np.concatenate([rows, unknown], axis=1)
        return KnownRows(self.model_, every, np.ones(len(rows)), memory_limits.memory_limit(None))

    def _states(self, X: ArrayLike, first: bool = False) -> np.ndarray:
        """(rows, n_features) of 0 and 1."""
        rows = validate_data(self, X, dtype=np.float64, reset=first)
        return np.asarray(rows > self.threshold, np.int64)

    def _edges(self, units: int) -> np.ndarray:
        if self.edges is None:
            return np.stack(np.triu_indices(units, 1), axis=1)
        edges = np.sort(edge_array("edges", self.edges), axis=1)
        if len(edges) and (edges.min() < 0 or edges.max() >= units):
            raise ModelError(
                f"expected edges between units 0 to {units - 1}, got {short_repr(self.edges)}"
            )
        if (edges[:, 0] == edges[:, 1]).any() or len(np.unique(edges, axis=0)) < len(edges):
            raise ModelError(
                f"expected edges between two units, each pair once, got {short_repr(self.edges)}"
            )
        return edges


def _graph(units: int, edges: np.ndarray, biases: np.ndarray, weights: np.ndarray) -> FactorGraph:
    """Biases and weights count where units are 1."""
    unary, pairs = np.zeros((units, 2)), np.zeros((len(edges), 2, 2))
    unary[:, 1], pairs[:, 1, 1] = biases, weights
    return pairwise_model(unary, edges, pairs)


def _is_on(graph: FactorGraph) -> np.ndarray:
    """(E,) whether an entry is that of all of its factor's units at 1."""
    last = np.zeros(len(graph.log_tables), bool)
    last[graph.table_start[1:] - 1] = True
    return last
