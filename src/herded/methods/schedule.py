"""Temperatures of annealed methods: pi^(1/T), where T falls from sweep to sweep.

The paper's section 4.3 uses a linear schedule.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from herded.errors import MethodError
from herded.layouts.state import State
from herded.methods.protocol import sampler_capabilities
from herded.system.argument_checks import is_number_between

Schedule = str | Callable[[int, int], float]


@runtime_checkable
class VectorSchedule(Protocol):
    """A schedule that gives the inverse temperatures of many sweeps at once."""

    def betas(self, sweeps: np.ndarray, total: int) -> np.ndarray:
        """Return the inverse temperatures of `sweeps` out of `total`."""


def linear_temperature(sweep: int, total: int) -> float:
    """Return temperature 1 in the first sweep, and 0 (the argmax) in the last."""
    return 1.0 - sweep / (total - 1) if total > 1 else 0.0


@dataclass(frozen=True)
class LinearCooling:
    """A temperature that falls linearly from `temperature` to 0, the argmax, in the last sweep."""

    temperature: float

    def __post_init__(self) -> None:
        if not is_number_between(self.temperature, 0.0, sys.float_info.max):
            raise MethodError(
                f"expected a finite temperature of 0 or more, got {self.temperature!r}"
            )

    def __call__(self, sweep: int, total: int) -> float:
        return self.temperature * linear_temperature(sweep, total)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as JSON can write them."""
        return {"type": "LinearCooling", "temperature": float(self.temperature)}


def check_schedule(schedule: Schedule | None) -> None:
    """Refuse a schedule other than None, "linear", or a function of (sweep, total)."""
    if schedule is not None and schedule != "linear" and not callable(schedule):
        raise MethodError(
            'expected schedule=None, "linear" or a function of (sweep, total) that gives a '
            f"temperature, got {schedule!r}"
        )


def is_annealed(method: object) -> bool:
    """Return whether the temperature of a method falls."""
    return sampler_capabilities(method).is_annealed


def inverse_temperatures(schedule: Schedule, state: State, sweeps: int) -> np.ndarray:
    """Return 1 / T of the next sweeps of a state, infinite where T is 0.

    A `VectorSchedule` is asked once: a call for each sweep of each of many short chains takes
    longer than the chains.
    """
    if isinstance(schedule, VectorSchedule):
        return schedule.betas(np.arange(state.sweep, state.sweep + sweeps), state.total)
    temperature = schedule if callable(schedule) else linear_temperature
    return np.array(
        [
            _beta(temperature, sweep, state.total)
            for sweep in range(state.sweep, state.sweep + sweeps)
        ]
    )


def constant_beta(schedule: Schedule | None) -> float:
    """Return 1 / T of a schedule that stays at one temperature, and 1 for any other.

    Only then are draws from one distribution, which layouts of herds must know to judge whether
    their rounding changes it.
    """
    if schedule is None or schedule == "linear":
        return 1.0
    try:
        if isinstance(schedule, VectorSchedule):
            first, last = schedule.betas(np.arange(2), 2)
        else:
            first, last = (_beta(cast(Any, schedule), sweep, 2) for sweep in range(2))
    except Exception:  # of a function that is not ours: the run reports it, with its sweep
        return 1.0
    return float(first) if first == last and np.isfinite(first) else 1.0


def _beta(schedule: Callable[[int, int], float], sweep: int, total: int) -> float:
    temperature = schedule(min(sweep, total - 1), total)
    if not is_number_between(temperature, 0.0, sys.float_info.max):
        raise MethodError(
            f"expected a finite temperature of 0 or more from the schedule, got {temperature!r} in "
            f"sweep {sweep} of {total}"
        )
    return 1.0 / float(temperature) if temperature > 0 else np.inf
