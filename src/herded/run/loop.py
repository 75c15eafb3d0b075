"""The loop of every run: advance by a block of sweeps, look up, go on.

The bits of a run depend neither on the size of its blocks nor on threads nor on interruptions.
Only where a run is given seconds does the clock decide how many sweeps there are.
"""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from herded.run.progress import Callback, Progress, Snapshot

ENDLESS = 2**60  # sweeps of a run that only the clock ends
LONGEST = 0.1  # seconds of a block of a run with a time limit
SHARE = 0.5  # of the time so far: early blocks are short, for callbacks


class Run(Protocol):
    """What is run: by a sampler (`run.sampling`) or by a solver (`run.solving`)."""

    done: int  # sweeps, those of the burn-in included
    seconds: float  # since its first start, without pauses
    interrupted: bool

    @property
    def name(self) -> str:
        """What a progress bar calls it."""

    @property
    def total(self) -> int:
        """Sweeps at most."""

    @property
    def most(self) -> int:
        """Sweeps of a block at most."""

    def is_finished(self) -> bool:
        """Whether there is nothing left to do."""

    def advance(self, most: int) -> int:
        """Run a block of at most `most` sweeps, and give how many it had."""

    def snapshot(self) -> Snapshot:
        """The run as it is now."""


def run_all(
    run: Run,
    stopping: AbstractContextManager[threading.Event],
    *,
    seconds: float | None = None,
    progress: bool | None = None,
    callback: Callback | None = None,
    save: Callable[[], None] | None = None,
    save_every: float = 30.0,
    is_brief: bool = False,
) -> None:
    """Advance `run` until it is finished, its time is up, or the event of `stopping` is set."""
    before, rows = run.seconds, ENDLESS if seconds is None else 1
    with stopping as stop:
        bar = _bar(run, seconds, progress, is_brief)
        began = saved = time.perf_counter()
        try:
            while not (run.is_finished() or stop.is_set() or _is_over(run, seconds)):
                step = run.advance(min(rows, run.most))
                now = time.perf_counter()
                took, run.seconds = before + now - began - run.seconds, before + now - began
                if seconds is not None:
                    left = min(LONGEST, SHARE * run.seconds, seconds - run.seconds)
                    rows = max(1, min(run.most, int(step * left / max(took, 1e-9))))
                note = callback(run.snapshot()) if callback else None
                if bar is not None:
                    bar.update(run.done if seconds is None else int(run.seconds), note or "")
                if save is not None and now - saved > save_every:
                    save()
                    saved = now
        finally:
            if bar is not None:
                bar.close()
    run.interrupted = not (run.is_finished() or _is_over(run, seconds))


def _is_over(run: Run, seconds: float | None) -> bool:
    return seconds is not None and run.seconds >= seconds


def _bar(run: Run, seconds: float | None, progress: bool | None, is_brief: bool) -> Progress | None:
    """A bar, if there is a terminal to show it on."""
    if progress is False or sys.stderr is None or not sys.stderr.isatty():
        return None
    return Progress.of_run(progress, run.name, run.total, seconds, brief=is_brief)
