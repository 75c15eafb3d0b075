"""Herds of binary variables with pair interactions: variables of one colour lie side by side.

    pi(X_i = 1 | x) = sigmoid(field_i),   field_i = alone_i + sum over neighbours j of J_ij x_j

No two variables of one colour are neighbours, so that a block of BLOCK_LANES of them moves at once,
each in a lane of a register; the members of a herd are bits of words. Fields are whole numbers of
16 bits, at the finest scale 2^k at which none overflows. Couplings are known to 2^-24. At every
visit each is rounded to that scale at random, up with the probability that makes the rounding
unbiased (`layouts.binary_pairs.herd_rounding`). Fields are then off by a few steps and right on
average, and the law of a member is the sigmoid averaged over these errors: `law_error` bounds what
is left of second order. P(x = 1) is looked up at scale 2^31 and rounded at random to 15 bits.

A block has as many rows of neighbours as its variable with the most of them; the others are
filled up with couplings of 0. Variables of a colour are sorted by their number of neighbours, which
keeps blocks lean.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import fixed_scalar
from herded.layouts.binary_pairs.arrays import FIELD_BITS, Couplings
from herded.layouts.visit_order import greedy_colouring
from herded.system.aligned_arrays import aligned_zeros, make_read_only, start_offsets
from herded.system.compilation.jit import jit

BLOCK_LANES = 64  # variables of a block: two registers of AVX-512, four of AVX2
MEMBERS_PER_UINT64 = 64  # members of a word
# entries of 1 to 8 rows of lanes
L, L2, L3, L4, L5, L6, L7, L8 = (np.uint64(rows * BLOCK_LANES) for rows in range(1, 9))
# bits behind the point of a field: at most, and at least if it is rounded
MAX_FIELD_BITS, MIN_FIELD_BITS = 14, 10
# bits behind the point of a field times an inverse temperature: certain at both ends
ANNEALED_FIELD_BITS = 10
MAX_16_BIT_FIELD = 2**15 - 1  # a field
MAX_LAW_ERROR = 2.0**-20  # of the law of a member, by rounded couplings
# of roundings on each other: at most 1.01 in `tests/draws/test_precision.py`
ROUNDING_DEPENDENCE = 1.05
MIN_SHARED_ROWS = 32  # rows of such blocks: with fewer, tables take as many additions as they save


class BinaryPairsHerdTables(NamedTuple):
    """Rows of neighbours by block, lane by lane; what is clamped is in `alone`."""

    row_start: np.ndarray  # (blocks + 1,) where the rows of each block start, an even number each
    neighbour: np.ndarray  # (rows * BLOCK_LANES,) uint32 places; any place where the coupling is 0
    coupling: np.ndarray  # (rows * BLOCK_LANES,) int16, rounded down
    coupling_rest: np.ndarray  # (rows * BLOCK_LANES,) uint16: what is left of it, at scale 2^16
    # (blocks * BLOCK_LANES,) int16: the field where all neighbours are 0, rounded down
    alone: np.ndarray
    alone_rest: np.ndarray  # (blocks * BLOCK_LANES,) uint16
    place: np.ndarray  # (N,) where variables are stored; that of known ones is behind all others
    # (blocks,) whether all lanes have the same neighbours, MIN_SHARED_ROWS or more
    shared: np.ndarray


class Adjacency(NamedTuple):
    """A graph as `greedy_colouring` reads it."""

    cardinalities: np.ndarray
    neighbour_start: np.ndarray
    neighbour: np.ndarray


class LanePlacement(NamedTuple):
    """The place of each variable."""

    place: np.ndarray  # (N,)
    rows: np.ndarray  # (blocks,) how many rows of neighbours each needs
    colours: np.ndarray  # (colours + 1,) which block is the first of each

    @property
    def size(self) -> int:
        """Couplings with those that fill up rows."""
        return int(self.rows.sum()) * BLOCK_LANES

    @property
    def bytes(self) -> float:
        """Memory of `BinaryPairsHerdTables` and of the table of the sigmoid."""
        return (
            8.0 * self.size + 8.0 * (len(self.rows) * (BLOCK_LANES + 2) + len(self.place)) + 2.0**18
        )


def finest_field_bits(c: Couplings, bits: int, most: int, least: int) -> int | None:
    """Return the fractional bits of fields: `bits`, or fewer so that none exceeds `most`.

    Every coupling may be rounded up or down. None where fewer than `least` bits are left, unless
    all couplings are whole numbers of such steps.
    """
    for behind in range(bits, -FIELD_BITS, -1):
        (alone, alone_rest), (coupling, rest) = (
            split_to_bits(c.alone, behind),
            split_to_bits(c.coupling, behind),
        )
        up, alone_up = coupling + (rest > 0), alone + (alone_rest > 0)
        high, low = alone_up.copy(), alone.copy()
        np.add.at(high, c.first, np.maximum(up, 0))
        np.add.at(low, c.first, np.minimum(coupling, 0))
        ends = high, -low, up, -coupling
        if max(end.max(initial=0) for end in ends) <= most:
            whole = not alone_rest.any() and not rest.any()
            return behind if behind >= least or whole else None
    return None


def law_error(c: Couplings, bits: int) -> float:
    """Return the mean error of conditionals if couplings are rounded to 2^-bits at random.

    An error of the field of mean 0 and variance v changes the mean of the sigmoid by less than
    v / 2 times its largest second derivative, which is 1 / (6 sqrt(3)). Roundings of neighbours
    follow from each other (`round_coupling_row`), so that v is not quite the sum of their
    variances: `ROUNDING_DEPENDENCE` times it is an upper bound.
    """
    step = 1 << max(0, FIELD_BITS - bits)
    share, alone = c.coupling % step / step, c.alone % step / step
    variance = alone * (1 - alone)
    variance += np.bincount(c.first, share * (1 - share), minlength=len(alone))
    second_order = variance.max(initial=0.0) / (12 * math.sqrt(3.0)) * 4.0**-bits
    error: float = ROUNDING_DEPENDENCE * second_order
    return error


def split_to_bits(fixed: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers at scale 2^24 into numbers at scale 2^bits, rounded down, and the rest."""
    shift = FIELD_BITS - bits
    down = fixed >> shift
    return down, fixed - (down << shift)


