"""Binary lattices of any dimension packed by colour: rows along the last axis, whatever lies above.

A row is its sites of one colour (the parity of the sum of all coordinates) side by side, between
two columns that are the border. Of the two neighbours along the last axis, which are in the same
row of the other colour, one is at the same column; the other is one before where the colour starts
at column 0, else one behind. Those along every other axis are at the same column of other rows.

A *run* is rows, one behind the other, whose neighbours are too: a place and its neighbours are as
far apart everywhere in it, so that a run is one loop, however short its rows are. Rows of zeros, as
many as a layer of the first axis has, lie before all others: they are neighbours of an open border,
so that any of the axes can be periodic. Places of the border have p = 0 and stay 0; where the last
axis is periodic they are then made what lies on the other side.

All couplings are equal, so that a context is the number of neighbours that are 1: p has a plane for
each number, as in `layouts.grid.arrays`. A strip is one or more whole layers of the first axis:
only those of strips side by side are neighbours, so that strips are swept in waves as those of a
picture are.
"""

import math
from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import fixed_scalar
from herded.draws.systematic_lanes import LANES
from herded.layouts.grid.arrays import BYTES_PER_CONDITIONAL, put_conditional
from herded.layouts.packing.colour_packing import MIN_STRIP_SITES
from herded.models.lattice import Lattice
from herded.system.aligned_arrays import aligned_zeros, start_offsets
from herded.system.compilation.jit import jit

CONTEXTS_UP_TO_3D, CONTEXTS_UP_TO_7D = 7, 15  # contexts: of at most 3 dimensions, and of at most 7
MAX_DIMENSIONS = 7


