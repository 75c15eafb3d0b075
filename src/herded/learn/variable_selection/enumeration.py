"""Enumeration of all models of few columns: a tree whose branches eliminate one column each.

The first half of the models omits the first column, the second half includes it, and so on. A
branch keeps the residual products of later columns (Gaussian elimination), so models share all work
on their common first columns. A model costs a few operations, and since no column is ever removed
again, rounding does not accumulate.
"""

from typing import NamedTuple

import numpy as np

from herded.learn.variable_selection.regression_problem import RegressionProblem
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log

MIN_RELATIVE_LENGTH = 1e-9  # of a column's squared length; below it, the column depends on others


class EnumerationAverages(NamedTuple):
    """Averages over all models."""

    scores: np.ndarray  # (2^p,) log posterior; the first column is the highest bit
    inclusion: np.ndarray  # (p,)
    mean: np.ndarray  # (p,) coefficients of columns of length 1
    square: np.ndarray  # (p,) and their squares


def enumerate_models(problem: RegressionProblem) -> EnumerationAverages:
    """Score all models, then average over them."""
    p = len(problem.with_y)
    scores = np.empty(2**p)
    inclusion, mean, square = np.zeros(p), np.zeros(p), np.zeros(p)
    none = np.empty(0)
    walk_models(problem, scores, none, inclusion, mean, square)
    weights = np.empty_like(scores)
    total = normalise_weights(scores, weights)
    walk_models(problem, none, weights, inclusion, mean, square)
    return EnumerationAverages(scores, inclusion / total, mean / total, square / total)


@jit
def normalise_weights(scores, weights):
    """Convert scores to weights relative to the best model's 1; return their sum."""
    top, total = scores[0], 0.0
    for code in range(len(scores)):
        top = max(top, scores[code])
    for code in range(len(scores)):
        weights[code] = exp(scores[code] - top)
        total += weights[code]
    return total


@jit
def walk_models(problem, scores, weights, inclusion, mean, square):
    """Write all scores, or if weights are given sum each model's results times its weight."""
    p = len(problem.with_y)
    left = np.empty((p + 1, p, p))
    rest = np.empty((p + 1, p))
    for a in range(p):
        rest[0, a] = problem.with_y[a]
        for b in range(p):
            left[0, a, b] = problem.products[a, b]
    q, log_det = np.zeros(p + 1), np.zeros(p + 1)
    size = np.zeros(p + 1, np.int64)  # of the model so far, or -1 if it is impossible
    chosen = np.empty(p, np.int64)
    beta, variance, rows = np.empty(p), np.empty(p), np.empty((p, p))
    for code in range(2**p):
        level = 0
        while level < p - 1 and code & ((1 << (p - 1 - level)) - 1) != 0 and code > 0:
            level += 1  # up to the lowest bit of `code`, where it begins to differ
        for at in range(level, p):
            _branch(at, (code >> (p - 1 - at)) & 1, left, rest, q, log_det, size, chosen)
        k = size[p]
        gone = 1.0 - problem.shrink * q[p]
        if len(scores):
            scores[code] = -np.inf
            if k >= 0 and gone > 0.0:
                fit = problem.width * log_det[p] + problem.half * log(gone)
                scores[code] = problem.prior[k] - fit
        elif weights[code] > 0.0:
            _solve(k, chosen, left, rest, beta, variance, rows)
            noise = gone * problem.spread
            for a in range(k):
                j = chosen[a]
                value = problem.shrink * beta[a]
                inclusion[j] += weights[code]
                mean[j] += weights[code] * value
                more = value * value + problem.shrink * variance[a] * noise
                square[j] += weights[code] * more


@jit
def _branch(at, taken, left, rest, q, log_det, size, chosen):
    """Eliminate column `at` from the residual products."""
    p = rest.shape[1]
    size[at + 1], q[at + 1], log_det[at + 1] = size[at], q[at], log_det[at]
    if size[at] < 0:
        return
    if not taken:
        for a in range(at + 1, p):
            rest[at + 1, a] = rest[at, a]
            for b in range(a, p):
                left[at + 1, a, b] = left[at, a, b]
        return
    pivot, own = left[at, at, at], rest[at, at]
    if pivot < MIN_RELATIVE_LENGTH:
        size[at + 1] = -1
        return
    for a in range(at + 1, p):
        share = left[at, at, a] / pivot
        rest[at + 1, a] = rest[at, a] - share * own
        for b in range(a, p):
            left[at + 1, a, b] = left[at, a, b] - share * left[at, at, b]
    chosen[size[at]] = at
    size[at + 1] = size[at] + 1
    q[at + 1] = q[at] + own * own / pivot
    log_det[at + 1] = log_det[at] + log(pivot)


@jit
def _solve(k, chosen, left, rest, beta, variance, rows):
    """Solve for a model's coefficients and the diagonal of the inverse of its products."""
    for a in range(k - 1, -1, -1):
        j = chosen[a]
        pivot = left[j, j, j]
        beta[a] = rest[j, j] / pivot
        variance[a] = 1.0 / pivot
        for b in range(a + 1, k):
            rows[a, b] = 0.0
        for b in range(a + 1, k):
            share = left[j, j, chosen[b]] / pivot
            beta[a] -= share * beta[b]
            rows[a, b] -= share
            for c in range(b + 1, k):
                rows[a, c] -= share * rows[b, c]
        for b in range(a + 1, k):
            i = chosen[b]
            variance[a] += rows[a, b] * rows[a, b] / left[i, i, i]
