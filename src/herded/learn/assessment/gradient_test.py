"""A test of whether a noisy gradient is zero, of stated size and power.

The gradient of parameter p is measured in standard errors of the data: the mean of its statistic
over R rows is itself known only up to sqrt(variance / R), so a smaller gradient does not matter.
The test passes if every gradient is below one standard error of the data, or not significant at
FALSE_ALARM_RATE for all parameters together (Bonferroni, with Student's t from the spread of
batches).
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from herded.run.diagnostics.intervals import expanded_t_quantile

FALSE_ALARM_RATE = 0.01  # probability that the test fails although every gradient is zero
TEST_POWER = 0.95  # probability with which a gradient of `detectable` is found
# in standard errors of the data: smaller gradients count as zero
NEGLIGIBLE_GRADIENT_SIGMAS = 1.0
MAX_DETECTABLE = 4.0  # in standard errors of the data: a test that misses more is useless


class GradientTest(NamedTuple):
    """Whether a gradient is zero, and how sensitive the test was.

    Attributes
    ----------
    passed : bool
    largest : float
        The largest gradient of a parameter, in standard errors of the data.
    detectable : float
        In the same unit: a parameter's gradient of this size would have failed the test with
        probability `power`.
    false_alarm : float
        The largest probability of failing if every gradient is zero.
    power : float
    is_significant : bool
        Whether some gradient is neither negligible nor explained by noise.

    Examples
    --------
    >>> data = [[0, 0], [1, 1], [0, 0], [1, 0], [0, 1], [1, 1]] * 50
    >>> fitted = hd.learn.fit(hd.ising_grid(np.zeros((1, 2)), 0.0), data, method="herd")
    >>> fitted.gradient_test.passed, fitted.gradient_test.power
    (True, 0.95)
    """

    passed: bool
    largest: float
    detectable: float
    false_alarm: float
    power: float
    is_significant: bool = False

    @property
    def is_weak(self) -> bool:
        """Whether the test found no gradient, but could have missed one that matters."""
        return not self.passed and not self.is_significant

    def __str__(self) -> str:
        return (
            f"the largest gradient is {self.largest:.1f} standard errors of the data (one of "
            f"{self.detectable:.1f} would be detected with probability {self.power})"
        )


def critical_value(parameters: int, batches: int) -> float:
    """Return the standard errors above which some of `parameters` gradients are significant."""
    tail = FALSE_ALARM_RATE / (2.0 * max(1, parameters))
    return expanded_t_quantile(NormalDist().inv_cdf(1.0 - tail), batches - 1)


def power_margin(parameters: int, batches: int) -> float:
    """Return the standard errors beyond the critical value at which `TEST_POWER` is reached.

    The estimated standard error fluctuates by 1 / sqrt(2 (batches - 1)), and the limit with it.
    """
    limit_spread = critical_value(parameters, batches) / np.sqrt(2.0 * (batches - 1))
    return float(NormalDist().inv_cdf(TEST_POWER) * np.hypot(1.0, limit_spread))


def check_gradient(
    gradient: np.ndarray, error: np.ndarray, unit: np.ndarray, batches: int
) -> GradientTest:
    """Test whether a gradient (P,) with standard errors (P,) from `batches` batches is zero.

    `unit` (P,) are the standard errors of the data. `batches` of 0 means that the gradient is
    exact.
    """
    limit, margin = NEGLIGIBLE_GRADIENT_SIGMAS * unit, np.zeros(len(unit))
    if batches:
        limit = np.maximum(limit, critical_value(len(unit), batches) * error)
        margin = power_margin(len(unit), batches) * error
    detectable = float(((limit + margin) / unit).max(initial=0.0))
    is_small = bool((np.abs(gradient) <= limit).all())
    return GradientTest(
        passed=is_small and detectable <= MAX_DETECTABLE,
        largest=float((np.abs(gradient) / unit).max(initial=0.0)),
        detectable=detectable,
        false_alarm=FALSE_ALARM_RATE if batches else 0.0,
        power=TEST_POWER if batches else 1.0,
        is_significant=not is_small,
    )
