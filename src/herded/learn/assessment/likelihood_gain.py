"""The gain of one set of parameters over another: exactly, from draws, or by ladders.

A gain is a difference of penalised mean log-likelihoods in nats per row. Four ways to compute it:

- *exact*: log Z by elimination, where its tables fit in `MAX_EXACT_BYTES`;
- *bridge*: log Z ratios by Bennett's acceptance ratio, from draws of the herd that the fit has
  trained with. Parameters that are close differ little in the score of any state, so this is far
  more precise than two values of log Z;
- *path*: the integral of the slope along the line between both, by Simpson's rule, if unknown
  states of rows are drawn too;
- *ladders*: log Z of both by tempering, for herds that mix slowly (`ladder_gain`).
"""

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from herded.errors import MemoryLimitError
from herded.learn.fitting.exact_moments import ExactMoments
from herded.learn.fitting.lbfgs import dot
from herded.learn.fitting.objectives import Likelihood
from herded.run.diagnostics.intervals import expanded_t_quantile

MAX_EXACT_BYTES = 2.0**27  # of elimination: a second or two for each set of parameters
PATH_POINTS = 5  # of Simpson's rule between two sets of parameters
N_COMPARISONS = 2  # the average and the end are compared with the start: intervals hold for both
INTERVAL_ERROR_RATE = 0.01  # of both intervals together
NEGLIGIBLE_GAIN = 0.01  # nats per row


class LikelihoodGain(NamedTuple):
    """A gain in nats per row and the half-width of its interval, 0 if it is exact.

    With a probability of 99 % the intervals of all candidates hold together, so that the best one
    may be chosen.
    """

    value: float
    half_width: float

    @property
    def is_positive(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.value - self.half_width > 0.0

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval is below `NEGLIGIBLE_GAIN`; it may be negative."""
        return self.value + self.half_width < NEGLIGIBLE_GAIN


def gain_quantile(batches: int, looks: int = 1) -> float:
    """Return the half-width of an interval in standard errors.

    `looks` is how often candidates may be compared again with more draws.
    """
    tail = INTERVAL_ERROR_RATE / (2.0 * N_COMPARISONS * looks)
    return expanded_t_quantile(NormalDist().inv_cdf(1.0 - tail), batches - 1)


def exact_value(objective: Likelihood, max_memory: float) -> Callable[[np.ndarray], float] | None:
    """Return the mean log-likelihood as a function of parameters, if elimination fits."""
    known, family = objective.known, objective.known.rows.family
    if known.drawn is not None:
        return None
    try:
        model = objective.model or ExactMoments(family.graph, min(max_memory, MAX_EXACT_BYTES))
    except MemoryLimitError:
        return None

    def value(parameters: np.ndarray) -> float:
        tables = family.tables(parameters)
        return known.of(tables)[0] - model.log_z(tables)

    return value


def path_gain(
    slope_batches: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: np.ndarray,
    end: np.ndarray,
) -> LikelihoodGain:
    """Integrate the slope from `start` to `end`.

    ``slope_batches(x, direction)`` returns means of the slope at `x` along `direction`, one for
    each batch of draws. The half-width covers the noise of the slopes and the error of Simpson's
    rule, estimated as its difference from the rule with half of the points.
    """
    direction = end - start
    if not direction.any():
        return LikelihoodGain(0.0, 0.0)
    positions = np.linspace(1.0, 0.0, PATH_POINTS)  # backwards: the herd is where the fit ended
    batches = np.stack([slope_batches(start + t * direction, direction) for t in positions])
    slopes = batches.mean(axis=1)
    errors = batches.std(axis=1, ddof=1) / np.sqrt(batches.shape[1])
    fine = np.array([1.0, 4.0, 2.0, 4.0, 1.0]) / 12.0
    coarse = np.array([1.0, 0.0, 4.0, 0.0, 1.0]) / 6.0
    noise = gain_quantile(batches.shape[1]) * np.sqrt(dot(fine**2, errors**2))
    value = dot(fine, slopes)
    # A difference within the noise says nothing about the rule itself.
    discretisation = max(0.0, abs(value - dot(coarse, slopes)) - noise)
    return LikelihoodGain(value, float(noise + discretisation))
