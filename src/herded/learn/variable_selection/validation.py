"""Checks of the input of variable selection, each with its own message."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError, ModelError
from herded.learn.variable_selection.regression_problem import PriorStrength
from herded.models.validation import check_names
from herded.system.argument_checks import (
    float_array,
    is_number_between,
    is_whole_number,
    short_repr,
)

MAX_ENUMERATED_COLUMNS, DEFAULT_MAX_ENUMERATED_COLUMNS = 24, 20  # columns
DEFAULT_MAX_COLUMNS = 100  # columns of a sampled model, by default
MAX_SQUARED_NUMBER = 1e150  # largest number whose squares can be summed


def check_regression(
    X: ArrayLike, y: ArrayLike, names: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Check X and y, and return arrays of finite numbers and the names of columns."""
    labels = getattr(X, "columns", None) if names is None else names
    table, target = finite_table("X", X), float_array("y", y, 1)
    if not np.isfinite(target).all():
        raise ModelError("expected finite numbers in y, got NaN or infinity: leave those rows out")
    if len(target) != len(table):
        raise ModelError(
            f"expected y with {len(table)} numbers, one per row of X, got {len(target)}"
        )
    if len(table) < 3:
        raise ModelError(
            f"expected X with 3 rows or more, got n_samples = {len(table)}: nothing can be learned "
            "from fewer"
        )
    if max(np.abs(table).max(), np.abs(target).max()) > MAX_SQUARED_NUMBER:
        raise ModelError(
            f"expected numbers of at most {MAX_SQUARED_NUMBER:g} in X and y, got larger ones"
        )
    found = check_names(labels, table.shape[1])
    return table, target, found or tuple(f"x{j}" for j in range(table.shape[1]))


def finite_table(name: str, values: ArrayLike) -> np.ndarray:
    """Check a table of finite numbers."""
    table = float_array(name, values, 2)
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ModelError(
            f"expected finite numbers in {name}, got {table[row, column]} in row {row}, column "
            f"{column}: leave such rows or columns out, or fill them in"
        )
    return table


def check_variation(y_length: float, varies: np.ndarray, p: int) -> None:
    """Raise unless y and some column of X vary."""
    if not y_length > 0:
        raise ModelError("expected y that varies, got the same number in every row")
    if not len(varies):
        raise ModelError(f"expected a column of X that varies, got {p} that are constant")


def constant_columns_warning(names: tuple[str, ...], varies: np.ndarray) -> list[str]:
    """Warn of columns that are constant."""
    left = [name for j, name in enumerate(names) if j not in set(varies.tolist())]
    if not left:
        return []
    shown_names = ", ".join(left[:5]) + (", ..." if len(left) > 5 else "")
    return [f"constant columns duplicate the intercept, and were ignored: {shown_names}"]


def choose_algorithm(wanted: str | None, p: int) -> str:
    """Choose how to search the models of p columns."""
    if wanted not in (None, "exact", "herd", "herded"):
        raise MethodError(f'expected method "exact", "herd" or "herded", got {short_repr(wanted)}')
    if wanted == "exact" and p > MAX_ENUMERATED_COLUMNS:
        raise MethodError(
            f'expected at most {MAX_ENUMERATED_COLUMNS} columns for method="exact", got {p}: use '
            '"herd"'
        )
    return wanted or ("exact" if p <= DEFAULT_MAX_ENUMERATED_COLUMNS else "herd")


def choose_max_columns(wanted: int | None, p: int, how: str) -> int:
    """Choose the largest number of columns of a model."""
    if wanted is None:
        return p if how == "exact" else min(p, DEFAULT_MAX_COLUMNS)
    if not is_whole_number(wanted, 1):
        raise MethodError(
            f"expected largest as a whole number of 1 or more, got {short_repr(wanted)}"
        )
    return min(int(wanted), p)


def check_regression_prior(kind: str, g: float | None, slab: float, rows: int) -> PriorStrength:
    """Check a prior and return its numbers."""
    if kind not in ("g", "spike-slab"):
        raise MethodError(f'expected prior "g" or "spike-slab", got {short_repr(kind)}')
    if not (g is None or (is_number_between(g, 0, 1e12) and g > 0)):
        raise MethodError(f"expected g as a number above 0, at most 1e12, got {short_repr(g)}")
    if not (is_number_between(slab, 1e-6, 1e6)):
        raise MethodError(f"expected slab as a number from 1e-6 to 1e6, got {short_repr(slab)}")
    if kind == "g":
        return PriorStrength(float(rows if g is None else g), 0.0)
    return PriorStrength(None, 1.0 / (float(slab) * float(slab) * (rows - 1)))


def check_inclusion(given: float | tuple[float, float]) -> float | tuple[float, float]:
    """Check the prior probability of a column, or the parameters of its beta prior."""
    if is_number_between(given, 0, 1) and 0 < float(given) < 1:  # type: ignore[arg-type]
        return float(given)  # type: ignore[arg-type]
    pair = tuple(given) if isinstance(given, (tuple, list)) else ()
    if len(pair) == 2 and all(is_number_between(x, 0, math.inf) and 0 < x < math.inf for x in pair):
        return float(pair[0]), float(pair[1])
    raise MethodError(
        "expected inclusion as a probability between 0 and 1, or two numbers above 0 such as "
        f"(1, 1), got {short_repr(given)}"
    )
