"""The normal distribution in plain arithmetic, with our own exp and log for the same bits
everywhere."""

import numpy as np

from herded.system.numerics.exp_log import exp, log

HALF_LOG_2_PI = 0.9189385332046727
_MIN_FRACTION_ARGUMENT = 3.0  # above, a continued fraction; below, a series
_TERMS = 80
_PER_UNIT, _EDGE = 32, 40  # the table of log-odds: steps of 1 / 32, up to 40 standard deviations


def log_density(x: float) -> float:
    """Compute the log of the density at x."""
    return -0.5 * x * x - HALF_LOG_2_PI


def log_below(x: float) -> float:
    """Compute log P(Z < x)."""
    if x < -_MIN_FRACTION_ARGUMENT:
        return log_density(x) - float(log(_fraction(-x)))
    if x > _MIN_FRACTION_ARGUMENT:
        return float(log(1.0 - float(exp(log_below(-x)))))
    term = total = x  # Marsaglia 2004: P = 1/2 + density (x + x^3 / 3 + x^5 / 15 + ...)
    for n in range(1, _TERMS):
        term = term * x * x / (2 * n + 1)
        before, total = total, total + term
        if total == before:  # converged: the remaining terms are smaller
            break
    return float(log(0.5 + total * float(exp(log_density(x)))))


def hazard(x: float) -> float:
    """Compute density(x) / P(Z < x), minus the mean of Z below x."""
    return (
        _fraction(-x) if x < -_MIN_FRACTION_ARGUMENT else float(exp(log_density(x) - log_below(x)))
    )


def _fraction(x: float) -> float:
    """density(x) / P(Z > x) = x + 1 / (x + 2 / (x + 3 / ...)), for x > 3."""
    found = x
    for n in range(_TERMS, 0, -1):
        found = x + n / found
    return found


def log_odds_above(u: np.ndarray) -> np.ndarray:
    """Compute log P(Z < u) - log P(Z > u) of every number by linear interpolation in a table."""
    size = np.minimum(np.abs(u), _EDGE - 1e-9) * _PER_UNIT
    below = size.astype(np.int64)
    found: np.ndarray = _TABLE[below] + (size - below) * (_TABLE[below + 1] - _TABLE[below])
    found *= np.where(u < 0, -1.0, 1.0)
    return found


def _odds_table() -> np.ndarray:
    steps = [n / _PER_UNIT for n in range(_EDGE * _PER_UNIT + 1)]
    return np.array([log_below(u) - log_below(-u) for u in steps])


_TABLE = _odds_table()
