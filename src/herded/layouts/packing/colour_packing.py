"""Pictures packed by colour: each colour of the checkerboard is a half-lattice of its own.

A half-lattice is cut into strips of rows, and a strip into cells of `LANES` sites. Grids of two
states, Potts models, their herds and tiles are packed in this way.
"""

from collections.abc import Iterator

import numpy as np

from herded.draws.systematic_lanes import LANES

MIN_STRIP_SITES = 512  # least number of sites in a strip


def strip_shape(h: int, w: int) -> tuple[int, int, int]:
    """Return the rows of a strip, columns of a half-lattice, and the number of strips."""
    columns = (w + 1) // 2
    rows = min(h, -(-MIN_STRIP_SITES // columns))
    return rows, columns, -(-h // rows)


def count_cells(sites: int) -> int:
    return -(-sites // LANES)


def pack_colours(pictures: np.ndarray, height: int) -> np.ndarray:
    """Pack (..., H, W) pictures as (..., 2, height, M) half-lattices."""
    h, w = pictures.shape[-2:]
    packed = np.zeros((*pictures.shape[:-2], 2, height, (w + 1) // 2), pictures.dtype)
    for colour, rows, columns, half in _colour_slices(h, w):
        packed[..., colour, rows, half] = pictures[..., rows, columns]
    return packed


def unpack_colours(packed: np.ndarray, h: int, w: int) -> np.ndarray:
    """Return the (..., H, W) pictures that `pack_colours` packed."""
    pictures = np.empty((*packed.shape[:-3], h, w), packed.dtype)
    for colour, rows, columns, half in _colour_slices(h, w):
        pictures[..., rows, columns] = packed[..., colour, rows, half]
    return pictures


def _colour_slices(h: int, w: int) -> Iterator[tuple[int, slice, slice, slice]]:
    """Yield the four strided pieces: colour, rows, columns of the picture and of the half."""
    for parity in (0, 1):
        for colour in (0, 1):
            first = (parity + colour) & 1
            half = slice(0, (w - first + 1) // 2)
            yield colour, slice(parity, h, 2), slice(first, w, 2), half
