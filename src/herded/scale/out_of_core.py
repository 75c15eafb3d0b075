"""Sweeps over a lattice on disk, within the memory of one process.

The lattice is cut into bands of rows. A *pass* reads every band once, runs several sweeps on it and
writes it once: the half-sweeps go over the bands as one wave, each two bands behind the one before
(`kernels/lattice.py` does the same with strips in cache). Half-sweep h of a band needs half-sweep
h - 1 of it and of both its neighbours, which are done, and the bands of one step do not touch each
other, so threads share them. The bits are those of one sweep after another.
"""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from herded.progress import raise_if_halted
from herded.scale.tile import OPPOSITE, Place, Tile, Work

NEIGHBOURS = {"up": -1, "down": 1}
AHEAD = 2  # bands: one must be there to be seen by the one that is swept, one is being read
UNSAVED = 4  # bands that may be on their way to the disk


def bands_in_memory(depth: int, bands: int) -> int:
    """How many a pass of `depth` sweeps holds: two to a half-sweep, and those ahead and behind.

    At most all `bands` there are.
    """
    return min(4 * depth + AHEAD + UNSAVED, bands)


def run_pass(
    work: Work,
    places: list[Place],
    first_sweep: int,
    depth: int,
    source: Path | None,
    target: Path,
    tell: Callable[[float], Any] = lambda share: None,
) -> None:
    """Take all bands from `source` (None: the start), sweep, and put them into `target`.

    `first_sweep` is the number of the first of `depth` sweeps; `tell` hears which share of the pass
    is done.
    """
    # A disk that is being waited for must not keep the sweeps waiting: it has threads of its own.
    with ThreadPoolExecutor(os.cpu_count()) as pool, ThreadPoolExecutor(2) as disk:
        wave = _Wave(work, places, first_sweep, 2 * depth, source)
        unsaved: deque[Future[None]] = deque()
        for step in range(-AHEAD, wave.last + 2):
            jobs = [pool.submit(*job) for job in wave.jobs(step)]
            for job in jobs:
                job.result()
            ended = wave.take_ended(step)
            if ended is not None:
                unsaved.append(disk.submit(ended.save, target))
            while len(unsaved) > (UNSAVED - 1 if step <= wave.last else 0):
                unsaved.popleft().result()
            tell((step + AHEAD + 1) / (wave.last + AHEAD + 2))
            raise_if_halted()


class _Wave:
    """The bands that are in memory, and what is done with them in each step."""

    def __init__(
        self, work: Work, places: list[Place], first_sweep: int, halves: int, source: Path | None
    ) -> None:
        self.work, self.places, self.source = work, places, source
        self.first_half, self.halves = 2 * first_sweep, halves
        self.last = len(places) - 1 + 2 * (halves - 1)  # the step of the last half-sweep
        self.bands: dict[int, Tile] = {}

    def jobs(self, step: int) -> list[tuple[Any, ...]]:
        """Functions and their arguments, which may run at the same time."""
        found: list[tuple[Any, ...]] = []
        if step + AHEAD < len(self.places):
            found.append((self.load, step + AHEAD))
        for half in range(self.halves):
            if 0 <= step - 2 * half < len(self.places):
                found.append((self.half_sweep, half, step - 2 * half))
        return found

    def load(self, band: int) -> None:
        self.bands[band] = Tile(self.work, self.places[band], self.source)

    def half_sweep(self, half: int, band: int) -> None:
        other = 1 - (half & 1)
        around = {
            side: self.bands[band + there].edges(other)[OPPOSITE[side]]
            for side, there in NEIGHBOURS.items()
            if 0 <= band + there < len(self.places)
        }
        self.bands[band].see(other, around)
        self.bands[band].half_sweep(self.first_half + half)

    def take_ended(self, step: int) -> Tile | None:
        """The band that after this step nothing needs any more; the next one saw it last."""
        return self.bands.pop(step - 1 - 2 * (self.halves - 1), None)
