"""Checks of the input and prior of a Dirichlet mixture, and the default prior."""

from typing import Any, NamedTuple

import numpy as np

from herded.errors import MethodError, ModelError
from herded.learn.mixture.clusters import MixtureData, categorical_data, gaussian_data
from herded.learn.variable_selection.regression_problem import standardise
from herded.system.argument_checks import is_number_between, short_repr

FAMILIES = ("gaussian", "categorical")
MAX_CATEGORICAL_VALUES = 2**16  # of a categorical column
MAX_POINT_VALUE = 1e150  # its square is still finite


class PointScaling(NamedTuple):
    """The map from the user's columns to those of kernels."""

    family: str
    varies: np.ndarray  # which columns
    means: np.ndarray
    deviations: np.ndarray
    categories: np.ndarray  # values of each column, of categorical ones


def check_mixture_prior(
    *,
    family: str,
    alpha: float,
    kappa: float,
    nu: float | None,
    within: float,
    pseudo: float,
    columns: int,
) -> None:
    """Check the prior and return its numbers."""
    if family not in FAMILIES:
        raise MethodError(f'expected family "gaussian" or "categorical", got {short_repr(family)}')
    for name, value in (("alpha", alpha), ("kappa", kappa), ("within", within), ("pseudo", pseudo)):
        if not is_number_between(value, 1e-9, 1e9):
            raise MethodError(
                f"expected {name} as a number from 1e-9 to 1e9, got {short_repr(value)}"
            )
    if not (nu is None or is_number_between(nu, columns - 1 + 1e-6, 1e9)):
        raise MethodError(
            f"expected nu above the number of columns less one, {columns - 1}, got {short_repr(nu)}"
        )


def check_scaling(table: np.ndarray, family: str) -> PointScaling:
    """Determine how to centre and scale points, or how many values each column has."""
    n, d = table.shape
    everything = np.arange(d)
    if family == "categorical":
        values = whole_values(table)
        if (values == values[0]).all():
            raise constant_points_error(n, d)
        categories = values.max(axis=0).astype(np.int64) + 1
        return PointScaling(family, everything, np.zeros(d), np.ones(d), categories)
    columns = np.ascontiguousarray(table.T).copy()
    means, lengths_ = np.empty(d), np.empty(d)
    standardise(columns, means, lengths_)
    varies = np.flatnonzero(lengths_ > 0)
    if not len(varies):
        raise constant_points_error(n, d)
    return PointScaling(family, varies, means[varies], lengths_[varies] / np.sqrt(n), np.zeros(0))


def constant_points_error(n: int, d: int) -> ModelError:
    """Build the error to raise if all points are equal."""
    return ModelError(
        f"expected a column of X that varies, got {d} constant ones in {n} rows (n_samples = {n}): "
        "there is nothing to cluster"
    )


def whole_values(table: np.ndarray) -> np.ndarray:
    """Check categorical values, which are whole numbers from 0."""
    if (table != np.floor(table)).any() or table.min() < 0 or table.max() >= MAX_CATEGORICAL_VALUES:
        raise ModelError(
            f"expected whole numbers from 0 to {MAX_CATEGORICAL_VALUES - 1} as the values of "
            "categorical columns, got other values: use scikit-learn's OrdinalEncoder"
        )
    return table.astype(np.int64)


def arrange_points(table: np.ndarray, scale: PointScaling, prior: dict[str, Any]) -> MixtureData:
    """Arrange points for kernels, with a prior."""
    if scale.family == "categorical":
        values = whole_values(table)
        if (values >= scale.categories).any():
            column = int(np.flatnonzero((values >= scale.categories).any(axis=0))[0])
            raise ModelError(
                f"expected values from 0 to {scale.categories[column] - 1} in column {column}, as "
                f"in fit, got {values[:, column].max()}"
            )
        return categorical_data(values, scale.categories, prior["alpha"], prior["pseudo"])
    with np.errstate(over="ignore"):  # reported below
        points = (table[:, scale.varies] - scale.means) / scale.deviations
    if not (np.abs(points) <= MAX_POINT_VALUE).all():
        raise ModelError(
            f"expected points within {MAX_POINT_VALUE:g} standard deviations of those of fit, got "
            "some farther away"
        )
    nu = prior["nu"] if prior["nu"] is not None else len(scale.varies) + 2.0
    wished = prior["within"] * max(
        nu - len(scale.varies) - 1.0, 1.0
    )  # so that its mean is `within`
    return gaussian_data(points, prior["alpha"], prior["kappa"], nu, wished)
