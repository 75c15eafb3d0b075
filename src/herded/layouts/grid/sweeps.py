"""Sweeps over colour-packed binary lattices (layout "lattice"), vectorised.

Sites of one colour do not interact, so a half-sweep is loops over strips of rows;
`layouts.packing.wavefront` says in which order. There is no gather, so that the compiler can use
whole SIMD registers: for every context q, *all* sites add p where their context is q and 0
elsewhere, which leaves the other phases as they are and carries nothing.
"""

import numpy as np

from herded.draws.fixed_point import PHASE_MASK
from herded.draws.systematic_lanes import LANES
from herded.layouts.grid.arrays import CONTEXTS_BY_COUNT
from herded.layouts.packing.wavefront import (
    HALF_SWEEP_BEGIN,
    HALF_SWEEP_END,
    strip_at_front,
    wave_fronts,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_33 = np.uint64(33)


@jit
def grid_sweeps(
    p, contexts, drawn, ones, rows, height, periodic, sweep, key, x, w, tally, block, regions
):
    """Sweep `regions` in order; half-sweep 2 s + c is colour c of sample block[s].

    p and w are (2, strips, entries of a strip). x is (2, rows + 2, columns + 2)
    with a border of zeros or, where periodic, of what lies on the other side. Of `drawn` (for Gibbs
    sampling) and w the one that a run does not need is None, and is not compiled. What else it does
    not need is empty: `ones` and `tally`, which count samples with x = 1 and add up conditionals,
    and `block`, if samples are only counted: on large lattices it takes as long to write them as to
    find them.
    """
    strips, columns = p.shape[1], x.shape[2] - 2
    sites = rows * columns
    places = p.shape[2] // len(contexts)
    context, new = zero_bytes(places), zero_bytes(places)  # also for places that no site has
    seen = np.empty(places, np.uint32)
    for region in regions:
        for front in range(*wave_fronts(region)):
            for half in range(region[HALF_SWEEP_BEGIN], region[HALF_SWEEP_END]):
                strip = strip_at_front(region, front, half - region[HALF_SWEEP_BEGIN], strips)
                if strip < 0:
                    continue
                s, colour = half // 2, half & 1
                at = (colour * strips + strip) * sites
                find_contexts(
                    x, len(contexts) == CONTEXTS_BY_COUNT, colour, strip * rows, rows, context
                )
                if w is not None:
                    herd_strip(p, w, colour, strip, contexts, context, new)
                if drawn is not None:
                    clock = np.uint64((sweep + s) * 2 * strips * sites + at)
                    draw_strip_states(p, colour, strip, contexts, context, key, clock, new)
                write_strip_states(x, colour, strip * rows, rows, height, new)
                count_ones_in_strip(new, ones, at, sites)
                write_strip_sample(new, block, s, at, sites)
                if periodic:
                    copy_periodic_border(x, colour, strip * rows, rows, height)
                if len(tally) > 0:
                    add_strip_conditionals(
                        p, colour, strip, contexts, context, seen, tally, at, sites
                    )


@jit
def zero_bytes(n):
    """Allocate bytes that are 0 by a loop: `np.zeros` is one more function to compile."""
    room = np.empty(n, np.uint8)
    for m in range(n):
        room[m] = 0
    return room


@jit
def find_contexts(x, by_count, colour, first, rows, context):
    """Find each site's context: how many neighbours are 1, or the bits left, right, up, down."""
    columns = x.shape[2] - 2
    other = x[1 - colour]
    for r in range(first, first + rows):
        # Row r of the padded half-lattices is r + 1; column m is m + 1.
        shift = (r + colour) & 1  # 0: the colour starts at column 0, its left neighbour one before
        left, right = other[r + 1][shift:], other[r + 1][shift + 1 :]
        up, down = other[r][1:], other[r + 2][1:]
        row = context[(r - first) * columns : (r - first + 1) * columns]
        if by_count:
            for m in range(columns):
                row[m] = left[m] + right[m] + up[m] + down[m]
        else:
            for m in range(columns):
                row[m] = left[m] | right[m] << 1 | up[m] << 2 | down[m] << 3


@jit
def herd_strip(p, w, colour, strip, contexts, context, new):
    """Do steps 3 and 4 of Algorithm 1 for all sites of a strip, cell by cell."""
    size = len(contexts) * LANES
    for cell in range(len(context) // LANES):
        planes = p[colour, strip, cell * size : (cell + 1) * size]
        phases = w[colour, strip, cell * size : (cell + 1) * size]
        here = context[cell * LANES : (cell + 1) * LANES]
        states = new[cell * LANES : (cell + 1) * LANES]
        for m in range(LANES):
            carry = np.uint32(0)
            for q in range(len(contexts)):
                add = planes[q * LANES + m] if here[m] == q else np.uint32(0)
                phi = np.uint32(phases[q * LANES + m] + add)
                phases[q * LANES + m] = phi & PHASE_MASK
                carry |= phi
            states[m] = carry > PHASE_MASK


@jit
def draw_strip_states(p, colour, strip, contexts, context, key, clock, new):
    """Sample a strip by Gibbs sampling, cell by cell."""
    size = len(contexts) * LANES
    for cell in range(len(context) // LANES):
        planes = p[colour, strip, cell * size : (cell + 1) * size]
        here = context[cell * LANES : (cell + 1) * LANES]
        states = new[cell * LANES : (cell + 1) * LANES]
        first = clock + np.uint64(cell * LANES)
        for m in range(LANES):
            bits = np.uint32(random_bits(key, first + np.uint64(m)) >> _33)
            states[m] = bits < conditional_of_lane(planes, contexts, here[m], m)


@jit
def conditional_of_lane(planes, contexts, here, m):
    """Return p of lane m, whose context is `here`."""
    one = planes[m]
    for q in range(1, len(contexts)):
        other = planes[q * LANES + m]  # read whether it is needed or not: neither gather nor mask
        one = other if here == q else one
    return one


@jit
def add_strip_conditionals(p, colour, strip, contexts, context, seen, tally, at, sites):
    """Add each site's conditional, at scale 2^31.

    By way of `seen`: a loop that also widens to 64 bits has half the lanes.
    """
    size = len(contexts) * LANES
    for cell in range(len(context) // LANES):
        planes = p[colour, strip, cell * size : (cell + 1) * size]
        here = context[cell * LANES : (cell + 1) * LANES]
        found = seen[cell * LANES : (cell + 1) * LANES]
        for m in range(LANES):
            found[m] = conditional_of_lane(planes, contexts, here[m], m)
    sums = tally[at : at + sites]
    for m in range(len(sums)):
        sums[m] += np.int64(seen[m])


@jit
def write_strip_states(x, colour, first, rows, height, new):
    """Write a strip's new states into the lattice."""
    columns = x.shape[2] - 2
    last = first + rows
    for r in range(first, last if last < height else height):
        mine, fresh = x[colour, r + 1, 1:], new[(r - first) * columns :]
        for m in range(columns):
            mine[m] = fresh[m]


@jit
def count_ones_in_strip(new, ones, at, sites):
    """Count the sites that are 1, if there is room for counts."""
    mine = ones[at : at + sites]
    for m in range(len(mine)):
        mine[m] += new[m]


@jit
def write_strip_sample(new, block, s, at, sites):
    """Write a strip's new states into the sample, if it has room."""
    sample = block[s, at : at + sites]
    for m in range(len(sample)):
        sample[m] = new[m]


@jit
def copy_periodic_border(x, colour, first, rows, height):
    """Copy a strip's outermost states to the other side of a periodic lattice."""
    columns = x.shape[2] - 2
    mine = x[colour]
    last = first + rows
    for r in range(first + 1, (last if last < height else height) + 1):
        mine[r, 0], mine[r, columns + 1] = mine[r, columns], mine[r, 1]
        if r == 1 or r == height:
            to = height + 1 if r == 1 else 0
            for m in range(columns + 2):
                mine[to, m] = mine[r, m]
