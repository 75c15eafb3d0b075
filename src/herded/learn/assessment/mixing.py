"""The mixing of a herd of chains: its memory, from the differences between members' averages.

Averages of single members over n looks differ by a share of the total variance that is 1 / n for
independent looks and 1 for chains that never move. n times this share is a lower bound of the
autocorrelation time, since chains that have not moved yet cannot show more than n.
"""

from typing import NamedTuple

import numpy as np

MIN_MIXING_LOOKS = 8  # fewer cannot show slow mixing
MIN_MEMBERS_FOR_MIXING = 16  # the spread of fewer members' averages is too uncertain
MAX_SHARE = 0.1  # longest memory as a share of the training: 10 autocorrelation times
MAX_STUCK = 0.5  # share of the variance between members above which chains hardly moved
MAX_CORRELATION_BISECTIONS = 50  # of the interval that contains a correlation


class MixingReport(NamedTuple):
    """How well the chains of a model mix at the parameters that a fit returns.

    Attributes
    ----------
    is_slow : bool
        Whether chains remember their states for longer than a tenth of the training or half of the
        measurement, or new chains (half of them from rows of data, half from random states)
        disagree with those of the training.
    memory : float
        The longest autocorrelation time of any variable, in sweeps; a lower bound if chains are
        slow, NaN with too few members to tell.
    sweeps : int
        Length of the measurement.
    disagreement : float
        The largest difference between both groups of chains, divided by what chance explains (the
        critical value at 1 % for all statistics together): a value above 1 is a contradiction.
    """

    is_slow: bool
    memory: float
    sweeps: int
    disagreement: float

    def __str__(self) -> str:
        if self.disagreement > 1.0:
            return f"new chains disagree with those of the training after {self.sweeps} sweeps"
        return f"chains remember their states for {self.memory:.0f} of {self.sweeps} sweeps or more"


class MemberAverages:
    """Running sums of the states of each member, and of their squares."""

    def __init__(self) -> None:
        self.looks = 0
        self.sums: np.ndarray = np.zeros((0, 0))
        self.squares: np.ndarray = np.zeros(0)

    def add(self, x: np.ndarray) -> None:
        """Add the states (members, quantities) of one look."""
        if not self.looks:
            self.sums, self.squares = np.zeros(x.shape), np.zeros(x.shape[1])
        self.sums += x
        self.squares += (x.astype(np.float64) ** 2).sum(axis=0)
        self.looks += 1

    def memory(self) -> float:
        """Return the longest autocorrelation time in looks, or NaN if it cannot be estimated."""
        members = len(self.sums)
        if self.looks < MIN_MIXING_LOOKS or members < MIN_MEMBERS_FOR_MIXING:
            return np.nan
        means = self.sums / self.looks
        total = self.squares / (self.looks * members) - means.mean(axis=0) ** 2
        between = means.var(axis=0, ddof=1)
        # A variable that is nearly constant shows a handful of visits to its rare state, which
        # members share unevenly by chance.
        moves = total > 10.0 / (self.looks * members)
        if not moves.any():
            return 1.0
        return float(max(1.0, self.looks * (between[moves] / total[moves]).max()))


def variance_inflation(memory: float, looks: int, batches: int) -> float:
    """Divide the variance of a mean over `looks` looks by the estimate from the spread of batches.

    Both are those of an autoregression of order 1 whose `memory` `MemberAverages` would measure in
    that many looks. Batches shorter than the memory are correlated, and differ too little.
    """
    if not memory > 1.0:  # or unknown
        return 1.0
    share, size = min(memory / looks, 0.95), looks / batches
    low, high = 0.0, 1.0
    for _ in range(MAX_CORRELATION_BISECTIONS):
        middle = 0.5 * (low + high)
        if _variance_of_mean(middle, looks) < share:
            low = middle
        else:
            high = middle
    whole, batch = _variance_of_mean(low, looks), _variance_of_mean(low, round(size))
    return max(1.0, whole * (batches - 1) / max(batch - whole, 1e-3))


def _variance_of_mean(correlation: float, looks: int) -> float:
    """Compute the variance of the mean of a stationary autoregression of variance 1."""
    powers = np.cumprod(np.full(looks - 1, correlation))
    weights = 1.0 - np.arange(1, looks) / looks
    return float((1.0 + 2.0 * (powers * weights).sum()) / looks)
