"""Runs of herds with kernels of this package: progress, Ctrl-C, threads, checkpoints.

A herd is a tuple of arrays that a function advances by some sweeps. Its bits depend only on its
number and the number of the sweep. `run.run_loop` does the rest.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np

from herded.errors import CheckpointError, MethodError
from herded.run.checkpoints import checkpoint_file
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.progress import Snapshot
from herded.run.run_loop import run_until_done
from herded.system import atomic_files, cpu_count
from herded.system.argument_checks import is_whole_number, short_repr
from herded.system.atomic_files import FilePath
from herded.system.diagnostics.phrases import CHECKPOINT
from herded.system.threads import run_jobs

AdvanceHerd = Callable[[int, int, int], None]  # the herd, its first sweep, the number of sweeps
SAVE_INTERVAL_SECONDS = 30.0  # between checkpoints
# limits of whole numbers in a checkpoint, which kernels use as indices
RunLimits = Mapping[str, tuple[int, int]]


class HerdRun:
    """Several herds and their progress: the object that `run.run_loop` runs."""

    first, least = 1, 1  # sweeps of a block

    def __init__(
        self, name: str, herds: Sequence[tuple[Any, ...]], advance: AdvanceHerd, sweeps: int
    ) -> None:
        self.name, self.herds, self.total, self.most = name, herds, sweeps, sweeps
        self._advance = advance
        self.done, self.seconds, self.interrupted = 0, 0.0, False
        self.stopped = False  # by Ctrl-C, possibly after the last sweep

    def is_finished(self) -> bool:
        """Return whether all sweeps are done."""
        return self.done >= self.total

    def advance(self, most: int) -> int:
        """Run a block of sweeps of all herds in parallel."""
        step = min(most, self.total - self.done)
        threads = min(len(self.herds), cpu_count.count_usable_cpus())
        with ThreadPoolExecutor(threads) as pool:
            jobs = range(len(self.herds))
            run_jobs(lambda c: self._advance(c, self.done, step), jobs, pool)
        self.done += step
        return step

    def snapshot(self) -> Snapshot:
        """Return the progress; there are no marginals to read."""
        return Snapshot(self.done, self.seconds, lambda: None, lambda: None, lambda: None)

    def run(
        self,
        *,
        identity: Mapping[str, Any],
        limits: RunLimits,
        progress: bool | None,
        checkpoint: FilePath | None,
    ) -> None:
        """Run all sweeps, or those before Ctrl-C, which the caller then raises."""
        save = None
        if checkpoint is not None:
            atomic_files.check_writable(checkpoint, CheckpointError, CHECKPOINT)
            self._resume(checkpoint, identity, limits)

            def save() -> None:
                header = {**identity, "done": self.done, "seconds": self.seconds}
                checkpoint_file.write_checkpoint(checkpoint, header, self._arrays())

        with stop_event_on_interrupt() as stop:
            self.stopped = run_until_done(
                self,
                nullcontext(stop),
                progress=progress,
                save=save,
                save_every=SAVE_INTERVAL_SECONDS,
            )
            if save is not None:
                save()

    def _arrays(self) -> dict[str, np.ndarray]:
        return {
            f"{c}/{part}/{name}": array
            for c, herd in enumerate(self.herds)
            for part, arrays in enumerate(herd)
            for name, array in arrays._asdict().items()
        }

    def _resume(self, path: FilePath, identity: Mapping[str, Any], limits: RunLimits) -> None:
        """Resume from the checkpoint, if there is one."""
        found = checkpoint_file.read_checkpoint(path)
        if found is None:
            return
        header, arrays = found
        checkpoint_file.check_same_run(path, header, dict(identity))
        done, seconds, own = header.get("done"), header.get("seconds"), self._arrays()
        whole = isinstance(done, int) and 0 <= done <= self.total and arrays.keys() == own.keys()
        if not (whole and isinstance(seconds, float) and seconds >= 0):
            raise _broken_checkpoint_error(path)
        for name, array in arrays.items():
            low, high = limits.get(name.rpartition("/")[2], (None, None))
            alike = array.shape == own[name].shape and array.dtype == own[name].dtype
            if not alike or (low is not None and not ((array >= low) & (array <= high)).all()):
                raise _broken_checkpoint_error(path)
        for name, array in arrays.items():
            own[name][...] = array
        self.done, self.seconds = int(done or 0), seconds


def _broken_checkpoint_error(path: FilePath) -> CheckpointError:
    return CheckpointError(
        f"expected a checkpoint of this run at {path}, got arrays that do not fit it: move it away "
        "to start again"
    )


def check_run_options(
    sweeps: int, burn_in: int | None, *, burn_in_divisor: int, **counts: int
) -> int:
    """Return the burn-in, by default 1 / `burn_in_divisor` of the sweeps. Counts are 1 or more."""
    for name, value in {"sweeps": sweeps, **counts}.items():
        if not is_whole_number(value, 1):
            raise MethodError(
                f"expected {name} as a whole number of 1 or more, got {short_repr(value)}"
            )
    if burn_in is None:
        return -(-sweeps // burn_in_divisor)
    if not is_whole_number(burn_in, 0):
        raise MethodError(
            f"expected burn_in as a whole number of 0 or more, got {short_repr(burn_in)}"
        )
    return int(burn_in)


def data_hash(*arrays: np.ndarray) -> str:
    """Return a short name for the data of a run."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(repr((array.shape, array.dtype.str)).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]
