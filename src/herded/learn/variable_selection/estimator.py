"""Variable selection as an estimator for scikit-learn."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import Interrupted, MethodError, missing_extra_error
from herded.learn.variable_selection.result import Selection
from herded.learn.variable_selection.selection import select_variables
from herded.run.interrupts import raises_interrupted
from herded.system.argument_checks import is_number_between, short_repr

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # an older one has no validate_data
    raise missing_extra_error("scikit-learn 1.6 or later", "VariableSelector", "learn") from error


class VariableSelector(SelectorMixin, RegressorMixin, BaseEstimator):
    """Bayesian variable selection: a regressor that averages over models, and a selector.

    `predict` averages over all models; `transform` keeps the columns whose posterior probability
    is above `threshold`.

    Parameters
    ----------
    prior, g, slab, inclusion, method, sweeps, burn_in, herd, chains, largest, seed
        As in `herded.learn.select_variables`.
    threshold : float
        1/2 keeps the columns of the median probability model.

    Attributes
    ----------
    inclusion_ : ndarray, (p,)
        Posterior probabilities of columns.
    interval_ : ndarray, (p, 2)
    coef_ : ndarray, (p,)
    intercept_ : float
    selection_ : Selection
        The complete answer, with the best models and warnings.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 6))
    >>> selector = hd.learn.VariableSelector().fit(X, 2 * X[:, 1] + rng.normal(size=80))
    >>> selector.get_support()
    array([False,  True, False, False, False, False])
    >>> selector.transform(X).shape
    (80, 1)
    """

    def __init__(
        self,
        prior: str = "g",
        *,
        g: float | None = None,
        slab: float = 1.0,
        inclusion: float | tuple[float, float] = 0.5,
        method: str | None = None,
        sweeps: int = 1000,
        burn_in: int | None = None,
        herd: int = 64,
        chains: int = 4,
        largest: int | None = None,
        threshold: float = 0.5,
        seed: int = 0,
    ) -> None:
        self.prior = prior
        self.g = g
        self.slab = slab
        self.inclusion = inclusion
        self.method = method
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.herd = herd
        self.chains = chains
        self.largest = largest
        self.threshold = threshold
        self.seed = seed

    @raises_interrupted
    def fit(self, X: ArrayLike, y: ArrayLike) -> "VariableSelector":
        """Compute the posterior probabilities of columns, and averaged coefficients."""
        if not is_number_between(self.threshold, 0, 1):
            raise MethodError(
                f"expected threshold as a number from 0 to 1, got {short_repr(self.threshold)}"
            )
        table, target = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        names = vars(self).get("feature_names_in_")
        options = {name: value for name, value in self.get_params().items() if name != "threshold"}
        try:
            found = select_variables(table, target, names=names, progress=False, **options)
        except Interrupted as error:
            if error.result is not None:
                error.result = self._keep(error.result)
            raise
        return self._keep(found)

    def _keep(self, found: Selection) -> "VariableSelector":
        self.selection_ = found
        self.inclusion_ = found.inclusion
        self.interval_ = found.interval
        self.coef_ = found.coefficients
        self.intercept_ = found.intercept
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Compute the mean of y, averaged over models."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        found: np.ndarray = self.intercept_ + table @ self.coef_
        return found

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.inclusion_ > self.threshold