class RowPackingShape(NamedTuple):
    """The layout of a lattice in rows."""

    layer: int  # rows of a layer of the first axis, and of zeros before all others
    rows: int  # of a strip
    strips: int
    height: int  # rows that sites have: the last strip may have more
    wide: int  # columns of a half-lattice, and two of the border

    @property
    def total(self) -> int:
        """Rows of all strips."""
        return self.rows * self.strips

    @property
    def tall(self) -> int:
        """Rows of a state, with those of zeros before and one behind."""
        return self.layer + self.total + 1

    @property
    def places(self) -> int:
        """Of a colour in a strip."""
        return self.rows * self.wide

    @property
    def cells(self) -> int:
        """Of a colour in a strip."""
        return -(-self.places // LANES)


class GridNDArrays(NamedTuple):
    p: np.ndarray  # uint32 (2, strips, cells, contexts, LANES), or uint8 (.., 4 contexts, LANES)
    contexts: tuple[int, ...]  # its length is their number, as in `LatticeArrays`
    runs: np.ndarray  # (runs, 2 d) first row of all strips, rows, rows of a state next to the first
    run_start: np.ndarray  # (strips + 1,)
    side: np.ndarray  # (places,) all bits where colour 0 of an even strip has a neighbour behind it
    ring: bool  # whether the last axis is periodic


def row_packing_shape(shape: tuple[int, ...]) -> RowPackingShape:
    """Return the rows and strips of a lattice."""
    wide, layers = (shape[-1] + 1) // 2 + 2, shape[0] if len(shape) > 1 else 1
    layer = math.prod(shape[1:-1])
    together = min(layers, -(-MIN_STRIP_SITES // (layer * (wide - 2))))
    return RowPackingShape(layer, together * layer, -(-layers // together), layers * layer, wide)


def n_contexts(shape: tuple[int, ...]) -> int:
    """Return the planes of p: one for every number of neighbours."""
    return CONTEXTS_UP_TO_3D if len(shape) <= 3 else CONTEXTS_UP_TO_7D


def compile_grid_nd(model: Lattice, kind: type[np.uint32] | type[np.uint8]) -> GridNDArrays:
    """Compute conditionals of a two-state lattice at scale 2^31, or as bytes for herds."""
    frame, contexts = row_packing_shape(model.shape), n_contexts(model.shape)
    adjacent_rows, parity = (
        neighbour_rows(model.shape, model.is_periodic_by_axis, frame),
        row_parity(model.shape, frame),
    )
    planes = contexts * (BYTES_PER_CONDITIONAL if kind is np.uint8 else 1)
    p = aligned_zeros((2, frame.strips, frame.cells, planes, LANES), kind)
    couplings, width = model.all_couplings, model.shape[-1]
    _fill_grid_nd(
        model.log_unary.reshape(-1, width, 2),
        couplings[0] if len(couplings) else 0.0,
        model.unlike,
        model.clamped.reshape(-1, width),
        (adjacent_rows >= frame.layer).sum(axis=1),
        parity,
        model.is_periodic_by_axis[0],
        frame.rows,
        frame.wide,
        p,
    )
    side = np.repeat(parity[: frame.rows] * 0xFF, frame.wide).astype(np.uint8)
    runs, run_start = find_runs(adjacent_rows, frame)
    for array in (p, runs, run_start, side):
        array.flags.writeable = False
    return GridNDArrays(p, (0,) * contexts, runs, run_start, side, model.is_periodic_by_axis[0])


def neighbour_rows(
    shape: tuple[int, ...], joined: tuple[bool, ...], frame: RowPackingShape
) -> np.ndarray:
    """Return (total, 2 (d - 1)) rows before and behind each row, on all axes but the last.

    Beyond an open border, and of rows without sites, they are some of the zeros, one behind the
    other as the rows are.
    """
    index = np.arange(frame.height).reshape(shape[:-1])
    zeros = np.arange(frame.total) % frame.layer
    near = np.repeat(zeros[:, None], 2 * (len(shape) - 1), axis=1)
    for axis in range(len(shape) - 1):
        for behind in (0, 1):
            rows = frame.layer + np.roll(index, 1 - 2 * behind, axis)
            if not joined[len(shape) - 1 - axis]:
                border: list[slice] = [slice(None)] * index.ndim
                border[axis] = slice(-1, None) if behind else slice(1)
                rows[tuple(border)] = index[tuple(border)] % frame.layer
            near[: frame.height, 2 * axis + behind] = rows.ravel()
    return near


def row_parity(shape: tuple[int, ...], frame: RowPackingShape) -> np.ndarray:
    """Return the parities of the sums of rows' coordinates; 0 where no site is."""
    parity = np.zeros(frame.total, np.int64)
    parity[: frame.height] = np.indices(shape[:-1]).sum(axis=0).ravel() & 1
    return parity


def find_runs(near: np.ndarray, frame: RowPackingShape) -> tuple[np.ndarray, np.ndarray]:
    """Find runs, each within a strip, and which are the first of each strip."""
    new = np.ones(frame.total, bool)
    new[1:] = (np.diff(near, axis=0) != 1).any(axis=1)
    new[:: frame.rows] = True
    first = np.flatnonzero(new)
    rows = np.diff(np.append(first, frame.total))
    runs = np.column_stack([first, rows, near[first]])
    counts = np.bincount(first // frame.rows, minlength=frame.strips)
    return np.ascontiguousarray(runs), start_offsets(counts)


@jit
def _fill_grid_nd(log_unary, coupling, unlike, clamped, others, parity, ring, rows, wide, p):
    """Fill conditionals by place and number; `others` are neighbours along further axes."""
    height, width, _ = log_unary.shape
    contexts = p.shape[3] // (BYTES_PER_CONDITIONAL if p.itemsize == 1 else 1)
    logits = np.empty(2)
    for r in range(height):
        for j in range(width):
            around = others[r] + (ring or j > 0) + (ring or j < width - 1)
            place = r % rows * wide + (j >> 1) + 1
            planes = p[(parity[r] + j) & 1, r // rows, place // LANES]
            for q in range(contexts):
                logits[0], logits[1] = log_unary[r, j, 0], log_unary[r, j, 1]
                for e in range(around):
                    up = 1 if e < q else 0
                    logits[up] += coupling
                    logits[1 - up] += coupling * unlike
                one = fixed_scalar(logits[0], logits[1], 1.0)
                if clamped[r, j] >= 0:
                    one = np.uint32(2**31 * clamped[r, j])
                put_conditional(planes, q, place % LANES, one)


def pack_rows(states: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Pack (..., N) sites as (..., 2, rows of all strips, wide) half-lattices; the border is 0."""
    frame = row_packing_shape(shape)
    lines = states.reshape(*states.shape[:-1], frame.height, shape[-1])
    packed = np.zeros((*states.shape[:-1], 2, frame.total, frame.wide), states.dtype)
    for colour, first, rows in _half_lattices(row_parity(shape, frame)[: frame.height]):
        part = lines[..., rows, first::2]
        packed[..., colour, rows, 1 : part.shape[-1] + 1] = part
    return packed


def unpack_rows(packed: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the (..., N) sites that `pack_rows` packed."""
    frame = row_packing_shape(shape)
    lines = np.empty((*packed.shape[:-3], frame.height, shape[-1]), packed.dtype)
    for colour, first, rows in _half_lattices(row_parity(shape, frame)[: frame.height]):
        columns = (shape[-1] - first + 1) // 2
        lines[..., rows, first::2] = packed[..., colour, rows, 1 : columns + 1]
    return lines.reshape(*packed.shape[:-3], math.prod(shape))


def _half_lattices(parity: np.ndarray) -> list[tuple[int, int, np.ndarray]]:
    """Yield each colour, its first column, and the rows that start there."""
    return [
        (colour, first, np.flatnonzero(parity == colour ^ first))
        for colour in (0, 1)
        for first in (0, 1)
    ]


def add_border(packed: np.ndarray, layer: int, ring: bool) -> np.ndarray:
    """Add rows of zeros to (..., rows, wide), and the opposite ends of rings."""
    if ring:
        packed[..., 0], packed[..., -1] = packed[..., -2], packed[..., 1]
    before = [(0, 0)] * (packed.ndim - 2)
    return np.ascontiguousarray(np.pad(packed, [*before, (layer, 1), (0, 0)]))
