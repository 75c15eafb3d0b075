"""Binary lattices packed by colour, so that a sweep is a few straight loops over rows.

Site (r, j) has colour (r + j) % 2 and lies at column j // 2 of that colour's half-lattice. All
neighbours of a site have the other colour: above and below at the same column, beside it at the
same column and one to the left (right) on rows where the colour starts at j = 0 (1).

p holds round(pi(X = 1 | context) * 2^31), by colour and strip; a strip is one or more rows, so
that loops are long enough to vectorise on narrow lattices too. A context is the count of
neighbours that are 1 (five contexts, equal couplings: the paper's shared version), stored as
planes [context, site] that are swept whole; or their four bits (sixteen contexts: Algorithm 1),
stored as lines [site, context] of which one entry is used. Places that no site has, and clamped
sites, have p = 0 or 2^31, which herding respects for ever.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from herded.jit import jit
from herded.plan.conditional import fixed_scalar

STRIP = 256  # least number of sites in a strip


class LatticeArrays(NamedTuple):
    p: np.ndarray  # uint32, (2, strips, 5, sites) or (2, strips, sites, 16)
    shared: bool  # five contexts
    rows: int  # in a strip
    columns: int  # M

    @property
    def height(self) -> int:
        """Rows of a packed half-lattice, those that only fill up the last strip included."""
        return self.p.shape[1] * self.rows


def compile_lattice(model, shared: bool) -> LatticeArrays:
    """The conditionals of a two-state, open lattice."""
    rows, columns, strips = _layout(*model.shape)
    sites = rows * columns
    p = np.zeros((2, strips, 5, sites) if shared else (2, strips, sites, 16), np.uint32)
    _fill(
        model.log_unary,
        model.right,
        model.down,
        model.unlike,
        model.clamped,
        rows,
        columns,
        p if shared else p.swapaxes(2, 3),
    )
    p.flags.writeable = False
    return LatticeArrays(p, shared, rows, columns)


def n_places(h: int, w: int) -> int:
    """Sites of both colours, those that only fill up rows and strips included."""
    rows, columns, strips = _layout(h, w)
    return 2 * strips * rows * columns


def _layout(h: int, w: int) -> tuple[int, int, int]:
    """Rows of a strip, columns of a half-lattice, and how many strips."""
    columns = (w + 1) // 2
    rows = min(h, -(-STRIP // columns))
    return rows, columns, -(-h // rows)


@jit
def _fill(log_unary, right, down, unlike, clamped, rows, columns, p):
    h, w, _ = log_unary.shape
    contexts = p.shape[2]
    coupling = np.empty(4)
    there = np.empty(4, np.bool_)
    logits = np.empty(2)
    for r in range(h):
        for j in range(w):
            there[0], there[1], there[2], there[3] = j > 0, j < w - 1, r > 0, r < h - 1
            coupling[0] = right[r, j - 1] if j > 0 else 0.0
            coupling[1] = right[r, j] if j < w - 1 else 0.0
            coupling[2] = down[r - 1, j] if r > 0 else 0.0
            coupling[3] = down[r, j] if r < h - 1 else 0.0
            planes = p[(r + j) & 1, r // rows]
            site = r % rows * columns + (j >> 1)
            for q in range(contexts):
                if clamped[r, j] >= 0:
                    planes[q, site] = np.uint32(2**31 * clamped[r, j])
                    continue
                logits[0], logits[1] = log_unary[r, j, 0], log_unary[r, j, 1]
                ones = q
                for d in range(4):
                    if not there[d]:
                        continue
                    if contexts == 16:
                        up = (q >> d) & 1
                    else:
                        up = 1 if ones > 0 else 0
                        ones -= up
                    logits[up] += coupling[d]
                    logits[1 - up] += coupling[d] * unlike
                planes[q, site] = fixed_scalar(logits[0], logits[1], 1.0)


def pack(pictures: np.ndarray, height: int) -> np.ndarray:
    """(..., H, W) pictures as (..., 2, height, M) half-lattices."""
    h, w = pictures.shape[-2:]
    packed = np.zeros((*pictures.shape[:-2], 2, height, (w + 1) // 2), pictures.dtype)
    for colour, rows, columns, half in _halves(h, w):
        packed[..., colour, rows, half] = pictures[..., rows, columns]
    return packed


def unpack(packed: np.ndarray, h: int, w: int) -> np.ndarray:
    """The (..., H, W) pictures that `pack` packed."""
    pictures = np.empty((*packed.shape[:-3], h, w), packed.dtype)
    for colour, rows, columns, half in _halves(h, w):
        pictures[..., rows, columns] = packed[..., colour, rows, half]
    return pictures


def _halves(h: int, w: int) -> Iterator[tuple[int, slice, slice, slice]]:
    """The four strided pieces: colour, rows, columns of the picture, columns of the half."""
    for parity in (0, 1):
        for colour in (0, 1):
            first = (parity + colour) & 1
            half = slice(0, (w - first + 1) // 2)
            yield colour, slice(parity, h, 2), slice(first, w, 2), half
