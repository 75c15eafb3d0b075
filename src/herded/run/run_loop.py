"""The loop of every run: advance by a block of sweeps, look up, continue.

The bits of a run depend neither on the size of its blocks nor on threads nor on interruptions.
Only where a run is given seconds does the clock decide how many sweeps there are. Ctrl-C
(`run.interrupts`) ends a run after its block; so does a callback that raises KeyboardInterrupt.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from herded.run.progress import Progress, Snapshot, SnapshotCallback

UNLIMITED_SWEEPS = 2**60  # sweeps of a run that only the clock ends
MAX_TIMED_BLOCK_SECONDS = 0.1  # seconds of a block of a run with a time limit
MAX_BLOCK_SHARE_OF_TIME = 0.5  # of the time so far: early blocks are short, for callbacks
# seconds of a block of any other run: Ctrl-C, checkpoints and bars wait for its end
MAX_BLOCK_SECONDS = 0.5


class BlockDropped(KeyboardInterrupt):
    """An interruption of a block that leaves its run as it was before."""


class Runnable(Protocol):
    """A run of a sampler (`run.sampler_run`) or of a solver (`run.solver_run`)."""

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

    @property
    def least(self) -> int:
        """Sweeps of a block that shorter ones would be slower than."""

    @property
    def first(self) -> int:
        """Sweeps of the first block, before it is known how long one takes."""

    def is_finished(self) -> bool:
        """Return whether there is nothing left to do."""

    def advance(self, most: int) -> int:
        """Run a block of at most `most` sweeps, and give how many it had."""

    def snapshot(self) -> Snapshot:
        """Return the run as it is now."""


def run_until_done(
    run: Runnable,
    stopping: contextlib.AbstractContextManager[threading.Event],
    *,
    seconds: float | None = None,
    progress: bool | None = None,
    callback: SnapshotCallback | None = None,
    save: Callable[[], None] | None = None,
    save_every: float = 30.0,
    is_brief: bool = False,
) -> bool:
    """Advance `run` until it is finished, its time is up, or the event of `stopping` is set.

    Returns whether somebody asked it to stop: also where it had come to its end by then, since
    Ctrl-C is meant for the program, not for the block that happens to run.
    """
    before, rows = run.seconds, run.first if seconds is None else 1
    with stopping as stop:
        bar = _bar(run, seconds, progress, is_brief)
        began = saved = time.perf_counter()
        try:
            while not (run.is_finished() or stop.is_set() or _is_over(run, seconds)):
                try:
                    step = run.advance(min(rows, run.most))
                except BlockDropped:
                    stop.set()
                    break
                now = time.perf_counter()
                took, run.seconds = before + now - began - run.seconds, before + now - began
                rows = _next_block_sweeps(run, step, took, seconds)
                try:
                    note = callback(run.snapshot()) if callback else None
                except KeyboardInterrupt:  # the block is whole, so that nothing is lost
                    note = None
                    stop.set()
                if bar is not None:
                    bar.update(run.done if seconds is None else int(run.seconds), note or "")
                if save is not None and now - saved > save_every:
                    save()
                    saved = now
        finally:
            if bar is not None:
                bar.close()
    run.interrupted = not (run.is_finished() or _is_over(run, seconds))
    return stop.is_set()


def _next_block_sweeps(run: Runnable, step: int, took: float, seconds: float | None) -> int:
    """Return the sweeps of the next block, after one of `step` sweeps that `took` seconds."""
    if seconds is None:
        least, time_left = run.least, MAX_BLOCK_SECONDS
    else:
        least, time_left = (
            1,
            min(
                MAX_TIMED_BLOCK_SECONDS,
                MAX_BLOCK_SHARE_OF_TIME * run.seconds,
                seconds - run.seconds,
            ),
        )
    return max(least, int(step * time_left / max(took, 1e-9)))


def _is_over(run: Runnable, seconds: float | None) -> bool:
    return seconds is not None and run.seconds >= seconds


def _bar(
    run: Runnable, seconds: float | None, progress: bool | None, is_brief: bool
) -> Progress | None:
    """Return a bar, if there is a terminal or a notebook to show it in."""
    if progress is False or not (
        "ipykernel.kernelapp" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    ):
        return None
    return Progress.of_run(progress, run.name, run.total, seconds, brief=is_brief)
