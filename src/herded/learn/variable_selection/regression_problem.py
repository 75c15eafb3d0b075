"""A regression for variable selection: columns of length 1, and two numbers for each prior.

y and all columns are centred (the intercept is in every model) and divided by their lengths. With
A the products of the chosen columns, q = c' A^-1 c for their products c with y, and k columns, both
priors have the same form (intercept and noise have Jeffreys' prior, and are integrated out):

    log posterior = prior(k) - width log|A| - half log(1 - shrink q),   half = (rows - 1) / 2

g-prior (Zellner 1986): shrink = g / (1 + g), width = 0, and -log(1 + g) / 2 for each column.
Spike and slab: A has a ridge on its diagonal, shrink = 1, width = 1/2, log(ridge) / 2 each.
"""

from typing import NamedTuple

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import log


class StandardisedColumns(NamedTuple):
    """Centred columns of length 1, and the map back to the user's columns."""

    products: np.ndarray  # (p, p) of columns with each other
    with_y: np.ndarray  # (p,)
    means: np.ndarray  # (p,)
    lengths: np.ndarray  # (p,)
    y_mean: float
    y_length: float
    rows: int


class PriorStrength(NamedTuple):
    """The strength of the prior: the g of a g-prior, or else the ridge of a slab."""

    g: float | None
    ridge: float


class RegressionProblem(NamedTuple):
    """The arrays that kernels read."""

    products: np.ndarray  # (p, p), with the ridge on its diagonal
    with_y: np.ndarray  # (p,)
    odds: np.ndarray  # (p + 1,) prior log odds of one column more, by how many there are
    prior: np.ndarray  # (p + 1,) their sums: the prior of a model by its number of columns
    half: float
    shrink: float
    width: float
    spread: float  # of the variance of noise, in that of y: 1 / (rows - 3)


def columns_of(X: np.ndarray, y: np.ndarray) -> StandardisedColumns:
    """Centre and scale the columns; fixed summation orders give the same bits everywhere."""
    work = np.ascontiguousarray(X.T, np.float64).copy()
    target = np.array(y, np.float64).reshape(1, -1)
    means, lengths = np.empty(len(work)), np.empty(len(work))
    y_mean, y_length = np.empty(1), np.empty(1)
    standardise(work, means, lengths)
    standardise(target, y_mean, y_length)
    products = np.zeros((len(work), len(work)))
    with_y = np.zeros((len(work), 1))
    rows = np.ascontiguousarray(work.T)
    _products(rows, rows, products)
    _products(rows, np.ascontiguousarray(target.T), with_y)
    return StandardisedColumns(
        products,
        np.ascontiguousarray(with_y[:, 0]),
        means,
        lengths,
        float(y_mean[0]),
        float(y_length[0]),
        len(X),
    )


def problem_of(
    columns: StandardisedColumns,
    strength: PriorStrength,
    *,
    inclusion: float | tuple[float, float],
    largest: int,
) -> RegressionProblem:
    """Build the posterior under a prior of this strength."""
    g, ridge = strength
    p, rows = len(columns.with_y), columns.rows
    products = columns.products.copy()
    products[np.arange(p), np.arange(p)] += 0.0 if g is not None else ridge
    each = -0.5 * log(1.0 + g) if g is not None else 0.5 * log(ridge)
    odds = np.array([each + _prior_odds(inclusion, k, p) for k in range(p)] + [-np.inf])
    odds[largest:] = -np.inf
    prior = np.zeros(p + 1)
    for k in range(p):
        prior[k + 1] = prior[k] + odds[k]
    return RegressionProblem(
        products,
        columns.with_y,
        odds,
        prior,
        half=0.5 * (rows - 1),
        shrink=g / (1.0 + g) if g is not None else 1.0,
        width=0.0 if g is not None else 0.5,
        spread=1.0 / (rows - 3) if rows > 3 else np.nan,
    )


def _prior_odds(inclusion: float | tuple[float, float], k: int, p: int) -> float:
    """Return the log odds of one more column if k of the other p - 1 are in."""
    if isinstance(inclusion, tuple):  # a beta prior on the probability, which is integrated out
        a, b = inclusion
        found: float = log((a + k) / (b + (p - 1 - k)))
    else:
        found = log(inclusion / (1.0 - inclusion))
    return found


@jit
def standardise(columns, means, lengths):
    """Centre and divide each row of `columns` by its length; a constant one becomes 0."""
    p, n = columns.shape
    for j in range(p):
        total = 0.0
        for i in range(n):
            total += columns[j, i]
        means[j] = total / n
        largest, squares = 0.0, 0.0
        for i in range(n):
            columns[j, i] -= means[j]
            largest = max(largest, abs(columns[j, i]))
        # The residual of a constant column is rounding.
        if largest <= 1e-13 * abs(means[j]) or largest == 0.0:
            largest = 0.0
        for i in range(n):
            columns[j, i] = columns[j, i] / largest if largest > 0.0 else 0.0
            squares += columns[j, i] * columns[j, i]
        length = np.sqrt(squares)
        lengths[j] = length * largest
        for i in range(n):
            columns[j, i] = columns[j, i] / length if largest > 0.0 else 0.0


@jit
def _products(left, right, out):
    """Compute out = left' right of (n, p) and (n, m) by rows: the inner loop has no sums."""
    n, p = left.shape
    m = right.shape[1]
    for a in range(p):
        for i in range(n):
            value = left[i, a]
            for b in range(m):
                out[a, b] += value * right[i, b]
