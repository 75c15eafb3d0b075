"""Binary lattices packed by colour, so that a sweep is a few straight loops over rows.

Site (r, j) has colour (r + j) % 2 and lies at column j // 2 of that colour's half-lattice. All
neighbours of a site have the other colour: above and below at the same column, left and right at
the same column and one to the left (right) on rows where the colour starts at j = 0 (1). A periodic
lattice keeps its colours where both sides are even.

p holds round(pi(X = 1 | context) * 2^31), by colour and strip; a strip is one or more rows, so
that loops are long enough to vectorise on narrow lattices too. A context is the count of
neighbours that are 1 (five contexts, equal couplings: the paper's shared version), or their four
bits (sixteen contexts: Algorithm 1). A strip's sites are cut into cells of 128; a cell has a plane
of conditionals for every context, all planes of a cell adjacent. The distances between
them are then constants, which is what lets the compiler see that the planes do not overlap and
sweep all of them in one vectorised loop.

Places that no site has, and clamped sites, have p = 0 or 2^31, which herding never changes.

For herds a conditional is the same number in BYTES_PER_CONDITIONAL planes of bytes, the highest
byte first: their kernels round it again at every visit (`layouts.grid.herd_bit_kernels`).
"""

from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import fixed_scalar
from herded.draws.systematic_lanes import LANES
from herded.layouts.packing.colour_packing import count_cells, strip_shape
from herded.models.lattice import Lattice
from herded.system.aligned_arrays import aligned_zeros
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

CONTEXTS_BY_COUNT, CONTEXTS_BY_BITS = 5, 16  # contexts
BYTES_PER_CONDITIONAL = 4  # bytes of a conditional of a herd


class LatticeArrays(NamedTuple):
    p: np.ndarray  # uint32 (2, strips, cells, contexts, LANES), or uint8 (.., 4 contexts, LANES)
    contexts: tuple[int, ...]  # its length is their number: a part of its type, so that each
    # number gets a kernel of its own, with its loop over contexts unrolled
    rows: int  # in a strip
    columns: int  # M
    periodic: bool


@jit
def fill_lattice(log_unary, right, down, unlike, clamped, periodic, origin, rows, columns, p):
    h, w, _ = log_unary.shape
    contexts = p.shape[3] // (BYTES_PER_CONDITIONAL if p.itemsize == 1 else 1)
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
                    if contexts == CONTEXTS_BY_BITS:
                        up = (q >> d) & 1
                    else:
                        up = 1 if ones > 0 else 0
                        ones -= up
                    logits[up] += coupling[d]
                    logits[1 - up] += coupling[d] * unlike
                one = fixed_scalar(logits[0], logits[1], 1.0)
                if clamped[r, j] >= 0:
                    one = np.uint32(2**31 * clamped[r, j])
                put_conditional(planes, q, site % LANES, one)


@jit
def put_conditional(planes, q, lane, one):
    """Write the conditional of context q, which is at scale 2^31."""
    if planes.itemsize == 1:
        for byte in range(BYTES_PER_CONDITIONAL):
            planes[BYTES_PER_CONDITIONAL * q + byte, lane] = (
                one >> np.uint32(24 - 8 * byte)
            ) & np.uint32(0xFF)
    else:
        planes[q, lane] = one


@jit
def start_lattice(w, sites, key):
    """Start the phases (2, strips, cells, contexts, lanes) of a lattice at random places.

    Those of 8 bits, which herds have, begin as the others do. They are named as if the planes of a
    strip, or for sixteen contexts those of a site, lay one after another without the gaps between
    cells.
    """
    colours, strips, _, contexts, lanes = w.shape
    shift = np.uint64(65 - 8 * w.itemsize)  # from 64 random bits to a phase
    for strip in range(colours * strips):
        cells = w[strip // strips, strip % strips]
        for site in range(sites):
            planes = cells[site // lanes]
            for q in range(contexts):
                plane = (strip * contexts + q) * sites + site
                line = (strip * sites + site) * contexts + q
                name = plane if contexts == CONTEXTS_BY_COUNT else line
                planes[q, site % lanes] = random_bits(key, np.uint64(name)) >> shift


def compile_lattice(
    model: Lattice,
    by_count: bool,
    kind: type[np.unsignedinteger] = np.uint32,
    origin: tuple[int, int] = (0, 0),
) -> LatticeArrays:
    """Compute conditionals of a two-state lattice at scale 2^31, or as bytes for herds.

    `origin` is the place of row 0 and column 0 of the whole lattice where `model` is a patch of it.
    """
    rows, columns, strips = strip_shape(*model.shape)
    contexts = CONTEXTS_BY_COUNT if by_count else CONTEXTS_BY_BITS
    planes = contexts * (BYTES_PER_CONDITIONAL if kind is np.uint8 else 1)
    p = aligned_zeros((2, strips, count_cells(rows * columns), planes, LANES), kind)
    fill_lattice(
        model.log_unary,
        *model.couplings,
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


def count_table_entries(shape: tuple[int, ...], by_count: bool) -> int:
    """Count conditionals of all places, those without a site included."""
    rows, columns, strips = strip_shape(*shape)
    return (
        2
        * strips
        * count_cells(rows * columns)
        * LANES
        * (CONTEXTS_BY_COUNT if by_count else CONTEXTS_BY_BITS)
    )
