"""Evidence against an exact probability that stays valid however often one looks: e-values.

An e-value is a number that is at least 0 and has a mean of at most 1 if the claim is true. By
Ville's inequality a sequence of them that is multiplied up, visit by visit, ever passes 1 / a with
a probability of at most a. So a test that rejects at `LIMIT` has a false-alarm rate of at most
`FALSE_ALARMS`, and may be looked at after every batch.

The members of a herd draw together, so that their number in a state varies less than that of
independent draws. A binomial test would not be valid for it. Both e-values use only what is proved:
the mean of a visit, given all that came before, and the range that it cannot leave.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

FALSE_ALARMS = 1e-6  # of one test
LIMIT = -math.log(FALSE_ALARMS)
STAKES = 2.0 ** np.arange(-14.0, 3.0)  # of both signs; their mean is a mixture
SHARES = 2.0 ** -np.arange(0.02, 14.0)  # of the largest bet that cannot lose everything


def log_mean_exp(values: np.ndarray) -> np.ndarray:
    """log of the mean of exp(values) over the last axis."""
    top = values.max(axis=-1, keepdims=True)
    found: np.ndarray = top[..., 0] + np.log(np.exp(values - top).mean(axis=-1))
    return found


def log_e_of_total(
    total: ArrayLike, visits: int, mean: ArrayLike, low: ArrayLike, high: ArrayLike
) -> np.ndarray:
    """Log e-values of sums over visits that have this mean each and lie in [low, high].

    Of all laws with this mean and range the one on both ends has the largest mean of exp(t x), for
    every t. So exp(t total) over its power is an e-value, and a mixture over t is one too. The mean
    of e-values is an e-value, so that `log_mean_exp` makes one test of many.

    Examples
    --------
    >>> from benchmarks.accuracy.bias.e_values import LIMIT, log_e_of_total
    >>> bool(log_e_of_total(500.0, 1000, 0.5, 0.0, 1.0) < 0.0)
    True
    >>> bool(log_e_of_total(620.0, 1000, 0.5, 0.0, 1.0) > LIMIT)
    True
    """
    total, mean, low, high = (np.asarray(x, float)[..., None] for x in (total, mean, low, high))
    width = high - low
    stakes = np.array([*STAKES, *-STAKES]) / width
    up, down = (mean - low) / width, (high - mean) / width
    bound = np.log1p(down * np.expm1(stakes * (low - mean)) + up * np.expm1(stakes * (high - mean)))
    return log_mean_exp(stakes * (total - visits * mean) - visits * bound)


def log_e_of_fractions(fractions: np.ndarray, means: np.ndarray) -> float:
    """Log e-value of independent numbers in [0, 1] with these means: bets on each of them.

    A bet multiplies what one has by 1 + c (x / mean - 1), or by 1 - c (x - mean) / (1 - mean),
    which never is below 0. It needs no variance, and gains the more the less they vary.
    """
    x, p = fractions.reshape(-1), means.reshape(-1)
    up, down = x / p - 1, (p - x) / (1 - p)
    bets = [float(np.log1p(c * gain).sum()) for gain in (up, down) for c in SHARES]
    return float(log_mean_exp(np.array(bets)))
