"""Herds on Potts lattices: members are bits of words, and a site's state is written in bit planes.

Rows along the last axis lie as those of a picture do, in an order in which even and odd parities
take turns, whatever the number of dimensions; of a picture that is the order they have. Which rows
are neighbours along further axes is looked up in a table. The sites of one colour, row by row, are
cut into cells of 32 lanes.

pi(X = k | around) is proportional to u_k times f_d for every neighbour d in state k
(`layouts.potts.arrays`); what kernels read are single-precision roundings of u_k f^n for every
number n of neighbours where all couplings are equal, in up to three dimensions, else of u_k and
f_d. They are doubles where couplings are so strong that products could leave the range.

Member m is bit m % 32 of word m // 32. Plane 0 is the highest bit of a state.
"""

import math
from typing import NamedTuple

import numpy as np

from herded.layouts.grid_nd.arrays import neighbour_rows, row_packing_shape, row_parity
from herded.layouts.packing.colour_packing import pack_colours
from herded.models.lattice import Lattice
from herded.system.aligned_arrays import aligned_zeros, arrays_in
from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import max_value
from herded.system.numerics.exp_log import exp

POTTS_LANES = 32  # sites in a cell
MEMBERS_PER_UINT32 = 32  # members in a word
R1, R2, R3, R4 = (np.uint64(rows * POTTS_LANES) for rows in range(1, 5))  # entries of 1 to 4 rows
OCTET = np.uint64(8) * R4  # entries of the rows of eight states
FOUR_NEIGHBOURS, SIX_NEIGHBOURS = 4, 6  # neighbours that kernels count
# sum of a site's couplings, for single precision: exp(65) 2^31 is in its range
MAX_FLOAT32_COUPLING = 65.0
MAX_FLOAT64_COUPLING = 690.0  # the same for doubles
ALL_MEMBERS_MASK = 2**MEMBERS_PER_UINT32 - 1


class PottsHerdArrays(NamedTuple):
    table: np.ndarray  # (2, cells, powers K, POTTS_LANES): u_k f^n, or u_k
    # (2, cells, sides, POTTS_LANES): f_d; None where neighbours are counted
    factors: np.ndarray | None
    # uint32, (2, cells, sides, POTTS_LANES): all bits where there is a neighbour
    has_side: np.ndarray
    # (rows, 2 (d - 1)) neighbours of each row; any row where there is none
    adjacent_rows: np.ndarray
    place: np.ndarray  # (rows,) where each row of the lattice lies
    planes: tuple[int, ...]  # its length is their number: a part of its type, so that each number
    # gets a kernel of its own
    powers: tuple[int, ...]  # so is the number of a state's entries in the table: 5, 7 or 1
    ring: bool  # whether the last axis is periodic


def n_planes(states: int) -> int:
    """Return the bits of a state."""
    return (states - 1).bit_length()


def n_phases(planes: int) -> int:
    """Return two phases for each node of the trees (`layouts.potts.herd_conditionals`)."""
    return 2 * ((1 << planes) - 1 if planes <= 3 else (1 << (planes - 3)) - 1 + 7)


