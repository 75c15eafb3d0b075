"""Helpers of all training: a loop that can be watched and ended, and early stopping."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.progress import Progress
from herded.system.numerics.counter_rng import random_bits_array, stream_key


@contextmanager
def progress_and_interrupt(
    progress: bool | None, total: int, name: str, unit: str
) -> Iterator[tuple[Progress, threading.Event]]:
    """Show a bar for `total` units of work, and yield an event that Ctrl-C sets."""
    bar = Progress(progress, total, name, unit)
    bar.expect_compilers()
    with stop_event_on_interrupt() as stop, closing(bar):
        yield bar, stop


@dataclass
class EarlyStopping:
    """Early stopping: counts evaluations on held-out data since the best score."""

    most: int
    best: float = -np.inf
    since: int = 0

    def look(self, score: float) -> bool:
        """Count a look; whether its score is the best so far."""
        is_best = score > self.best
        self.since = 0 if is_best else self.since + 1
        self.best = max(self.best, score)
        return is_best

    @property
    def is_over(self) -> bool:
        return self.since >= self.most


def random_permutation(n: int, *stream: int) -> np.ndarray:
    """Return the numbers below n in random order, such as the rows of an epoch."""
    return np.argsort(random_bits_array(stream_key(*stream), n), kind="stable")


def subtract_l2_penalty(value: float, gradient: np.ndarray, x: np.ndarray, l2: np.ndarray) -> Any:
    """Return a function to maximise, and its gradient, less sum_p l2_p x_p^2 / 2."""
    return value - float((l2 * x * x).sum()) / 2.0, gradient - l2 * x


def divergence_error(rate: float) -> MethodError:
    """Return the error to raise where steps went out of all bounds."""
    return MethodError(
        f"expected a rate with which training converges, got {rate!r}: use a smaller one"
    )
