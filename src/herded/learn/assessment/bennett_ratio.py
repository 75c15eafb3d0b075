"""log Z along a path of models from draws at each of them: Bennett's acceptance ratio (1976).

With W = log w1(x) - log w0(x), where w0 and w1 are the unnormalised weights of two models,
log(Z1 / Z0) is the number D that makes the mean of 1 / (1 + exp(D - W)) over draws from model 0
equal to that of 1 / (1 + exp(W - D)) over draws from model 1. The identity is exact: the models may
be any distance apart, but draws of one must be probable in the other (`MIN_OVERLAP`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.system.numerics.exp_log import exp_array

MAX_BISECTIONS = 60  # of the interval that contains D
MIN_OVERLAP = 0.02  # mean acceptance; two normal W whose deviation is 4 have 0.025


class PathDraws(NamedTuple):
    """Draws from one model of a path."""

    above: np.ndarray  # (calls, members) W from this model to the next one
    below: np.ndarray  # (calls, members) W from the previous model to this one
    inflation: float  # true variance of a mean, divided by that of batches


class LogRatio(NamedTuple):
    """log(Z / Z of the first model) and its standard error."""

    value: float
    error: float


def log_ratios(
    path: Sequence[PathDraws], batches: int, min_overlap: float = MIN_OVERLAP
) -> list[LogRatio]:
    """Estimate log(Z_j / Z_0) for every model of the path.

    Errors come from the spread of batches of calls. Draws of a model between two others enter both
    ratios, so errors are summed by model, not by ratio.
    """
    found = [LogRatio(0.0, 0.0)]
    influences = np.zeros((len(path), batches))
    inflation = np.array([draws.inflation for draws in path])
    value, has_overlap = 0.0, True
    for j in range(len(path) - 1):
        forward, backward = path[j].above, path[j + 1].below
        step = _balance(forward, backward)
        first, second = _acceptance(forward - step), _acceptance(step - backward)
        has_overlap &= min(first.mean(), second.mean()) >= min_overlap
        slope = (first * (1.0 - first)).mean() + (second * (1.0 - second)).mean()
        influences[j] += batch_means(first, batches) / max(slope, 1e-300)
        influences[j + 1] -= batch_means(second, batches) / max(slope, 1e-300)
        value += step
        variance = inflation * influences.var(axis=1, ddof=1) / batches
        found.append(LogRatio(value, float(np.sqrt(variance.sum())) if has_overlap else np.inf))
    return found


def batch_means(values: np.ndarray, batches: int) -> np.ndarray:
    """Average consecutive calls of `values` (calls, ...)."""
    per_call = values.reshape(len(values), -1).mean(axis=1)
    return np.array([part.mean() for part in np.array_split(per_call, batches)])


def _acceptance(w: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + exp_array(-np.clip(w, -300.0, 300.0)))


def _balance(forward: np.ndarray, backward: np.ndarray) -> float:
    """Find D where both mean acceptances are equal; their difference falls with D."""
    low = float(min(forward.min(), backward.min()))
    high = float(max(forward.max(), backward.max()))
    for _ in range(MAX_BISECTIONS):
        middle = 0.5 * (low + high)
        if _acceptance(forward - middle).mean() > _acceptance(middle - backward).mean():
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