def n_words(members: int) -> int:
    """Return the words that hold a bit of every member."""
    return -(-members // MEMBERS_PER_UINT32)


def n_sides(shape: tuple[int, ...]) -> int:
    """Return the neighbours of a site, filled up to fours."""
    return -(-len(shape) // 2) * 4


def rows_and_columns(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows along the last axis, and the sites of each."""
    return math.prod(shape[:-1]), shape[-1]


def herd_shape(shape: tuple[int, int], states: int, members: int) -> tuple[int, ...]:
    """Return colours, rows, words, planes and columns of a packed herd without its border."""
    return 2, shape[0], n_words(members), n_planes(states), (shape[1] + 1) // 2


def count_colour_cells(shape: tuple[int, int]) -> int:
    """Count the cells of one colour."""
    return -(-shape[0] * ((shape[1] + 1) // 2) // POTTS_LANES)


def n_powers(model: Lattice) -> int:
    """Return the entries of a state in the table: one for each count of neighbours."""
    couplings, around = model.all_couplings, 2 * len(model.shape)
    if around > SIX_NEIGHBOURS or (couplings != couplings[:1]).any():
        return 1
    return 1 + (FOUR_NEIGHBOURS if around <= FOUR_NEIGHBOURS else SIX_NEIGHBOURS)


def max_total_coupling(model: Lattice) -> float:
    """Return the largest sum of the couplings of a site."""
    return 2 * len(model.shape) * float(np.abs(model.all_couplings).max(initial=0.0))


def table_type(model: Lattice) -> type[np.float32] | type[np.float64]:
    return np.float32 if max_total_coupling(model) <= MAX_FLOAT32_COUPLING else np.float64


def compile_potts_herd(model: Lattice) -> PottsHerdArrays:
    """Return the factors of the conditionals, and where there are neighbours."""
    picture, states, kind = (
        rows_and_columns(model.shape),
        model.log_unary.shape[-1],
        table_type(model),
    )
    cells, sides, powers = count_colour_cells(picture), n_sides(model.shape), n_powers(model)
    place, adjacent_rows = neighbour_row_places(model)
    order, couplings = np.argsort(place), model.all_couplings
    table = aligned_zeros((2, cells, powers * states, POTTS_LANES), kind)
    table[:, :, 0] = 1.0  # places that no site has stay in state 0
    factors = aligned_zeros((2, cells, sides, POTTS_LANES), kind) if powers == 1 else None
    has_side = aligned_zeros((2, cells, sides, POTTS_LANES), np.uint32)
    _fill_table(
        model.log_unary.reshape(*picture, states)[order],
        model.clamped.reshape(picture)[order],
        couplings[0] if len(couplings) else 0.0,
        powers,
        float(np.finfo(kind).tiny),
        table,
    )
    last = len(model.shape) - 1
    for axis, along in zip(range(last, -1, -1), model.couplings, strict=True):
        for behind in (0, 1):
            side = behind if axis == last else 2 + 2 * axis + behind  # the last axis first
            values = couplings_towards(along, model.shape, axis, behind)
            _fill_side(values.reshape(picture)[order], side, factors, has_side)
    sizes = (0,) * n_planes(states), (0,) * powers
    found = PottsHerdArrays(
        table, factors, has_side, adjacent_rows, place, *sizes, model.is_periodic_by_axis[0]
    )
    for array in arrays_in(found):
        array.flags.writeable = False
    return found


def neighbour_row_places(model: Lattice) -> tuple[np.ndarray, np.ndarray]:
    """Return where rows lie, and the neighbours of each place along all axes but the last."""
    rows, frame = rows_and_columns(model.shape)[0], row_packing_shape(model.shape)
    parity = row_parity(model.shape, frame)[:rows]
    place = np.empty(rows, np.int64)
    for odd in (0, 1):  # even rows are as many as odd ones, or one more
        place[parity == odd] = np.arange(odd, rows, 2)
    near = neighbour_rows(model.shape, model.is_periodic_by_axis, frame)[:rows] - frame.layer
    adjacent_rows = np.empty_like(near)
    adjacent_rows[place] = place[np.maximum(near, 0)]
    return place, adjacent_rows


def couplings_towards(
    along: np.ndarray, shape: tuple[int, ...], axis: int, behind: int
) -> np.ndarray:
    """Return couplings with the site before or behind, NaN where there is none."""
    missing = [(0, shape[n] - along.shape[n]) for n in range(len(shape))]
    values = np.pad(along, missing, constant_values=np.nan)
    return values if behind else np.roll(values, 1, axis)


@jit
def _fill_table(log_unary, clamped, coupling, powers, least, table):
    """Fill the weights of states; those below the `least` normal number, which are slow, are 0.

    In single precision that is less likely than 2^-32, whatever is around.
    """
    height, width, states = log_unary.shape
    factor = exp(coupling)
    for r in range(height):
        for j in range(width):
            site = r * ((width + 1) // 2) + (j >> 1)
            mine = table[(r + j) & 1, site // POTTS_LANES, :, site % POTTS_LANES]
            top = max_value(log_unary[r, j])
            for k in range(states):
                u = exp(log_unary[r, j, k] - top)
                if clamped[r, j] >= 0:
                    u = 1.0 if k == clamped[r, j] else 0.0
                for n in range(powers):
                    mine[k * powers + n] = u if u >= least else 0.0
                    u *= factor


@jit
def _fill_side(coupling, side, factors, has_side):
    """Fill neighbours on one side: which sites have one, and its multiplier of the weights."""
    height, width = coupling.shape
    for r in range(height):
        for j in range(width):
            site = r * ((width + 1) // 2) + (j >> 1)
            if not np.isnan(coupling[r, j]):
                has_side[(r + j) & 1, site // POTTS_LANES, side, site % POTTS_LANES] = (
                    ALL_MEMBERS_MASK
                )
                if factors is not None:
                    f = exp(coupling[r, j])
                    factors[(r + j) & 1, site // POTTS_LANES, side, site % POTTS_LANES] = f


def pack_herd(states: np.ndarray, shape: tuple[int, int], planes: int, ring: bool) -> np.ndarray:
    """Pack (members, N) states as (2, H, words, planes, M + 2) words with a border.

    The border is 0, or what lies on the other side of a ring.
    """
    height, width = shape
    halves = pack_colours(states.reshape(-1, height, width), height).astype(np.uint32)
    members, columns = len(halves), halves.shape[3]
    x = aligned_zeros((2, height, n_words(members), planes, columns + 2), np.uint32)
    for m in range(members):
        for p in range(planes):
            bit = halves[m] >> np.uint32(planes - 1 - p) & np.uint32(1)
            x[:, :, m // MEMBERS_PER_UINT32, p, 1:-1] |= bit << np.uint32(m % MEMBERS_PER_UINT32)
    if ring:
        x[..., 0], x[..., -1] = x[..., -2], x[..., 1]
    return x
