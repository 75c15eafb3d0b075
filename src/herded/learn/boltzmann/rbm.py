"""A restricted Boltzmann machine as a scikit-learn estimator."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import HerdedWarning, Interrupted, MethodError, ModelError, missing_extra_error
from herded.learn.boltzmann.log_z import LearnedLogZ, annealed_log_z
from herded.learn.boltzmann.rbm_assessment import assess_machine
from herded.learn.boltzmann.rbm_parameters import RBMParameters, RBMTraining
from herded.learn.fitting.observations import MAX_OBSERVED_STATES
from herded.methods.options import check_herd, check_seed
from herded.models.factor_graph import FactorGraph
from herded.run.execute import users_level
from herded.run.interrupts import raises_interrupted
from herded.run.training_helpers import divergence_error, progress_and_interrupt, random_permutation
from herded.system.argument_checks import (
    as_integer_array,
    is_number_between,
    is_whole_number,
    short_repr,
)
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # an older one has no validate_data
    raise missing_extra_error("scikit-learn 1.6 or later", "RBM", "learn") from error

AVERAGED_STEP_SHARE = 0.3  # the share of the steps, at the end, that the answer averages


class RBM(TransformerMixin, BaseEstimator):
    """A restricted Boltzmann machine: visible units of two or more states, hidden ones of two.

    It is trained by persistent contrastive divergence with a herd. The members are Gibbs chains
    that draw whole layers with systematic draws, so that their averages have less noise than those
    of independent chains. State 0 of a visible unit has weight 0; every other state has a bias and
    a weight for each hidden unit.

    Parameters
    ----------
    hidden : int
        The number of hidden units.
    states : int or array_like of int, optional
        The numbers of states of the visible units; by default those in the data, at least two.
    epochs : int
        How often all rows are used; rows that fill no batch wait for the next epoch.
    batch : int
        The number of rows in a step.
    rate : float
        The learning rate of the first step; it falls to 0 linearly. `partial_fit` keeps it. Over
        many hundred epochs half of it works a little better, over a few epochs twice as much.
    herd : int
        The number of members.
    sweeps : int
        The sweeps of the herd in each step.
    l2 : float
        The weight of the penalty l2 / 2 on the sum of squared weights.
    seed : int
    progress : bool, optional
        Whether to show a progress bar on a terminal: only in long runs (None), or never (False).

    Attributes
    ----------
    layers_ : herded.learn.boltzmann.rbm_parameters.RBMParameters
        The learned parameters: `first`, `weights`, `visible_bias`, `hidden_bias`. Row ``first[i] +
        k - 1`` is that of state k of visible unit i.
    interrupted_ : bool
        Whether Ctrl-C ended `fit` before its last step, or before the machine was assessed.
    log_z_ : LogZ or None
        The latest result of `log_z`, if it was called.
    report_ : RBMReport or None
        Which parameters `fit` chose and how much better they are than its start, a test of the
        gradient, and whether chains mix; `partial_fit` leaves it unchanged. None if `fit` was
        interrupted.
    states_ : ndarray of shape (n_features,)
    n_features_in_ : int

    Examples
    --------
    >>> rows = [[0, 0, 1, 1], [1, 1, 0, 0]] * 20
    >>> machine = hd.learn.RBM(hidden=1, epochs=200, batch=40, l2=0.01).fit(rows)
    >>> machine.score_samples([[0, 0, 1, 1], [0, 1, 0, 1]]).round(0)
    array([-1., -5.])
    >>> machine.transform(rows[:2]).shape, machine.sample(3).shape
    ((2, 1), (3, 4))
    """

    log_z_: LearnedLogZ | None

    def __init__(
        self,
        hidden: int = 16,
        *,
        states: int | ArrayLike | None = None,
        epochs: int = 100,
        batch: int = 128,
        rate: float = 1.0,
        herd: int = 64,
        sweeps: int = 1,
        l2: float = 0.0,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        self.hidden = hidden
        self.states = states
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.herd = herd
        self.sweeps = sweeps
        self.l2 = l2
        self.seed = seed
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    @raises_interrupted
    def fit(self, X: ArrayLike, y: object = None) -> "RBM":
        """Learn from rows of states.

        Afterwards the start, the average and the end are compared, and the chains are tested
        (`report_`). This takes at most half as long as the training, or about a CPU second if that
        is more.

        Ctrl-C raises `Interrupted`, a `KeyboardInterrupt`. Its `result` is this machine as trained
        so far, with `interrupted_` set.
        """
        training, x = self._begin(X)
        start = training.layers
        rows = x.shape[1]
        batch = min(self.batch, rows)
        each = rows // batch
        total, averaged = self.epochs * each, 0
        sums = [np.zeros_like(one) for one in _parameter_arrays(training.layers)]
        with progress_and_interrupt(self.progress, self.epochs, "RBM", "epochs") as (bar, stop):
            for epoch in range(self.epochs):
                order = random_permutation(rows, self.seed, epoch, StreamPurpose.RBM_ROW_ORDER)
                for s in range(each):
                    some = np.ascontiguousarray(x[:, order[s * batch : (s + 1) * batch]])
                    self._step(training, some, self.rate * (1.0 - training.done / total))
                    if training.done > (1.0 - AVERAGED_STEP_SHARE) * total:
                        averaged += 1
                        for one, now in zip(sums, _parameter_arrays(training.layers), strict=True):
                            one += now
                    if stop.is_set():
                        break
                if stop.is_set():
                    break
                bar.update(epoch + 1)
            end = average = training.layers
            if averaged:
                average = RBMParameters(end.first, *(one / averaged for one in sums))
            bar.update(self.epochs, "assessing")
            try:
                assessed = assess_machine(
                    (start, average, end),
                    x,
                    training.herd,
                    stop=stop,
                    l2=self.l2,
                    steps=training.done,
                    batch=batch,
                    sweeps=self.sweeps,
                    seed=self.seed,
                )
            except Interrupted:
                self.interrupted_, self.report_ = True, None
                training.layers = average
                self._keep(training)
                raise Interrupted(
                    f"interrupted after {training.done} of {total} steps: error.result has the "
                    "machine trained so far, which was not compared with the start",
                    self,
                ) from None
            self.interrupted_ = False
        training.layers, self.report_ = assessed.layers, assessed.report
        self._keep(training)
        if assessed.log_z.is_exact:
            self.log_z_ = assessed.log_z
        for sentence in self.report_.warnings:
            warnings.warn(sentence, HerdedWarning, stacklevel=users_level())
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> "RBM":
        """Take one step on these rows, from where the last one ended."""
        if "training_" not in vars(self):
            training, x = self._begin(X)
        else:
            self._check()
            training, x = self.training_, self._columns(X)
        self._step(training, x, self.rate)
        self._keep(training)
        self.interrupted_ = False
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Compute the probability (rows, hidden) that each hidden unit is 1, given the row."""
        check_is_fitted(self, "layers_")
        return self.layers_.hidden_means(self._columns(X))

    def sample(self, rows: int = 1, *, sweeps: int = 1000, seed: int | None = None) -> np.ndarray:
        """Draw states (rows, n_features) of the model from a herd after `sweeps` sweeps.

        The herd starts at states of the training's herd.
        """
        check_is_fitted(self, "layers_")
        for name, value in (("rows", rows), ("sweeps", sweeps)):
            if not is_whole_number(value, 1):
                raise MethodError(
                    f"expected {name} as a whole number from 1, got {short_repr(value)}"
                )
        seed = self.seed if seed is None else seed
        check_seed(seed)
        members = np.arange(rows) % self.training_.herd.shape[1]
        x = np.ascontiguousarray(self.training_.herd[:, members])
        self.layers_.sweep(x, self.training_.done * self.sweeps, sweeps, seed)
        return x.T.astype(np.int64)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Compute the log-probability (rows,) of each row, exactly if `log_z` is exact."""
        check_is_fitted(self, "layers_")
        return self.layers_.log_scores(self._columns(X)) - self.log_z().value

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Compute the mean log-probability of the rows."""
        return float(self.score_samples(X).mean())

    def log_z(self, *, exact: bool | None = None, steps: int = 1000) -> LearnedLogZ:
        """Compute log Z, with its uncertainty.

        Parameters
        ----------
        exact : bool, optional
            True sums over all states of the smaller layer, at most 2^20. False uses annealed
            importance sampling with 16 herds of 64. By default exact if possible.
        steps : int
            The number of temperatures of the annealing.

        Returns
        -------
        LogZ
            `value`, `interval` (95 %), `is_exact`.
        """
        check_is_fitted(self, "layers_")
        if exact is None and self.log_z_ is not None:
            return self.log_z_
        found = None if exact is False else self.layers_.enumerated_log_z()
        if exact and found is None:
            raise MethodError(
                "expected a layer of at most 2^20 joint states for an exact log Z, got more: use "
                "exact=False"
            )
        if found is not None:
            answer = LearnedLogZ(found, (found, found), True)
        else:
            answer = annealed_log_z(self.layers_, steps, self.seed)
        if exact is None:
            self.log_z_ = answer
        return answer

    @property
    def model_(self) -> FactorGraph:
        """The machine as a model for `hd.infer`: visible units first, then hidden ones."""
        check_is_fitted(self, "layers_")
        return self.layers_.as_graph()

    # -- common to fit and partial_fit ------------------------------------------------------------

    def _check(self) -> None:
        given = vars(self)
        for name in ("hidden", "epochs", "batch", "sweeps"):
            if not is_whole_number(given[name], 1):
                got = short_repr(given[name])
                raise MethodError(f"expected {name} as a whole number from 1, got {got}")
        for name in ("rate", "l2"):
            if not is_number_between(given[name], 0.0, 1e6):
                raise MethodError(f"expected {name} of 0 or more, got {short_repr(given[name])}")
        check_herd(self.herd)
        check_seed(self.seed)

    def _begin(self, X: ArrayLike) -> tuple[RBMTraining, np.ndarray]:
        """Build fresh layers, and the rows as columns of states."""
        self._check()
        rows = validate_data(self, X, dtype=np.float64)
        if len(rows) < 2:
            raise ModelError("expected two rows of data or more, got 1 sample")
        states = as_integer_array("X", rows)
        self.states_ = self._states_of(states)
        x = self._within(states)
        layers = RBMParameters.fresh(self.states_, self.hidden, x, self.seed)
        key = stream_key(self.seed, 0, StreamPurpose.RBM_HERD_STARTS)
        bits = random_bits_array(key, self.herd)
        herd = np.ascontiguousarray(x[:, (bits % np.uint64(len(rows))).astype(np.int64)])
        half = np.full(self.hidden, 0.5)
        return RBMTraining(layers, herd, layers.statistics(x)[0], half), x

    def _states_of(self, rows: np.ndarray) -> np.ndarray:
        if self.states is None:
            found: np.ndarray = np.maximum(rows.max(axis=0) + 1, 2)
        else:
            given = as_integer_array("states", self.states)
            if given.shape not in ((), (rows.shape[1],)) or (given < 2).any():
                raise ModelError(
                    f"expected states of 2 or more, one number or one for each of {rows.shape[1]} "
                    f"features, got {short_repr(self.states)}"
                )
            found = np.broadcast_to(given, rows.shape[1]).copy()
        if (found > MAX_OBSERVED_STATES).any():
            raise ModelError(f"expected at most {MAX_OBSERVED_STATES} states, got {found.max()}")
        return found

    def _columns(self, X: ArrayLike) -> np.ndarray:
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self._within(as_integer_array("X", rows))

    def _within(self, rows: np.ndarray) -> np.ndarray:
        """Return rows as columns (visible, rows), after checking that every state is known."""
        if (rows < 0).any():
            r, i = (int(a) for a in np.argwhere(rows < 0)[0])
            raise ModelError(
                f"expected states of 0 or more, got {rows[r, i]} of feature {i} in row {r}: "
                "Negative values in data are not states"
            )
        wrong = rows >= self.states_
        if wrong.any():
            r, i = (int(a) for a in np.argwhere(wrong)[0])
            raise ModelError(
                f"expected states from 0 to {self.states_[i] - 1} of feature {i}, got "
                f"{rows[r, i]} in row {r}"
            )
        return np.ascontiguousarray(rows.T).astype(np.uint16)

    def _step(self, training: RBMTraining, x: np.ndarray, rate: float) -> None:
        training.step(x, rate, self.l2, self.sweeps, self.seed)
        if not np.isfinite(training.layers.weights).all():
            raise divergence_error(self.rate)

    def _keep(self, training: RBMTraining) -> None:
        self.training_, self.layers_ = training, training.layers
        self.log_z_ = None


def _parameter_arrays(layers: RBMParameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return layers.weights, layers.visible_bias, layers.hidden_bias
