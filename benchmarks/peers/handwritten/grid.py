"""Gibbs sampling of an Ising grid as an expert would write it in Numba, by hand, for this alone.

Two ways. *Raster*: pixel after pixel, a 64-bit xorshift, the conditional looked up by the number of
neighbours that are 1. *Checkerboard*: the two colours packed apart, so that a row of one colour is
updated in vector registers, with a 32-bit xorshift for every column.
"""

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, one_hot, two_states
from benchmarks.support.workloads import IsingGrid, Work
from herded.system.compilation.jit import jit

SCALE = 2.0**32


def thresholds(work: IsingGrid) -> np.ndarray:
    """(H, W, 5): P(x = 1 | number of neighbours that are 1), times 2^32."""
    degree = np.zeros(work.field.shape)
    degree[1:] += 1
    degree[:-1] += 1
    degree[:, 1:] += 1
    degree[:, :-1] += 1
    table = np.empty((*work.field.shape, 5), np.uint32)
    for ones in range(5):  # one after another: on large grids all at once take gigabytes
        local = work.field + work.coupling * (2 * ones - degree)
        table[..., ones] = np.minimum(SCALE / (1 + np.exp(-2 * local)), SCALE - 1)
    return table


class _OfGrid:
    """What both ways ask of the work."""

    def obstacle(self, work: Work, keep: str) -> str | None:
        if not isinstance(work, IsingGrid) or isinstance(work.coupling, tuple) or work.periodic:
            return "written for an open Ising grid with one coupling"
        return None


class Raster(_OfGrid):
    name = "expert Numba Gibbs, raster"

    def prepare(self, work: Work, keep: str) -> Run:
        assert isinstance(work, IsingGrid)
        table, (height, width) = thresholds(work), work.field.shape

        def run(sweeps: int, seed: int) -> np.ndarray:
            rng = np.random.default_rng(seed)
            x = np.zeros((height + 2, width + 2), np.uint8)  # a border of zeros saves all ifs
            x[1:-1, 1:-1] = rng.integers(0, 2, (height, width))
            sums = None if keep == LAST else np.zeros((height, width), np.uint64)
            raster(x, table, np.uint64(rng.integers(1, 2**63)), sweeps, sums, keep == AVERAGES)
            if sums is None:
                return one_hot(x[1:-1, 1:-1], 2)
            return two_states(sums / (sweeps * (SCALE if keep == AVERAGES else 1)))

        return run


@jit
def raster(x, table, draw, sweeps, sums, averages):
    """Sweep row by row; `sums` counts ones, or adds up thresholds."""
    height, width = table.shape[:2]
    for _ in range(sweeps):
        for r in range(height):
            for c in range(width):
                ones = x[r, c + 1] + x[r + 2, c + 1] + x[r + 1, c] + x[r + 1, c + 2]
                draw ^= draw << np.uint64(13)
                draw ^= draw >> np.uint64(7)
                draw ^= draw << np.uint64(17)
                threshold = table[r, c, ones]
                state = np.uint8((draw >> np.uint64(32)) < threshold)
                x[r + 1, c + 1] = state
                if sums is not None:
                    sums[r, c] += np.uint64(threshold) if averages else np.uint64(state)


class Checkerboard(_OfGrid):
    name = "expert Numba Gibbs, checkerboard"

    def obstacle(self, work: Work, keep: str) -> str | None:
        return super().obstacle(work, keep) or ("keeps visits only" if keep == AVERAGES else None)

    def prepare(self, work: Work, keep: str) -> Run:
        assert isinstance(work, IsingGrid)
        height, width = work.field.shape
        half = (width + 1) // 2
        table = np.zeros((2, height, 5, half), np.uint32)
        places(thresholds(work), table.swapaxes(2, 3), pack=True)

        def run(sweeps: int, seed: int) -> np.ndarray:
            rng = np.random.default_rng(seed)
            x = np.zeros((2, height + 2, half + 2), np.uint32)
            inside = x[:, 1:-1, 1:-1]
            places(rng.integers(0, 2, (height, width), np.uint8), inside, pack=True)
            draws = rng.integers(1, 2**32, half, np.uint32)
            visits = None if keep == LAST else np.zeros((2, height, half), np.uint32)
            checkerboard(x, table, draws, sweeps, visits)
            picture = np.zeros((height, width), np.uint32)
            places(picture, inside if visits is None else visits, pack=False)
            return two_states(picture / (1 if visits is None else sweeps))

        return run


def places(picture: np.ndarray, packed: np.ndarray, pack: bool) -> None:
    """Copy a picture (H, W, ...) to its two colours (2, H, ceil(W / 2), ...), or back."""
    for colour in (0, 1):
        for first in (0, 1):
            loose = picture[first::2, (first + colour) % 2 :: 2]
            tight = packed[colour, first::2, : loose.shape[1]]
            (tight if pack else loose)[...] = loose if pack else tight


@jit
def checkerboard(x, table, draws, sweeps, visits):
    """Sweep the pixels of one colour, then those of the other."""
    height = table.shape[1]
    for _ in range(sweeps):
        for colour in range(2):
            other = x[1 - colour]
            for r in range(height):
                shift = (r + colour) % 2
                half_row(
                    x[colour, r + 1, 1:],
                    other[r, 1:],
                    other[r + 2, 1:],
                    other[r + 1, shift:],
                    other[r + 1, shift + 1 :],
                    table[colour, r],
                    draws,
                )
            if visits is not None:
                for r in range(height):
                    add_row(visits[colour, r], x[colour, r + 1, 1:])


@jit
def half_row(x, above, below, left, right, table, draws):
    """One row of one colour; all branches are selections, so that lanes stay together."""
    for j in range(draws.size):
        draw = draws[j]
        draw ^= np.uint32(draw << np.uint32(13))
        draw ^= np.uint32(draw >> np.uint32(17))
        draw ^= np.uint32(draw << np.uint32(5))
        draws[j] = draw
        ones = np.uint32(above[j] + below[j] + left[j] + right[j])
        threshold = table[0, j]
        for count in range(1, 5):
            chosen = table[count, j]  # read whether it is needed or not: a branch costs more
            threshold = chosen if ones == np.uint32(count) else threshold
        x[j] = np.uint32(draw < threshold)


@jit
def add_row(visits, x):
    for j in range(visits.size):
        visits[j] += x[j]
