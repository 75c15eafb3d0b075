"""Temperatures of annealed methods: pi^(1/T), where T falls from sweep to sweep.

The paper's section 4.3 uses a linear schedule.
"""

import sys
from collections.abc import Callable

import numpy as np

from herded.errors import MethodError
from herded.layouts.state import State
from herded.methods.options import is_between

Schedule = str | Callable[[int, int], float]


def linear(sweep: int, total: int) -> float:
    """Temperature 1 in the first sweep, 0 (the argmax) in the last."""
    return 1.0 - sweep / (total - 1) if total > 1 else 0.0


def check_schedule(schedule: Schedule | None) -> None:
    """A schedule is None, "linear", or a function of (sweep, total)."""
    if schedule is not None and schedule != "linear" and not callable(schedule):
        raise MethodError(
            'expected schedule=None, "linear" or a function of (sweep, total) that gives a '
            f"temperature, got {schedule!r}"
        )


def is_annealed(method: object) -> bool:
    """Whether the temperature of a method falls."""
    return getattr(method, "schedule", None) is not None


def inverse_temperatures(schedule: Schedule, state: State, sweeps: int) -> np.ndarray:
    """1 / T of the next sweeps of a state, infinite where T is 0.

    A schedule with a method `betas(sweeps, total)` is asked once: a call for each sweep of each of
    many short chains takes longer than the chains.
    """
    if hasattr(schedule, "betas"):
        found: np.ndarray = schedule.betas(
            np.arange(state.sweep, state.sweep + sweeps), state.total
        )
        return found
    temperature = schedule if callable(schedule) else linear
    return np.array(
        [
            _beta(temperature, sweep, state.total)
            for sweep in range(state.sweep, state.sweep + sweeps)
        ]
    )


def _beta(schedule: Callable[[int, int], float], sweep: int, total: int) -> float:
    temperature = schedule(min(sweep, total - 1), total)
    if not is_between(temperature, 0.0, sys.float_info.max):
        raise MethodError(
            f"expected a finite temperature of 0 or more from the schedule, got {temperature!r} in "
            f"sweep {sweep} of {total}"
        )
    return 1.0 / float(temperature) if temperature > 0 else np.inf
