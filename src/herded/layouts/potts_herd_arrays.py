"""Herds on Potts lattices: members are bits of words, and a site's state is written in bit planes.

The sites of one colour, row by row, are cut into cells of 32 lanes. pi(X = k | around) is
proportional to u_k times f_d for every neighbour d in state k (`potts_arrays`); what kernels
read are single-precision roundings of u_k f^n for n = 0 .. 4 where all couplings are equal, else of
u_k and f_d. They are doubles where couplings are so strong that products could leave the range.

Member m is bit m % 32 of word m // 32. Plane 0 is the highest bit of a state.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.grid import pack
from herded.models.lattice import Lattice
from herded.system.arrays import aligned
from herded.system.exp import exp
from herded.system.jit import jit

LANES = 32  # sites in a cell
WORD = 32  # members in a word
POWERS = 5  # how many neighbours can have a state: 0 to 4
STRONGEST = 17.5  # coupling, for single precision: exp(4 * 17.5) 2^24 is below its largest number
ALL = 2**WORD - 1


class PottsHerdArrays(NamedTuple):
    table: np.ndarray  # (2, cells, 5 K or K, LANES): u_k f^n, or u_k
    factors: np.ndarray | None  # (2, cells, 4, LANES): f_d; None where all couplings are equal
    there: np.ndarray  # uint32, (2, cells, 4, LANES): all bits where there is a neighbour
    planes: tuple[int, ...]  # its length is their number: a part of its type, so that each number
    # gets a kernel of its own
    periodic: bool


def n_planes(states: int) -> int:
    """Bits of a state."""
    return (states - 1).bit_length()


def n_phases(planes: int) -> int:
    """Two of each node of the trees in which a site's state is found (`potts_herd_choice`)."""
    return 2 * ((1 << planes) - 1 if planes <= 3 else (1 << (planes - 3)) - 1 + 7)


def n_words(members: int) -> int:
    """Words that hold a bit of every member."""
    return -(-members // WORD)


def herd_shape(shape: tuple[int, int], states: int, members: int) -> tuple[int, ...]:
    """Colours, rows, words, planes and columns of a packed herd without its border."""
    return 2, shape[0], n_words(members), n_planes(states), (shape[1] + 1) // 2


def n_cells(shape: tuple[int, ...]) -> int:
    """Cells of one colour."""
    return -(-shape[0] * ((shape[1] + 1) // 2) // LANES)


def are_equal(model: Lattice) -> bool:
    """Whether all couplings are equal."""
    couplings = model.all_couplings
    return bool((couplings == couplings[:1]).all())


def n_entries(model: Lattice) -> int:
    """Numbers of a place."""
    states = int(model.log_unary.shape[2])
    return POWERS * states if are_equal(model) else states + 4


def table_type(model: Lattice) -> type[np.float32] | type[np.float64]:
    strongest = np.abs(model.all_couplings).max(initial=0.0)
    return np.float32 if strongest <= STRONGEST else np.float64


def compile_potts_herd(model: Lattice) -> PottsHerdArrays:
    """The factors of the conditionals, and where there are neighbours."""
    cells, states, kind = n_cells(model.shape), int(model.log_unary.shape[2]), table_type(model)
    equal = are_equal(model)
    table = aligned((2, cells, POWERS * states if equal else states, LANES), kind)
    table[:, :, 0] = 1.0  # places that no site has stay in state 0
    factors = aligned((2, cells, 4, LANES), kind)
    there = aligned((2, cells, 4, LANES), np.uint32)
    _fill(
        model.log_unary,
        model.right,
        model.down,
        model.clamped,
        model.periodic,
        equal,
        float(np.finfo(kind).tiny),
        table,
        factors,
        there,
    )
    for array in (table, factors, there):
        array.flags.writeable = False
    planes = (0,) * n_planes(states)
    return PottsHerdArrays(table, None if equal else factors, there, planes, model.periodic)


@jit
def _fill(log_unary, right, down, clamped, periodic, equal, least, table, factors, there):
    """Tables, without what is below the `least` normal number, which is slow.

    In single precision that is less likely than 2^-24, whatever is around.
    """
    height, width, states = log_unary.shape
    f = np.ones(4)
    for r in range(height):
        for j in range(width):
            site = r * ((width + 1) // 2) + (j >> 1)
            colour, cell, lane = (r + j) & 1, site // LANES, site % LANES
            around = there[colour, cell, :, lane]
            f[:] = 1.0
            if periodic or j > 0:
                f[0], around[0] = exp(right[r, j - 1]), ALL
            if periodic or j < width - 1:
                f[1], around[1] = exp(right[r, j]), ALL
            if periodic or r > 0:
                f[2], around[2] = exp(down[r - 1, j]), ALL
            if periodic or r < height - 1:
                f[3], around[3] = exp(down[r, j]), ALL
            factor = 1.0  # of any neighbour, where they are equal
            for d in range(4):
                factors[colour, cell, d, lane] = f[d]
                factor = f[d] if around[d] != 0 else factor
            top = log_unary[r, j].max()
            powers = POWERS if equal else 1
            mine = table[colour, cell, :, lane]
            for k in range(states):
                u = exp(log_unary[r, j, k] - top)
                if clamped[r, j] >= 0:
                    u = 1.0 if k == clamped[r, j] else 0.0
                for n in range(powers):
                    mine[k * powers + n] = u if u >= least else 0.0
                    u *= factor


def pack_herd(
    states: np.ndarray, shape: tuple[int, int], planes: int, periodic: bool
) -> np.ndarray:
    """(members, N) states as (2, H + 2, words, planes, M + 2) words in a border.

    The border is 0, or what lies on the other side.
    """
    height, width = shape
    halves = pack(states.reshape(-1, height, width), height).astype(np.uint32)
    members, columns = len(halves), halves.shape[3]
    x = aligned((2, height + 2, n_words(members), planes, columns + 2), np.uint32)
    for m in range(members):
        for p in range(planes):
            bit = halves[m] >> np.uint32(planes - 1 - p) & np.uint32(1)
            x[:, 1:-1, m // WORD, p, 1:-1] |= bit << np.uint32(m % WORD)
    if periodic:
        x[:, 0], x[:, -1] = x[:, -2], x[:, 1]
        x[..., 0], x[..., -1] = x[..., -2], x[..., 1]
    return x
