"""95 % intervals from a few independent runs: Student's t, since their spread is not known well.

Herding in time has a bias that all of its chains share. Where a control without it was run
(`run/control.py`), an interval also reaches as far as the control is away, and its standard error
further. `python -m benchmarks.trust intervals` prints how often intervals cover the truth.
"""

from typing import Any, NamedTuple

import numpy as np

# 97.5 % quantiles of Student's t for 1, 2, .. 30 degrees of freedom (any book of tables).
T_TABLE = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
NORMAL, WIDE = 1.959964, 2.575829  # 97.5 % and 99.5 % quantiles of the normal distribution
ROUNDING = 1e-5  # no interval of a variable that is not known is narrower
RULE_OF_THREE = 3.0  # what never came in n visits has, with 95 % confidence, at most 3 / n


class Control(NamedTuple):
    """What a run without bias has found."""

    marginals: np.ndarray  # (N, K)
    standard_error: np.ndarray


def margins(
    chains: np.ndarray, control: Control | None = None, unseen: np.ndarray | float = 0.0
) -> np.ndarray:
    """How far 95 % intervals of marginals (C, N, K) reach to each side of their mean.

    `unseen` is how far they reach at least where the mean is 0 or 1 (`unseen_half_width`): the
    state may be rarer than the run, or than the numbers of its kernel, can tell.

    Examples
    --------
    >>> from herded.run.intervals import margins
    >>> margins(np.array([[[0.5, 0.5]], [[0.6, 0.4]]])).round(2)
    array([[0.64, 0.64]])
    """
    spread: np.ndarray = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
    mean = chains.mean(axis=0)
    floor = np.where((mean > 0) & (mean < 1), ROUNDING, unseen)
    reach = np.maximum(t_quantile(len(chains)) * spread, floor)
    if control is not None:
        away = np.abs(mean - control.marginals)
        reach = np.maximum(reach, away + control.standard_error)
    return reach


def margins_of(result: Any) -> np.ndarray:
    """(N, K) margins of the marginals of a `Result`."""
    chains, model = result.chain_marginals, result.model
    visits = float(result.sweeps) * getattr(result.method, "herd", 1) * len(chains)
    unseen = unseen_half_width(model.evidence, model.cardinalities, chains.shape[2], visits)
    return margins(chains, result.kept.get("control"), unseen)


def unseen_half_width(
    evidence: np.ndarray, cardinalities: np.ndarray, width: int, visits: float
) -> np.ndarray:
    """(N, K) half-widths for states that never or always came in so many visits.

    They are 0 for variables that are known, which are known exactly, and for places of no state.

    Examples
    --------
    >>> from herded.run.intervals import unseen_half_width
    >>> unseen_half_width(np.array([-1, 1]), np.array([2, 2]), 2, visits=600.0)
    array([[0.005, 0.005],
           [0.   , 0.   ]])
    """
    possible = (evidence < 0)[:, None] & (np.arange(width) < cardinalities[:, None])
    open_ = possible & (cardinalities > 1)[:, None]
    return np.where(open_, max(ROUNDING, RULE_OF_THREE / max(visits, 1.0)), 0.0)


def t_quantile(runs: int) -> float:
    """How many standard errors a 95 % interval from so many runs reaches to each side.

    Examples
    --------
    >>> from herded.run.intervals import t_quantile
    >>> t_quantile(4), round(t_quantile(1000), 4)
    (3.1824, 1.9623)
    """
    freedom = runs - 1
    if freedom <= len(T_TABLE):
        return T_TABLE[freedom - 1]
    return expanded_t_quantile(NORMAL, freedom)


def wide_t_quantile(runs: int) -> float:
    """How many standard errors a 99 % interval from six runs or more reaches to each side.

    Examples
    --------
    >>> from herded.run.intervals import wide_t_quantile
    >>> round(wide_t_quantile(8), 2), round(wide_t_quantile(32), 2)
    (3.49, 2.74)
    """
    return expanded_t_quantile(WIDE, runs - 1)


def expanded_t_quantile(z: float, freedom: int) -> float:
    """Convert a normal quantile to Student's t: the first terms in 1 / freedom (Fisher)."""
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + (z**3 + z) / 4 / freedom + second / freedom**2 + third / freedom**3
