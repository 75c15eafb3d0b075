"""Potts lattices packed by colour as binary ones are, for pooled weights and for draws.

pi(X = k | around) is proportional to u_k times f_d for every neighbour d in state k, with
u = exp(log_unary - its largest) and f = exp(coupling): K numbers and four multiplications instead
of an exp for every state and visit. Places without a neighbour have f = 1, clamped sites one u that
is not 0.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.herded_weights import start_vector
from herded.draws.systematic_lanes import LANES
from herded.draws.weight_modes import MAX_BINS
from herded.layouts.packing.colour_packing import count_cells, strip_shape
from herded.layouts.proposal import Refusal
from herded.models.lattice import Lattice
from herded.system.aligned_arrays import aligned_zeros
from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import max_value
from herded.system.numerics.exp_log import exp

MAX_POTTS_STATES = 64
MAX_POTTS_COUPLING = 75.0  # coupling: the product of four f stays far from overflow


class PottsArrays(NamedTuple):
    u: np.ndarray  # (2, strips, cells, K, LANES)
    f: np.ndarray  # (2, strips, cells, 4, LANES): left, right, up, down
    rows: int  # in a strip
    columns: int
    periodic: bool


def refuse_potts(model: Lattice, weights: str | None) -> Refusal | None:
    """Return a refusal of lattices and weights that the Potts kernels cannot run."""
    if not 2 < model.log_unary.shape[-1] <= MAX_POTTS_STATES:
        return Refusal(f"its variables do not have 3 to {MAX_POTTS_STATES} states")
    if weights not in (None, "pooled"):
        return Refusal(f"weights={weights!r} does not run on lattices of more than two states")
    couplings = model.all_couplings
    if np.abs(couplings).max(initial=0.0) > MAX_POTTS_COUPLING:
        return Refusal(f"it has couplings beyond {MAX_POTTS_COUPLING:g}")
    return None


def lattice_memory(model: Lattice, weights: str | None) -> tuple[float, float]:
    """Return the bytes of factors, and of one chain's weights."""
    states, places = model.log_unary.shape[2], float(n_places(model.shape))
    chain = 4.0 * MAX_BINS * states * places if weights else 0.0
    return 8.0 * (states + 4) * places, chain


def compile_potts(model: Lattice) -> PottsArrays:
    """Return the factors of the conditionals."""
    rows, columns, strips = strip_shape(*model.shape)
    states = model.log_unary.shape[2]
    cells = count_cells(rows * columns)
    u = aligned_zeros((2, strips, cells, states, LANES), np.float64)
    f = aligned_zeros((2, strips, cells, 4, LANES), np.float64)
    u[...], f[...] = 1.0, 1.0
    _fill_potts(
        model.log_unary, model.right, model.down, model.clamped, model.periodic, rows, columns, u, f
    )
    for array in (u, f):
        array.flags.writeable = False
    return PottsArrays(u, f, rows, columns, model.periodic)


def n_places(shape: tuple[int, ...]) -> int:
    """Return the places of both colours, those without a site included."""
    rows, columns, strips = strip_shape(*shape)
    return 2 * strips * count_cells(rows * columns) * LANES


@jit
def _fill_potts(log_unary, right, down, clamped, periodic, rows, columns, u, f):
    height, width, states = log_unary.shape
    for r in range(height):
        for j in range(width):
            colour, strip, site = (r + j) & 1, r // rows, r % rows * columns + (j >> 1)
            top = max_value(log_unary[r, j])
            mine = u[colour, strip, site // LANES, :, site % LANES]
            for k in range(states):
                mine[k] = exp(log_unary[r, j, k] - top)
                if clamped[r, j] >= 0:
                    mine[k] = 1.0 if k == clamped[r, j] else 0.0
            around = f[colour, strip, site // LANES, :, site % LANES]
            if periodic or j > 0:
                around[0] = exp(right[r, j - 1])
            if periodic or j < width - 1:
                around[1] = exp(right[r, j])
            if periodic or r > 0:
                around[2] = exp(down[r - 1, j])
            if periodic or r < height - 1:
                around[3] = exp(down[r, j])


@jit
def start_potts(w, height, width, rows, columns, key):
    """Start the weight vectors (2, strips, places, states) of a lattice at random places.

    They are named as if they lay one after another in the order of the sites.
    """
    states = w.shape[3]
    for r in range(height):
        for j in range(width):
            vector = w[(r + j) & 1, r // rows, r % rows * columns + (j >> 1)]
            start_vector(vector, 0, states, True, key, np.uint64((r * width + j) * states))
