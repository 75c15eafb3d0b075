"""Gibbs sampling of a periodic Ising cube as an expert would write it in Numba, for this alone.

Two ways, as on pictures (`expert_grid`), in three dimensions with even sides. *Raster*: spin after
spin of one colour, a 64-bit xorshift, the conditional looked up by the number of neighbours that
are 1. *Checkerboard*: the two colours packed apart, so that a row of one colour is updated in
vector registers, with a 32-bit xorshift for every column.
"""

import numpy as np

from herded.system.compilation.jit import jit

SCALE = 2.0**32
RASTER, CHECKERBOARD = "expert Numba Gibbs, raster", "expert Numba Gibbs, checkerboard"


def cube_thresholds(field: np.ndarray, coupling: float) -> np.ndarray:
    """(D, H, W, 7): P(x = 1 | number of neighbours that are 1), times 2^32."""
    local = field[..., None] + coupling * (2 * np.arange(7) - 6)
    return np.minimum(SCALE / (1 + np.exp(-2 * local)), SCALE - 1).astype(np.uint32)


def pack_cube(cube: np.ndarray) -> np.ndarray:
    """(D, H, W, ...) as its two colours, (2, D, H, W / 2, ...)."""
    depth, height, width = cube.shape[:3]
    packed = np.empty((2, depth, height, width // 2, *cube.shape[3:]), cube.dtype)
    for z in range(depth):
        for y in range(height):
            for colour in (0, 1):
                packed[colour, z, y] = cube[z, y, (z + y + colour) % 2 :: 2]
    return packed


@jit
def cube_raster(x, table, draw, sweeps):
    """Sweep the spins of one colour, then those of the other."""
    depth, height, width = x.shape
    for _ in range(sweeps):
        for colour in range(2):
            for z in range(depth):
                over, under = x[z - 1 if z else depth - 1], x[z + 1 if z + 1 < depth else 0]
                for y in range(height):
                    row = x[z, y]
                    up, down = (
                        x[z, y - 1 if y else height - 1],
                        x[z, y + 1 if y + 1 < height else 0],
                    )
                    for c in range((z + y + colour) % 2, width, 2):
                        left, right = c - 1 if c else width - 1, c + 1 if c + 1 < width else 0
                        ones = row[left] + row[right] + up[c] + down[c] + over[y, c] + under[y, c]
                        draw ^= draw << np.uint64(13)
                        draw ^= draw >> np.uint64(7)
                        draw ^= draw << np.uint64(17)
                        row[c] = np.uint8((draw >> np.uint64(32)) < table[z, y, c, ones])


@jit
def cube_checkerboard(x, table, draws, sweeps):
    """The same of packed rows x (2, D, H, W / 2 + 2), with a column at either end for the other.

    table is (2, D, H, 7, W / 2).
    """
    _, depth, height, wide = x.shape
    for _ in range(sweeps):
        for colour in range(2):
            other = x[1 - colour]
            for z in range(depth):
                over, under = other[z - 1 if z else depth - 1], other[z + 1 if z + 1 < depth else 0]
                for y in range(height):
                    shift = (z + y + colour) % 2
                    here = x[colour, z, y]
                    half_row(
                        here[1:],
                        other[z, y - 1 if y else height - 1, 1:],
                        other[z, y + 1 if y + 1 < height else 0, 1:],
                        over[y, 1:],
                        under[y, 1:],
                        other[z, y, shift:],
                        other[z, y, shift + 1 :],
                        table[colour, z, y],
                        draws,
                    )
                    here[0], here[wide - 1] = here[wide - 2], here[1]


@jit
def half_row(x, above, below, over, under, left, right, table, draws):
    """One row of one colour; all branches are selections, so that lanes stay together."""
    for j in range(draws.size):
        draw = draws[j]
        draw ^= np.uint32(draw << np.uint32(13))
        draw ^= np.uint32(draw >> np.uint32(17))
        draw ^= np.uint32(draw << np.uint32(5))
        draws[j] = draw
        ones = np.uint32(above[j] + below[j] + left[j] + right[j] + over[j] + under[j])
        threshold = table[0, j]
        for count in range(1, 7):
            chosen = table[count, j]  # read whether it is needed or not: a branch costs more
            threshold = chosen if ones == np.uint32(count) else threshold
        x[j] = np.uint32(draw < threshold)
