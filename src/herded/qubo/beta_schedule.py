"""The inverse temperatures beta of an annealed run on a quadratic model, from hot to cold.

The last sweep is at temperature 0, where every variable takes its better state, even if the energy
gap is so small that the coldest beta would leave the choice to chance.
"""

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.qubo.spin_biases import SpinBiases
from herded.system.argument_checks import is_number_between
from herded.system.numerics.exp_log import exp_array, log

SCHEDULE_KINDS = ("mixed", "geometric", "linear")

# Tuned on other graphs than those of `python -m benchmarks --only qubo`.
HOT_BETA_FACTOR = 1.2  # times 1 / the strength of a variable: hotter, most spins turn freely
COLD_BETA_FACTOR = 5.0  # times 1 / a weak bias: colder, hardly a spin turns against it
WEAK_BIAS_SHARE = 0.1  # the quantile of biases that counts as weak
LINEAR_TAIL_FACTOR = 7.0  # a "mixed" temperature falls linearly to 1/7 of its start


@dataclass(frozen=True)
class BetaSchedule:
    """A schedule for annealed methods: beta from `hot` to `cold`, and temperature 0 at the end."""

    hot: float
    cold: float
    kind: str = "mixed"

    def times(self, factor: float) -> "BetaSchedule":
        """Return the same schedule for a model whose log-potentials are divided by `factor`."""
        least, most = sys.float_info.min, sys.float_info.max
        hot, cold = (min(max(b * factor, least), most) if b else b for b in (self.hot, self.cold))
        return replace(self, hot=hot, cold=cold)

    def betas(self, sweeps: np.ndarray, total: int) -> np.ndarray:
        """Return the inverse temperatures of `sweeps` in a run of `total`."""
        parts = np.minimum(sweeps / max(total - 2, 1), 1.0)
        if self.kind == "geometric":
            logs = (1.0 - parts) * log(self.hot) + parts * log(self.cold)
            betas = np.where(parts > 0.0, exp_array(logs), self.hot)
        elif self.kind == "mixed":
            betas = self._mixed(parts)
        else:
            betas = self.hot + (self.cold - self.hot) * parts
        return np.where(sweeps >= total - 1, np.inf, betas)

    def _mixed(self, parts: np.ndarray) -> np.ndarray:
        """Lower the temperature linearly to 1 / LINEAR_TAIL_FACTOR, then geometrically at the same
        initial rate.
        """
        whole = min(self.cold / self.hot, sys.float_info.max)
        fall = min(LINEAR_TAIL_FACTOR, whole)
        left = log(whole / fall)
        turn = (fall - 1.0) / (fall - 1.0 + left) if left > 0 else 1.0
        rate = left / (1.0 - turn) if turn < 1 else 0.0
        early, late = np.minimum(parts / turn, 1.0), np.maximum(parts - turn, 0.0)
        betas: np.ndarray = self.hot / (1.0 - early + early / fall) * exp_array(rate * late)
        return betas

    def __call__(self, sweep: int, total: int) -> float:
        """Return the inverse temperature of one sweep."""
        beta = float(self.betas(np.array([sweep]), total)[0])
        return 1.0 / beta if beta > 0 else math.inf


def make_beta_schedule(
    biases: SpinBiases, beta_range: tuple[float, float] | None, kind: str
) -> BetaSchedule:
    """Build the schedule with the given range, or with one that suits the biases."""
    if kind not in SCHEDULE_KINDS:
        raise MethodError(
            f"expected beta_schedule_type to be one of {', '.join(SCHEDULE_KINDS)}, got {kind!r}"
        )
    if beta_range is None:
        return BetaSchedule(*fitting_range(biases), kind)
    try:
        hot, cold = beta_range
    except (TypeError, ValueError):
        hot = cold = math.nan
    if not (is_number_between(cold, 0, sys.float_info.max) and is_number_between(hot, 0, cold)):
        raise MethodError(
            f"expected beta_range=(hot, cold), two finite numbers with 0 <= hot <= cold, got "
            f"{beta_range!r:.80}"
        )
    if kind != "linear" and hot == 0:
        raise MethodError(
            f"expected a hot beta above 0 for a {kind} schedule, got 0: use "
            'beta_schedule_type="linear"'
        )
    return BetaSchedule(float(hot), float(cold), kind)


def fitting_range(biases: SpinBiases) -> tuple[float, float]:
    """Return (hot, cold): where strong biases begin to matter, and where weak ones are settled.

    A coupling matters at about the temperature at which the weaker of its ends settles: the strong
    ends of many couplings, such as hubs, need not be hotter than their neighbours.
    """
    strength = biases.strength
    if not strength.any():
        return 1.0, 1.0
    ends = np.minimum(strength[biases.rows], strength[biases.columns])
    shares = np.concatenate([biases.moderate_fields**2, biases.couplings**2])
    strengths = np.concatenate([strength, ends])
    hot = HOT_BETA_FACTOR * float(_sum(shares) / _sum(shares * strengths))
    sizes = np.abs(np.concatenate([biases.fields, biases.couplings]))
    cold = COLD_BETA_FACTOR / float(np.quantile(sizes[sizes > 0], WEAK_BIAS_SHARE))
    return 2.0**-biases.exponent * hot, 2.0**-biases.exponent * max(cold, hot)


def _sum(numbers: np.ndarray) -> Any:
    """Sum in order, which np.sum does not promise, because the last bit changes the samples."""
    return np.cumsum(numbers)[-1]
