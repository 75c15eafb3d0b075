"""Sweeps over a lattice on disk, within the memory of one process.

The lattice is cut into bands of rows. A *pass* reads every band once, runs several sweeps on it and
writes it once: the half-sweeps go over the bands as one wave, each two bands behind the one before
(`kernels/lattice.py` does the same with strips in cache). Half-sweep h of a band needs half-sweep
h - 1 of it and of both its neighbours, which are done, and the bands of one step do not touch each
other, so threads share them. The bits are those of one sweep after another.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from herded.progress import raise_if_halted
from herded.scale.tile import OPPOSITE, Place, Tile, Work

NEIGHBOURS = {"up": -1, "down": 1}


def bands_in_memory(depth: int) -> int:
    """How many a pass of `depth` sweeps holds: two to a half-sweep, two ahead and one behind."""
    return 4 * depth + 2


def run_pass(
    work: Work,
    places: list[Place],
    first_sweep: int,
    depth: int,
    source: Path | None,
    target: Path,
    pool: ThreadPoolExecutor,
    tell: Callable[[float], Any] = lambda share: None,
) -> None:
    """Take all bands from `source` (None: the start), sweep, and put them into `target`.

    `first_sweep` is the number of the first of `depth` sweeps; `tell` hears which share of the pass
    is done.
    """
    halves, count = 2 * depth, len(places)
    bands: dict[int, Tile] = {}
    last = count - 1 + 2 * (halves - 1)  # the step in which the last half-sweep ends

    def load(band: int) -> None:
        bands[band] = Tile(work, places[band], source)

    def half_sweep(half: int, band: int) -> None:
        tile, other = bands[band], 1 - (half & 1)
        around = {
            side: bands[band + there].edges(other)[OPPOSITE[side]]
            for side, there in NEIGHBOURS.items()
            if 0 <= band + there < count
        }
        tile.see(other, around)
        tile.half_sweep(2 * first_sweep + half)

    for step in range(-2, last + 2):
        jobs: list[Future[None]] = []
        if step + 2 < count:
            jobs.append(pool.submit(load, step + 2))
        ended = step - 1 - 2 * (halves - 1)
        if ended >= 0:
            jobs.append(pool.submit(bands[ended].save, target))
        for half in range(halves):
            if 0 <= step - 2 * half < count:
                jobs.append(pool.submit(half_sweep, half, step - 2 * half))
        for job in jobs:
            job.result()
        if ended >= 0:
            del bands[ended]
        tell((step + 3) / (last + 4))
        raise_if_halted()
