"""Sweeps over a lattice on disk, within the memory of one process.

The lattice is cut into bands of rows. A *pass* reads every band once, runs several sweeps on it and
writes it once. The half-sweeps move over the bands as one wave, each two bands behind the previous
one (`layouts/grid/sweeps.py` does the same with strips in cache). Half-sweep h of a band needs
half-sweep h - 1 of the band and of both its neighbours, which is done by then. The bands of one
step do not touch each other, so threads share them. The results equal those of sweep after sweep
bit for bit. A periodic lattice is folded, and the wave moves over pairs of bands (`Tiling.ranks`).
"""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from herded.run.interrupts import raise_if_interrupted
from herded.tiled.tile import OPPOSITE, Tile, TileJob
from herded.tiled.tiling import Tiling

# ranks: one that the swept rank must see, and one that is being read
RANKS_READ_AHEAD = 2
MAX_UNSAVED_RANKS = 4  # ranks that may be waiting to be written


def bands_in_memory(depth: int, bands: int, periodic: bool = False) -> int:
    """Return the bands that a pass of `depth` sweeps holds: two per half-sweep, plus both ends.

    A folded lattice needs twice as many; the limit is all `bands`.
    """
    return min((4 * depth + RANKS_READ_AHEAD + MAX_UNSAVED_RANKS) * (2 if periodic else 1), bands)


def run_pass(
    work: TileJob,
    tiling: Tiling,
    first_sweep: int,
    depth: int,
    source: Path | None,
    target: Path,
    tell: Callable[[float], Any] = lambda share: None,
) -> None:
    """Take all bands from `source` (None: the start), sweep, and put them into `target`.

    `first_sweep` is the number of the first of `depth` sweeps; `tell` is called with the finished
    share of the pass.
    """
    # Waiting for the disk must not block the sweeps, so the disk has threads of its own.
    with ThreadPoolExecutor(os.cpu_count()) as pool, ThreadPoolExecutor(2) as disk:
        wave = _Wave(work, tiling, first_sweep, 2 * depth, source)
        unsaved: deque[Future[None]] = deque()
        for step in range(-RANKS_READ_AHEAD, wave.last + 2):
            jobs = [pool.submit(*job) for job in wave.jobs(step)]
            for job in jobs:
                job.result()
            ended = wave.take_ended(step)
            if ended:
                unsaved.append(disk.submit(_save, ended, target))
            while len(unsaved) > (MAX_UNSAVED_RANKS - 1 if step <= wave.last else 0):
                unsaved.popleft().result()
            tell((step + RANKS_READ_AHEAD + 1) / (wave.last + RANKS_READ_AHEAD + 2))
            raise_if_interrupted()


def _save(bands: list[Tile], target: Path) -> None:
    for band in bands:
        band.save(target)


class _Wave:
    """The bands in memory, and the work on them in each step."""

    def __init__(
        self, work: TileJob, tiling: Tiling, first_sweep: int, halves: int, source: Path | None
    ) -> None:
        self.work, self.tiling, self.source = work, tiling, source
        self.places, self.ranks = tiling.places, tiling.ranks
        self.first_half, self.halves = 2 * first_sweep, halves
        self.last = len(self.ranks) - 1 + 2 * (halves - 1)  # the step of the last half-sweep
        self.bands: dict[int, Tile] = {}

    def jobs(self, step: int) -> list[tuple[Any, ...]]:
        """Return functions with their arguments, which may run at the same time."""
        found: list[tuple[Any, ...]] = []
        if step + RANKS_READ_AHEAD < len(self.ranks):
            found.extend((self.load, band) for band in self.ranks[step + RANKS_READ_AHEAD])
        for half in range(self.halves):
            if 0 <= step - 2 * half < len(self.ranks):
                rank = self.ranks[step - 2 * half]
                found.extend((self.half_sweep, half, band) for band in rank)
        return found

    def load(self, band: int) -> None:
        self.bands[band] = Tile(self.work, self.places[band], self.source)

    def half_sweep(self, half: int, band: int) -> None:
        other = 1 - (half & 1)
        around = {
            side: self.bands[there].edges(other)[OPPOSITE[side]]
            for side, there in self.tiling.neighbours(band).items()
        }
        self.bands[band].see(other, around)
        self.bands[band].half_sweep(self.first_half + half)

    def take_ended(self, step: int) -> list[Tile]:
        """Remove and return the bands that no later step needs."""
        rank = step - 1 - 2 * (self.halves - 1)
        return [self.bands.pop(band) for band in self.ranks[rank]] if rank >= 0 else []
