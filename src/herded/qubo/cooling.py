"""The inverse temperatures beta of an annealed run on a quadratic model, from hot to cold.

The last sweep is at temperature 0, where every variable takes its better state, also over gaps so
small that the coldest beta would leave them to chance.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import MethodError, ModelError
from herded.methods.options import is_between
from herded.system.exp import exp_array, log

KINDS = ("geometric", "linear")

# At the hottest beta, the steepest step up in energy has odds of 1 to 2; at the coldest, less than
# one variable in a hundred runs leaves its better state over the gap of a weak bias. "Weak" is the
# 10 % quantile: the weakest of many biases may be close to 0, and most sweeps would then be at
# temperatures at which nothing moves.
STEEPEST_ODDS = 2.0
RUNS_PER_MISTAKE = 100
WEAK = 0.1
ROUNDING = 1e-9  # of the strongest bias: smaller ones are rounding errors of biases that cancel


@dataclass(frozen=True)
class Cooling:
    """A schedule for annealed methods: beta from `hot` to `cold`, and temperature 0 at the end."""

    hot: float
    cold: float
    kind: str = "geometric"

    def betas(self, sweeps: np.ndarray, total: int) -> np.ndarray:
        """The inverse temperatures of `sweeps` out of `total`."""
        parts = np.minimum(sweeps / max(total - 2, 1), 1.0)
        if self.kind == "geometric":
            logs = (1.0 - parts) * log(self.hot) + parts * log(self.cold)
            betas = np.where(parts > 0.0, exp_array(logs), self.hot)
        else:
            betas = self.hot + (self.cold - self.hot) * parts
        return np.where(sweeps >= total - 1, np.inf, betas)

    def __call__(self, sweep: int, total: int) -> float:
        """The temperature of one sweep."""
        beta = float(self.betas(np.array([sweep]), total)[0])
        return 1.0 / beta if beta > 0 else math.inf


def cooling(bqm: Any, beta_range: tuple[float, float] | None, kind: str) -> Cooling:
    """The schedule with the given range, or with one that fits the biases."""
    if kind not in KINDS:
        raise MethodError(f'expected beta_schedule_type="geometric" or "linear", got {kind!r}')
    if beta_range is None:
        return Cooling(*fitting_range(bqm), kind)
    try:
        hot, cold = beta_range
    except (TypeError, ValueError):
        hot = cold = math.nan
    if not (is_between(cold, 0, sys.float_info.max) and is_between(hot, 0, cold)):
        raise MethodError(
            f"expected beta_range=(hot, cold), two finite numbers with 0 <= hot <= cold, got "
            f"{beta_range!r:.80}"
        )
    if kind == "geometric" and hot == 0:
        raise MethodError(
            "expected a hot beta above 0 for a geometric schedule, got 0: use "
            'beta_schedule_type="linear"'
        )
    return Cooling(float(hot), float(cold), kind)


def fitting_range(bqm: Any) -> tuple[float, float]:
    """(hot, cold) from the steps in energy that turning one spin can make."""
    spins = bqm.change_vartype("SPIN", inplace=False)
    linear, (rows, columns, quadratic), _ = spins.to_numpy_vectors()
    fields = np.abs(np.asarray(linear, np.float64))
    couplings = np.abs(np.asarray(quadratic, np.float64))
    biases = np.concatenate([fields, couplings])
    strong = biases.max(initial=0.0)
    if not np.isfinite(strong):
        raise ModelError("expected finite biases, got NaN or infinity: use large ones as penalties")
    if strong < sys.float_info.min:
        return 1.0, 1.0
    np.add.at(fields, rows, couplings)
    np.add.at(fields, columns, couplings)
    weak = float(np.quantile(biases[biases > ROUNDING * strong], WEAK))
    hot = log(STEEPEST_ODDS) / (2 * float(fields.max()))
    return hot, log(RUNS_PER_MISTAKE * len(linear)) / (2 * weak)
