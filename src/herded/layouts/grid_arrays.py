"""Binary lattices packed by colour, so that a sweep is a few straight loops over rows.

Site (r, j) has colour (r + j) % 2 and lies at column j // 2 of that colour's half-lattice. All
neighbours of a site have the other colour: above and below at the same column, beside it at the
same column and one to the left (right) on rows where the colour starts at j = 0 (1). A periodic
lattice keeps its colours where both sides are even.

p holds round(pi(X = 1 | context) * 2^31), by colour and strip; a strip is one or more rows, so
that loops are long enough to vectorise on narrow lattices too. A context is the count of
neighbours that are 1 (five contexts, equal couplings: the paper's shared version), or their four
bits (sixteen contexts: Algorithm 1). A strip's sites are cut into cells of 128; a cell has a plane
of conditionals for every context, all planes of a cell beside each other. The distances between
them are then constants, which is what lets the compiler see that the planes do not overlap and
sweep all of them in one vectorised loop.

Places that no site has, and clamped sites, have p = 0 or 2^31, which herding respects for ever.

With weights of 16 bits p is rounded to multiples of 2^-15: half the memory to hold and to move.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from herded.draws.fixed_point import coarse_scalar, fixed_scalar
from herded.models.lattice import Lattice
from herded.system.arrays import aligned
from herded.system.jit import jit
from herded.system.stream import draw

STRIP = 512  # least number of sites in a strip
LANES = 128  # sites in a cell
COUNTS, BITS = 5, 16  # contexts


class Packed(Protocol):
    """What the arrays of packed lattices have in common."""

    @property
    def height(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def periodic(self) -> bool: ...


class LatticeArrays(NamedTuple):
    p: np.ndarray  # uint32 or uint16, (2, strips, cells, contexts, LANES)
    contexts: tuple[int, ...]  # its length is their number: a part of its type, so that each
    # number gets a kernel of its own, with its loop over contexts unrolled
    rows: int  # in a strip
    columns: int  # M
    periodic: bool

    @property
    def strips(self) -> int:
        return int(self.p.shape[1])

    @property
    def height(self) -> int:
        """Rows of a packed half-lattice, those that only fill up the last strip included."""
        return self.strips * self.rows

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        """What the bits of a run depend on."""
        return (self.p,)


def compile_lattice(
    model: Lattice, by_count: bool, bits: int = 32, origin: tuple[int, int] = (0, 0)
) -> LatticeArrays:
    """The conditionals of a two-state lattice, for weights of 32 or 16 bits.

    `origin` is the place of row 0 and column 0 of the whole lattice where `model` is a patch of it.
    """
    rows, columns, strips = strip_shape(*model.shape)
    contexts = COUNTS if by_count else BITS
    p = aligned((2, strips, n_cells(rows * columns), contexts, LANES), unsigned(bits))
    _fill(
        model.log_unary,
        model.right,
        model.down,
        model.unlike,
        model.clamped,
        model.periodic,
        origin,
        rows,
        columns,
        p,
    )
    p.flags.writeable = False
    return LatticeArrays(p, (0,) * contexts, rows, columns, model.periodic)


def unsigned(bits: int) -> type[np.unsignedinteger[Any]]:
    """The type of p and of weights."""
    return np.uint32 if bits == 32 else np.uint16


def n_entries(shape: tuple[int, int], by_count: bool) -> int:
    """Conditionals of all places, those included that no site has."""
    rows, columns, strips = strip_shape(*shape)
    return 2 * strips * n_cells(rows * columns) * LANES * (COUNTS if by_count else BITS)


def strip_shape(h: int, w: int) -> tuple[int, int, int]:
    """Rows of a strip, columns of a half-lattice, and how many strips."""
    columns = (w + 1) // 2
    rows = min(h, -(-STRIP // columns))
    return rows, columns, -(-h // rows)


def n_cells(sites: int) -> int:
    return -(-sites // LANES)


@jit
def _fill(log_unary, right, down, unlike, clamped, periodic, origin, rows, columns, p):
    h, w, _ = log_unary.shape
    contexts, coarse = p.shape[3], p.itemsize == 2
    coupling = np.empty(4)
    there = np.empty(4, np.bool_)
    logits = np.empty(2)
    for r in range(h):
        for j in range(w):
            there[0], there[1] = periodic or j > 0, periodic or j < w - 1
            there[2], there[3] = periodic or r > 0, periodic or r < h - 1
            coupling[0] = right[r, j - 1] if there[0] else 0.0
            coupling[1] = right[r, j] if there[1] else 0.0
            coupling[2] = down[r - 1, j] if there[2] else 0.0
            coupling[3] = down[r, j] if there[3] else 0.0
            # In the order of the model's factors: an edge around the border is its row's last.
            # Where there is none, one of the two is missing, and it does not matter which is first.
            flip = 1 if j == origin[1] else 0, 1 if r == origin[0] else 0
            site = r % rows * columns + (j >> 1)
            planes = p[(r + j) & 1, r // rows, site // LANES]
            for q in range(contexts):
                logits[0], logits[1] = log_unary[r, j, 0], log_unary[r, j, 1]
                ones = q
                for e in range(4):
                    d = e ^ flip[e >> 1]
                    if not there[d]:
                        continue
                    if contexts == BITS:
                        up = (q >> d) & 1
                    else:
                        up = 1 if ones > 0 else 0
                        ones -= up
                    logits[up] += coupling[d]
                    logits[1 - up] += coupling[d] * unlike
                one = fixed_scalar(logits[0], logits[1], 1.0)
                if clamped[r, j] >= 0:
                    one = np.uint32(2**31 * clamped[r, j])
                planes[q, site % LANES] = coarse_scalar(one) if coarse else one


def with_border(packed: np.ndarray, lattice: Packed, height: int) -> np.ndarray:
    """(2, rows, M) half-lattices in a border of 0, or of what lies on the other side."""
    inside = packed.reshape(2, lattice.height, lattice.columns)
    x = np.pad(inside, ((0, 0), (1, 1), (1, 1)))
    if lattice.periodic:
        x[:, 0], x[:, height + 1] = x[:, height], x[:, 1]
        x[:, :, 0], x[:, :, -1] = x[:, :, -2], x[:, :, 1]
    return x


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


@jit
def phase_shift(w):
    """From 64 random bits to a phase."""
    return np.uint64(65 - 8 * w.itemsize)


@jit
def start_lattice(w, sites, key):
    """Start the phases (2, strips, cells, contexts, lanes) of a lattice at random places.

    Those of 16 bits begin as the others do. They are named as if the planes of a strip, or for
    sixteen contexts those of a site, lay one after another without the gaps between cells.
    """
    colours, strips, _, contexts, lanes = w.shape
    shift = phase_shift(w)
    for strip in range(colours * strips):
        cells = w[strip // strips, strip % strips]
        for site in range(sites):
            planes = cells[site // lanes]
            for q in range(contexts):
                plane = (strip * contexts + q) * sites + site
                line = (strip * sites + site) * contexts + q
                name = plane if contexts == COUNTS else line
                planes[q, site % lanes] = draw(key, np.uint64(name)) >> shift
