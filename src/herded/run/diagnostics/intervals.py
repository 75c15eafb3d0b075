"""Intervals of 95 % from a few independent runs: Student's t, since their spread is uncertain.

Herding in time has a bias that all of its chains share. Where a control without it was run
(`run/diagnostics/cross_check.py`), an interval also reaches as far as the control is away, and its
standard error further. `python -m benchmarks.accuracy.calibration intervals` prints how often
intervals cover the truth.
"""

from typing import NamedTuple

import numpy as np

from herded.models.constraints.start_states import possible_states
from herded.models.factor_graph import has_factors
from herded.models.protocol import Model
from herded.run.diagnostics.variable_times import VariableTimes, noise_of_frequencies

# 97.5 % quantiles of Student's t for 1, 2, .. 30 degrees of freedom (any book of tables).
T_TABLE = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
# 97.5 % and 99.5 % quantiles of the normal distribution
NORMAL_QUANTILE_95, NORMAL_QUANTILE_99 = 1.959964, 2.575829
MIN_HALF_WIDTH = 1e-5  # no interval of a variable that is not known is narrower
# of a state, or of all others together: their spread over a few chains says little
MIN_VISITS_FOR_SPREAD = 50
TINY = 1e-12  # sweeps, instead of no time at all
VISITS_PER_CLUSTER = 2.0  # visits that come together, since neighbouring sweeps are alike


class UnbiasedMarginals(NamedTuple):
    """The marginals of a run without bias."""

    marginals: np.ndarray  # (N, K)
    standard_error: np.ndarray


def half_widths(chains: np.ndarray, control: UnbiasedMarginals | None = None) -> np.ndarray:
    """Return how far 95 % intervals of marginals (C, N, K) reach to each side of their mean.

    Where the mean is 0 or 1, `rare_margins` says how far they reach at least.

    Examples
    --------
    >>> from herded.run.diagnostics.intervals import half_widths
    >>> half_widths(np.array([[[0.5, 0.5]], [[0.6, 0.4]]])).round(2)
    array([[0.64, 0.64]])
    """
    spread: np.ndarray = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
    mean = chains.mean(axis=0)
    floor = np.where((mean > 0) & (mean < 1), MIN_HALF_WIDTH, 0.0)
    reach = np.maximum(t_quantile_95(len(chains)) * spread, floor)
    if control is not None:
        away = np.abs(mean - control.marginals)
        reach = np.maximum(reach, away + control.standard_error)
    return reach


def rare_margins(frequencies: np.ndarray, samples: float, is_open: np.ndarray) -> np.ndarray:
    """Return how far intervals of rarely visited states reach at least, (N, K); 0 for all others.

    Of a state that was visited k times, the number of visits that could have been expected is below
    k + 1.96 sqrt(k + 1) + 1.92 at 97.5 % (Poisson's, rounded up), also where k is 0 and all chains
    agree. Visits are taken to come in clusters of `VISITS_PER_CLUSTER`.

    Parameters
    ----------
    frequencies
        The share of visits (N, K), over all chains.
    samples
        Sweeps of all chains and members together.
    is_open
        (N, K): which states are neither known nor impossible.

    Examples
    --------
    >>> from herded.run.diagnostics.intervals import rare_margins
    >>> rare_margins(np.array([[1.0, 0.0], [0.5, 0.5]]), 1000, np.full((2, 2), True)).round(4)
    array([[0.0078, 0.0078],
           [0.    , 0.    ]])
    """
    visits = np.minimum(frequencies, 1.0 - frequencies) * samples
    clusters = np.maximum(visits, 0.0) / VISITS_PER_CLUSTER
    reach = (
        VISITS_PER_CLUSTER
        * (NORMAL_QUANTILE_95 * np.sqrt(clusters + 1.0) + NORMAL_QUANTILE_95**2 / 2)
        / max(samples, 1.0)
    )
    found: np.ndarray = np.where(is_open & (visits <= MIN_VISITS_FOR_SPREAD), reach, 0.0)
    return found


def correlated_margins(
    frequencies: np.ndarray, samples: float, times: VariableTimes, is_averaged: bool
) -> np.ndarray:
    """Return the least half-widths (N, K) for correlated draws of independent chains.

    A few chains may agree by chance, and their spread then says too little. The noise of a
    frequency also follows from the variable's autocorrelation time.

    Parameters
    ----------
    frequencies
        The share of visits (N, K), over all chains.
    samples
        Sweeps of all chains together.
    times
        A time of 1 is too short to resolve, and others are upper bounds.
    is_averaged
        Whether conditional probabilities were averaged. Each is the expectation of the next visit,
        so that their noise lacks what a visit adds to it: about two sweeps of the time.
    """
    known, others = times.around_mean, float(np.median(times.around_mean))
    if is_averaged:
        known, others = np.maximum(known - 2.0, TINY), max(others - 2.0, TINY)
    noise = noise_of_frequencies(frequencies, samples, times.variables, known, others)
    reach: np.ndarray = NORMAL_QUANTILE_95 * noise
    return reach


def open_states(model: Model) -> np.ndarray:
    """Return which states (N, K) are neither known from evidence nor proved impossible."""
    if model.has_hard_zeros and not has_factors(model):
        states = np.arange(int(model.cardinalities.max())) < model.cardinalities[:, None]
    else:
        states = possible_states(model)
    several = states.sum(axis=1) > 1
    found: np.ndarray = states & (several & (model.evidence < 0))[:, None]
    return found


def t_quantile_95(runs: int) -> float:
    """Return the half-width of a 95 % interval from this many runs, in standard errors.

    Examples
    --------
    >>> from herded.run.diagnostics.intervals import t_quantile_95
    >>> t_quantile_95(4), round(t_quantile_95(1000), 4)
    (3.1824, 1.9623)
    """
    freedom = runs - 1
    if freedom <= len(T_TABLE):
        return T_TABLE[freedom - 1]
    return expanded_t_quantile(NORMAL_QUANTILE_95, freedom)


def t_quantile_99(runs: int) -> float:
    """Return how many standard errors a 99 % interval from six runs or more reaches to each side.

    Examples
    --------
    >>> from herded.run.diagnostics.intervals import t_quantile_99
    >>> round(t_quantile_99(8), 2), round(t_quantile_99(32), 2)
    (3.49, 2.74)
    """
    return expanded_t_quantile(NORMAL_QUANTILE_99, runs - 1)


def expanded_t_quantile(z: float, freedom: int) -> float:
    """Convert a normal quantile to Student's t: the first terms in 1 / freedom (Fisher)."""
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + (z**3 + z) / 4 / freedom + second / freedom**2 + third / freedom**3