def find_lanes(c: Couplings, free: np.ndarray) -> LanePlacement:
    """Colour the graph, those with most neighbours first, and fill blocks colour by colour."""
    n = len(free)
    degree = np.bincount(c.first, minlength=n)
    order = np.argsort(-degree, kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    edges = np.argsort(rank[c.first] * n + rank[c.second])  # faster than np.lexsort
    start = start_offsets(degree[order])
    colours = greedy_colouring(Adjacency(np.full(n, 2), start, rank[c.second][edges]))[rank]
    visited = np.lexsort((degree, colours))
    visited = visited[free[visited]]
    sizes = np.bincount(colours[visited])
    first_block = start_offsets(-(-sizes // BLOCK_LANES))
    within = np.arange(len(visited)) - start_offsets(sizes)[colours[visited]]
    blocks = int(first_block[-1])
    place = np.full(n, blocks * BLOCK_LANES)
    place[visited] = first_block[colours[visited]] * BLOCK_LANES + within
    rows = np.zeros(blocks, np.int64)
    np.maximum.at(rows, place[visited] // BLOCK_LANES, degree[visited])
    return LanePlacement(place, (rows + 1) // 2 * 2, first_block)


def compile_lanes(c: Couplings, lanes: LanePlacement, bits: int) -> BinaryPairsHerdTables:
    """Lay couplings out where their variables are."""
    place, row_start = lanes.place, start_offsets(lanes.rows)
    free = place < len(lanes.rows) * BLOCK_LANES
    alone = aligned_zeros((len(lanes.rows) * BLOCK_LANES,), np.int16)
    alone_rest = aligned_zeros((len(lanes.rows) * BLOCK_LANES,), np.uint16)
    down, left = split_to_bits(c.alone, bits)
    alone[place[free]], alone_rest[place[free]] = down[free], rest_of_step(left, bits)[free]
    block, lane = np.divmod(place[c.first], BLOCK_LANES)
    nth = (
        np.arange(len(c.first)) - start_offsets(np.bincount(c.first, minlength=len(place)))[c.first]
    )
    at = (row_start[block] + nth) * BLOCK_LANES + lane
    neighbour, coupling = (
        aligned_zeros((lanes.size,), np.uint32),
        aligned_zeros((lanes.size,), np.int16),
    )
    coupling_rest = aligned_zeros((lanes.size,), np.uint16)
    down, left = split_to_bits(c.coupling, bits)
    neighbour[at], coupling[at], coupling_rest[at] = (
        place[c.second],
        down,
        rest_of_step(left, bits),
    )
    shared = find_shared(row_start, neighbour, (coupling != 0) | (coupling_rest != 0))
    return make_read_only(
        BinaryPairsHerdTables(
            row_start, neighbour, coupling, coupling_rest, alone, alone_rest, place, shared
        )
    )


def rest_of_step(left: np.ndarray, bits: int) -> np.ndarray:
    """Return the rest of `split_to_bits`, at scale 2^16 of a step; 0 for finer steps."""
    return left << max(0, 16 - (FIELD_BITS - bits))


def find_shared(row_start: np.ndarray, neighbour: np.ndarray, coupling: np.ndarray) -> np.ndarray:
    """Find blocks of long lists whose rows have the first lane's neighbour or none."""
    near, idle = neighbour.reshape(-1, BLOCK_LANES), coupling.reshape(-1, BLOCK_LANES) == 0
    alike = ((near == near[:, :1]) | idle).all(axis=1)
    rows = np.diff(row_start)
    ends = start_offsets(alike)[row_start]  # rows that are alike before each block
    found: np.ndarray = (np.diff(ends) == rows) & (rows >= MIN_SHARED_ROWS)
    return found


@cache
def sigmoid_of_field(bits: int) -> np.ndarray:
    """Return p at scale 2^31 by fields at scale 2^bits, as unsigned numbers of 16 bits."""
    table = np.empty(2**16, np.uint32)
    _fill_sigmoid_of_field(table, 2.0**bits)
    table.flags.writeable = False
    return table


@jit
def _fill_sigmoid_of_field(table, scale):
    for index in range(len(table)):
        field = index - 2**16 if index >= 2**15 else index
        table[index] = fixed_scalar(0.0, field / scale, 1.0)


@jit
def fixed_point_multiplier(value, bits):
    """Return m of `bits` bits and shift with m / 2^shift = value; fewer if it is tiny.

    The largest m without a shift stands for all larger values, and for infinity.
    """
    most, shift = 2.0**bits - 1.0, 0
    if value >= most:
        return np.int64(most), np.int64(0)
    while value < 2.0 ** (bits - 1) and shift < 2 * bits:
        value *= 2.0
        shift += 1
    return np.int64(value + 0.5), np.int64(shift)


def pack_members(states: np.ndarray, place: np.ndarray, stored: int) -> np.ndarray:
    """Pack states 0 and 1 (members, N) as words: those of one place are adjacent."""
    members, words = len(states), -(-len(states) // MEMBERS_PER_UINT64)
    bits = np.zeros((stored, words * MEMBERS_PER_UINT64), np.uint8)
    bits[place, :members] = states.T
    bits[-1] = 0  # the place of known variables
    packed = np.packbits(bits, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64).reshape(-1)
