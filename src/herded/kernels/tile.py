"""Half-sweeps over one tile of a colour-packed binary lattice.

A tile whose first row and column are even is laid out as a lattice of its own (`plan/lattice.py`)
with one row to a strip, and the border around its states holds the neighbouring tiles' outermost
sites instead of zeros. Sites of one colour see only the other colour, so that border is exchanged
once before every half-sweep. All that is random is named by a site's place in the whole lattice:
the bits do not depend on the tiling.

This is the only file that calls into `kernels/lattice.py` for tiles.
"""

import numpy as np

from herded.jit import jit
from herded.kernels.lattice import (
    bits_around,
    count_ones_around,
    herd_lines,
    herd_planes,
    store,
    tally_lines,
    tally_planes,
)
from herded.kernels.weights import start_scalar
from herded.stream import draw


@jit
def shared_half_sweep(p, x, w, colour, ones, tally):
    """One colour with a weight per count of neighbours that are 1; p and w are (2, h, 5, m).

    Adds the new states to `ones` and the conditionals to `tally`, (2, h, m) or empty.
    """
    _, rows, _, columns = p.shape
    context, new = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
    sample = np.empty(columns, np.uint8)
    for r in range(rows):
        count_ones_around(x, colour, r, 1, context)
        herd_planes(p[colour, r], w[colour, r], context, new)
        store(x, colour, r, 1, new, sample)
        if ones.size:
            add(sample, ones[colour, r])
        if tally.size:
            tally_planes(p[colour, r], context, tally[colour, r])


@jit
def blanket_half_sweep(p, x, w, colour, ones, tally):
    """As shared_half_sweep, with a weight per state of the four neighbours: (2, h, m, 16)."""
    _, rows, columns, _ = p.shape
    context, new = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
    sample = np.empty(columns, np.uint8)
    for r in range(rows):
        bits_around(x, colour, r, 1, context)
        herd_lines(p[colour, r], w[colour, r], context, new)
        store(x, colour, r, 1, new, sample)
        if ones.size:
            add(sample, ones[colour, r])
        if tally.size:
            tally_lines(p[colour, r], context, tally[colour, r])


@jit
def add(sample, ones):
    """Count the sites that are 1."""
    for m in range(len(sample)):
        ones[m] += sample[m]


@jit
def start_states(top, left, width, key, x):
    """Fill x (h, w) with the states that a lattice of `width` columns starts with there."""
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[r, c] = draw(key, np.uint64((top + r) * width + left + c)) % np.uint64(2)


@jit
def start_phases(place, contexts_inside, top, left, key, w):
    """Fill w with the random phases that the whole lattice has there.

    `place` is (strips, rows of a strip, columns) of the whole lattice's packed arrays, where a
    site's contexts lie side by side (`contexts_inside`) or a strip apart. w is (2, h, m, contexts).
    """
    strips, rows, columns = place
    _, h, m, contexts = w.shape
    for colour in range(2):
        for r in range(h):
            strip, inside = divmod(top + r, rows)
            strip += colour * strips
            for c in range(m):
                site = inside * columns + left // 2 + c
                phases = w[colour, r, c]
                for q in range(contexts):
                    if contexts_inside:
                        name = (strip * rows * columns + site) * contexts + q
                    else:
                        name = (strip * contexts + q) * rows * columns + site
                    start_scalar(phases, q, True, key, np.uint64(name))
