"""The results of variable selection."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError, missing_extra_error
from herded.system.argument_checks import float_array

MAX_PRINTED_COLUMNS = 20  # columns of a printed table


class RankedModel(NamedTuple):
    """One of the best models found."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    odds: float  # relative to the posterior probability of the best model
    log_odds: float  # relative to the model without columns


class SelectionAverages(NamedTuple):
    """Averages over models, for columns of length 1 that vary."""

    inclusion: np.ndarray
    margin: np.ndarray  # half-width of its interval
    mean: np.ndarray  # of coefficients
    square: np.ndarray
    ranked: list[tuple[float, np.ndarray]]  # log posterior and 0 / 1 for each column, best first
    method: str
    sweeps: int = 0
    warnings: tuple[str, ...] = ()
    interrupted: bool = False
    stopped: bool = False  # by Ctrl-C, possibly after the last sweep


@dataclass(frozen=True, repr=False)
class Selection:
    """The result of `select_variables`.

    Attributes
    ----------
    names : tuple of str
        The names of the columns.
    inclusion : ndarray, (p,)
        The posterior probability that a column is in the model.
    interval : ndarray, (p, 2)
        95 % intervals from independent herds; both ends equal the probability if all models were
        enumerated.
    coefficients, deviations : ndarray, (p,)
        Posterior mean and standard deviation of the coefficients, averaged over models: the
        coefficient of an excluded column is 0.
    intercept : float
    models : tuple of RankedModel
        The best models found, best first. Their odds are exact even if models were sampled.
    method : str
        "exact" or "herd".
    sweeps : int
        The number of recorded sweeps of each herd.
    warnings : tuple of str
    interrupted : bool
        Whether Ctrl-C ended the run early, so that it is the `result` of an `Interrupted`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> found = hd.learn.select_variables(X, X[:, 2] + 0.1 * X[:, 0] ** 2)
    >>> found.inclusion.round(2)[2], found.models[0].columns
    (np.float64(1.0), (2,))
    """

    names: tuple[str, ...]
    inclusion: np.ndarray
    interval: np.ndarray
    coefficients: np.ndarray
    deviations: np.ndarray
    intercept: float
    models: tuple[RankedModel, ...]
    method: str
    sweeps: int
    warnings: tuple[str, ...]
    interrupted: bool = False

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Compute the mean of y for new rows, averaged over models."""
        rows = float_array("X", X, 2)
        if rows.shape[1] != len(self.names):
            raise ModelError(f"expected X with {len(self.names)} columns, got {rows.shape[1]}")
        found: np.ndarray = self.intercept + rows @ self.coefficients
        return found

    def to_pandas(self) -> Any:
        """Build a table with a row for each column: its probability, interval and coefficient."""
        try:
            import pandas
        except ImportError as error:
            raise missing_extra_error("pandas", "to_pandas", "xarray") from error
        low, high = self.interval.T
        table = {
            "inclusion": self.inclusion,
            "low": low,
            "high": high,
            "coefficient": self.coefficients,
            "deviation": self.deviations,
        }
        return pandas.DataFrame(table, index=list(self.names))

    def plot(self) -> Any:
        """Plot the inclusion probabilities with their intervals, as a matplotlib figure."""
        from herded.learn.variable_selection.inclusion_plot import inclusion_figure

        return inclusion_figure(self)

    def __repr__(self) -> str:
        how = "all models" if self.method == "exact" else f"herds of {self.sweeps} sweeps"
        lines = [f"Selection of {len(self.names)} columns, by {how}"]
        for j in np.argsort(-self.inclusion, kind="stable")[:MAX_PRINTED_COLUMNS]:
            low, high = self.interval[j]
            reach = "" if self.method == "exact" else f" ({low:.3f} to {high:.3f})"
            lines.append(
                f"  {self.names[j]}: {self.inclusion[j]:.3f}{reach}, coefficient "
                f"{self.coefficients[j]:.4g} +- {self.deviations[j]:.2g}"
            )
        if len(self.names) > MAX_PRINTED_COLUMNS:
            lines.append(f"  and {len(self.names) - MAX_PRINTED_COLUMNS} less probable")
        return "\n".join([*lines, *(f"  warning: {warning}" for warning in self.warnings)])
