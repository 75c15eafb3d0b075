"""Half-sweeps over one tile of a colour-packed binary lattice.

A tile whose first row and column are even is laid out like a whole lattice
(`layouts/grid/layout.py`) with one row per strip. The border around its states holds the
neighbouring tiles' outermost sites instead of zeros. Sites of one colour see only the other colour,
so the border is exchanged once before every half-sweep. All random numbers depend on a site's place
in the whole lattice, so the bits do not depend on the tiling.

This is the only module that calls `layouts/grid/sweeps.py` for tiles.
"""

import numpy as np

from herded.draws.systematic_lanes import LANES
from herded.layouts.grid.arrays import CONTEXTS_BY_COUNT
from herded.layouts.grid.sweeps import (
    add_strip_conditionals,
    count_ones_in_strip,
    find_contexts,
    herd_strip,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_33 = np.uint64(33)


@jit
def half_sweep(p, contexts, x, w, colour, ones, tally):
    """Sweep one colour; p and w are (2, h, entries of a row), `contexts` as in `LatticeArrays`.

    Adds the new states to `ones` and the conditionals to `tally`, (2, h, m) or empty.
    """
    rows, columns = p.shape[1], x.shape[2] - 2
    places = p.shape[2] // len(contexts)
    context, new = np.zeros(places, np.uint8), np.zeros(places, np.uint8)
    seen = np.zeros(places, np.uint32)
    for r in range(rows):
        find_contexts(x, len(contexts) == CONTEXTS_BY_COUNT, colour, r, 1, context)
        herd_strip(p, w, colour, r, contexts, context, new)
        mine = x[colour, r + 1, 1:]
        for m in range(columns):
            mine[m] = new[m]
        if ones.size:
            count_ones_in_strip(new, ones[colour, r], 0, columns)
        if tally.size:
            add_strip_conditionals(
                p, colour, r, contexts, context, seen, tally[colour, r], 0, columns
            )


@jit
def cut_tile(p, rows, columns, above, before, out):
    """Copy the conditionals of a part of a lattice, laid out with `rows` per strip, to a tile.

    The part begins `above` rows down and `before` packed columns to the right; out is (2, h, cells,
    contexts, LANES). Entries beyond the part in the last cells are never read.
    """
    _, h, cells, contexts, _ = out.shape
    for colour in range(2):
        for r in range(h):
            strip, inside = divmod(above + r, rows)
            for c in range(min(columns - before, cells * LANES)):
                site = inside * columns + before + c
                there, here = p[colour, strip, site // LANES], out[colour, r, c // LANES]
                for q in range(contexts):
                    here[q, c % LANES] = there[q, site % LANES]


@jit
def start_states(top, left, width, key, x):
    """Fill x (h, w) with the start states of this part of a lattice of `width` columns."""
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[r, c] = random_bits(key, np.uint64((top + r) * width + left + c)) % np.uint64(2)


@jit
def start_tile_phases(place, top, left, columns_here, key, w):
    """Fill w with the random start phases of this part, as `start_lattice` draws them.

    `place` is (strips, rows of a strip, columns) of the whole lattice. w is (2, h, cells,
    contexts, LANES).
    """
    strips, rows, columns = place
    _, h, _, contexts, _ = w.shape
    sites = rows * columns
    for colour in range(2):
        for r in range(h):
            strip, inside = divmod(top + r, rows)
            strip += colour * strips
            for c in range(columns_here):
                site = inside * columns + left // 2 + c
                planes = w[colour, r, c // LANES]
                for q in range(contexts):
                    plane = (strip * contexts + q) * sites + site
                    line = (strip * sites + site) * contexts + q
                    name = plane if contexts == CONTEXTS_BY_COUNT else line
                    planes[q, c % LANES] = random_bits(key, np.uint64(name)) >> _33
