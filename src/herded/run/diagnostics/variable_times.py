"""The time that variables take to forget their states, and the noise of their marginals.

The trace (`run/recording/trace.py`) tells the autocorrelation times of some variables. Two kinds
matter:

- Around the mean of all chains. Chains that stay in different modes have a time as long as the run.
  Intervals use this one.
- Around each chain's own mean, or that of each herd. It measures the noise that chains would have
  if they agreed, so it is the one to compare disagreeing chains with.
"""

from typing import NamedTuple

import numpy as np

from herded.run.diagnostics.autocorrelation import autocorrelation_times

MIN_MEMBERS = 4  # of a herd whose members give a time
UNRESOLVED = 0.5  # looks: what is taken of a time that is below the spacing of looks
MOST = 0.75  # of the variables have at most the typical time
RESOLVED = 1.3  # looks: shorter times are unresolved


class VariableTimes(NamedTuple):
    """Autocorrelation times in sweeps of traced variables.

    Attributes
    ----------
    variables : ndarray of shape (V,)
    around_mean : ndarray of shape (V,)
        Around the mean of all chains, with the error of the estimate added; at least 1.
    around_own : ndarray of shape (V,)
        Around each chain's own mean, at most; at least 1.
    """

    variables: np.ndarray
    around_mean: np.ndarray
    around_own: np.ndarray

    @property
    def longest_around_own(self) -> float:
        """What is taken for variables whose times are not known, around each chain's mean."""
        return float(self.around_own.max(initial=1.0))

    @property
    def typical(self) -> float:
        """Most variables have a shorter time."""
        times = np.maximum(self.around_mean, self.around_own)
        return float(np.quantile(times, MOST)) if len(times) else 1.0


NO_TIMES = VariableTimes(np.empty(0, np.int64), np.empty(0), np.empty(0))


def times_around_own_means(values: np.ndarray, chains: int, spacing: float) -> np.ndarray:
    """Return times in sweeps of values (looks, rows, quantities), by rows of chains.

    They are upper bounds where looks are too far apart to tell. A variable that no chain has
    changed has a time of 1: it has no noise that could explain a difference between chains.
    """
    looks, rows, n = values.shape
    members = rows // chains
    if members >= MIN_MEMBERS:
        means = values.sum(axis=0, dtype=np.int64) / looks
        squares = sum(
            np.square(look, dtype=np.int32).sum(axis=0, dtype=np.int64) for look in values
        )
        variance = squares / (looks * rows) - means.mean(axis=0) ** 2
        between = means.reshape(chains, members, n).var(axis=1, ddof=1).mean(axis=0)
        times = looks * between / np.where(variance > 0, variance, 1.0)
    else:
        variance = values.var(axis=(0, 1), dtype=np.float64)
        centred = values - values.mean(axis=0)
        times = np.nan_to_num(autocorrelation_times(centred))
        times /= np.maximum(1.0 - times / looks, 0.5)  # what centring has taken away
        times *= (centred**2).mean(axis=(0, 1)) / np.where(variance > 0, variance, 1.0)
    return in_sweeps(times, spacing, UNRESOLVED)


def in_sweeps(times: np.ndarray, spacing: float, unresolved: float) -> np.ndarray:
    """Convert times in looks to sweeps; unresolved ones become a fraction of the spacing."""
    share = np.where(times >= RESOLVED, 1.0, unresolved)
    found: np.ndarray = np.maximum(share * times * spacing, 1.0)
    return found


def noise_of_frequencies(
    mean: np.ndarray, samples: float, variables: np.ndarray, times: np.ndarray, others: float
) -> np.ndarray:
    """Return the standard errors of frequencies (N, K) in correlated samples.

    Parameters
    ----------
    mean
        The frequencies (N, K).
    samples
        Sweeps of all chains and members together.
    variables, times
        The variables whose times are known, and these.
    others
        The time of all other variables.
    """
    noise: np.ndarray = np.sqrt(np.clip(mean * (1.0 - mean), 0.0, None) * (others / samples))
    noise[variables] *= np.sqrt(times / others)[:, None]
    return noise
