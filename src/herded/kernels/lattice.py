"""Sweeps over colour-packed binary lattices (plan "lattice"), vectorised.

Sites of one colour do not interact, so a half-sweep is loops over rows. To let the compiler use
whole SIMD registers there is no gather: for every context q, *all* columns add p where their
context is q and 0 elsewhere, which leaves the other phases as they are and carries nothing.
"""

import numpy as np

from herded.jit import jit
from herded.stream import draw

PHASE = np.uint32(0x7FFFFFFF)
_33 = np.uint64(33)


@jit
def neighbours_of_row(x, colour, r, shared, context):
    """Write each site's context: the count of 1s around it, or their bits left right up down."""
    other = x[1 - colour]
    # Row r of the padded half-lattices is r + 1; column m is m + 1.
    up, down, beside = other[r], other[r + 2], other[r + 1]
    shift = (r + colour) & 1  # 0: the colour starts at column 0, its left neighbours one before
    left, right = beside[shift:], beside[shift + 1 :]
    if shared:
        for m in range(len(context)):
            context[m] = up[m + 1] + down[m + 1] + left[m] + right[m]
    else:
        for m in range(len(context)):
            context[m] = left[m] + 2 * right[m] + 4 * up[m + 1] + 8 * down[m + 1]


@jit
def herd_row(p, w, context, seen, x):
    """One half-row: step 3 and 4 of Algorithm 1 for all its sites; `seen` receives their p."""
    for q in range(p.shape[0]):
        plane, phases, here = p[q], w[q], np.uint32(q)
        for m in range(len(context)):
            add = plane[m] if context[m] == here else np.uint32(0)
            phi = np.uint32(phases[m] + add)
            phases[m] = phi & PHASE
            seen[m] = add if here == 0 else seen[m] | add
            x[m] = phi >> 31 if here == 0 else x[m] | (phi >> 31)


@jit
def draw_row(p, context, key, clock, seen, x):
    """One half-row of Gibbs sampling."""
    for m in range(len(context)):
        add = p[context[m], m]
        seen[m] = add
        x[m] = np.uint32(np.uint32(draw(key, clock + np.uint64(m)) >> _33) < add)


@jit
def lattice_sweeps(p, herded, shared, sweep, key, x, w, tally, block):
    """Run len(block) sweeps; x is (2, H+2, M+2), the rest as the plan packs it."""
    _, h, _, columns = p.shape
    context = np.empty(columns, np.uint32)
    seen = np.empty(columns, np.uint32)
    row_x = np.empty(columns, np.uint32)
    for s in range(len(block)):
        for colour in range(2):
            for r in range(h):
                neighbours_of_row(x, colour, r, shared, context)
                if herded:
                    herd_row(p[colour, r], w[colour, r], context, seen, row_x)
                else:
                    clock = np.uint64((((sweep + s) * 2 + colour) * h + r) * columns)
                    draw_row(p[colour, r], context, key, clock, seen, row_x)
                out = block[s, (colour * h + r) * columns : (colour * h + r + 1) * columns]
                mine = x[colour, r + 1]
                for m in range(columns):
                    mine[m + 1] = row_x[m]
                    out[m] = row_x[m]
                if len(tally):
                    sums = tally[(colour * h + r) * columns : (colour * h + r + 1) * columns]
                    for m in range(columns):
                        sums[m] += seen[m]
