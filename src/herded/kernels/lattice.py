"""Sweeps over colour-packed binary lattices (plan "lattice"), vectorised.

Sites of one colour do not interact, so a half-sweep is loops over strips of rows.

With five contexts there is no gather, so that the compiler can use whole SIMD registers: for
every context q, *all* sites add p where their context is q and 0 elsewhere, which leaves the
other phases as they are and carries nothing. With sixteen that would be too much traffic: each
site picks its entry from its own cache line.

Several sweeps run over the lattice as one wave, each half-sweep two strips behind the one before,
so that a strip's weights are still in cache when the next sweep needs them. A half-sweep of a
strip needs the half-sweep before it on that strip and on the two beside it, and these are done:
the bits are those of one sweep after another.
"""

import numpy as np

from herded.jit import jit
from herded.stream import draw

PHASE = np.uint32(0x7FFFFFFF)
_33 = np.uint64(33)
NEAR = 2**19  # bytes of cache that a wave may use


@jit
def wave_depth(strip_bytes):
    """How many sweeps a wave may have: it holds four strips a sweep, each with its weights."""
    return max(1, NEAR // (8 * strip_bytes))


@jit
def wave_halves(front, strips, halves):
    """The half-sweeps [first, last) of a wave that are in step `front`, on strip front - 2 half."""
    return max(0, (front - strips + 2) // 2), min(halves, front // 2 + 1)


@jit
def shared_sweeps(p, rows, sweep, key, x, w, tally, block):
    """Run len(block) sweeps with one weight (or draw) per count of neighbours that are 1.

    x is (2, rows + 2, columns + 2) with a border of zeros; w is empty for Gibbs sampling.
    """
    _, strips, _, sites = p.shape
    context, new = np.empty(sites, np.uint32), np.empty(sites, np.uint32)
    depth = wave_depth(p[0, 0].nbytes)
    for begin in range(0, len(block), depth):
        halves = 2 * min(depth, len(block) - begin)
        for front in range(strips + 2 * halves - 2):
            first, last = wave_halves(front, strips, halves)
            for half in range(first, last):
                s, colour, strip = begin + half // 2, half & 1, front - 2 * half
                at = (colour * strips + strip) * sites
                count_ones_around(x, colour, strip * rows, rows, context)
                if w.size:
                    herd_planes(p[colour, strip], w[colour, strip], context, new)
                else:
                    clock = np.uint64((sweep + s) * block.shape[1] + at)
                    draw_planes(p[colour, strip], context, key, clock, new)
                store(x, colour, strip * rows, rows, new, block[s, at : at + sites])
                if tally.size:
                    tally_planes(p[colour, strip], context, tally[at : at + sites])


@jit
def blanket_sweeps(p, rows, sweep, key, x, w, tally, block):
    """As shared_sweeps, with one weight per state of the four neighbours."""
    _, strips, sites, _ = p.shape
    context, new = np.empty(sites, np.uint32), np.empty(sites, np.uint32)
    depth = wave_depth(p[0, 0].nbytes)
    for begin in range(0, len(block), depth):
        halves = 2 * min(depth, len(block) - begin)
        for front in range(strips + 2 * halves - 2):
            first, last = wave_halves(front, strips, halves)
            for half in range(first, last):
                s, colour, strip = begin + half // 2, half & 1, front - 2 * half
                at = (colour * strips + strip) * sites
                bits_around(x, colour, strip * rows, rows, context)
                if w.size:
                    herd_lines(p[colour, strip], w[colour, strip], context, new)
                else:
                    clock = np.uint64((sweep + s) * block.shape[1] + at)
                    draw_lines(p[colour, strip], context, key, clock, new)
                store(x, colour, strip * rows, rows, new, block[s, at : at + sites])
                if tally.size:
                    tally_lines(p[colour, strip], context, tally[at : at + sites])


@jit
def around(x, colour, r):
    """The neighbours of row r of a colour, column for column: left, right, up, down."""
    other = x[1 - colour]
    # Row r of the padded half-lattices is r + 1; column m is m + 1.
    beside = other[r + 1]
    shift = (r + colour) & 1  # 0: the colour starts at column 0, its left neighbours one before
    return beside[shift:], beside[shift + 1 :], other[r][1:], other[r + 2][1:]


@jit
def count_ones_around(x, colour, first, rows, context):
    """Each site's context as the count of 1s around it."""
    columns = len(context) // rows
    for r in range(rows):
        left, right, up, down = around(x, colour, first + r)
        row = context[r * columns : (r + 1) * columns]
        for m in range(columns):
            row[m] = np.uint32(left[m] + right[m] + up[m] + down[m])


@jit
def bits_around(x, colour, first, rows, context):
    """Each site's context as the bits left, right, up, down, lowest first."""
    columns = len(context) // rows
    for r in range(rows):
        left, right, up, down = around(x, colour, first + r)
        row = context[r * columns : (r + 1) * columns]
        for m in range(columns):
            row[m] = np.uint32(left[m] + 2 * right[m] + 4 * up[m] + 8 * down[m])


@jit
def herd_planes(p, w, context, new):
    """Steps 3 and 4 of Algorithm 1 for all sites of a strip, plane by plane."""
    new[:] = 0
    for q in range(p.shape[0]):
        plane, phases, here = p[q], w[q], np.uint32(q)
        for m in range(len(context)):
            phi = np.uint32(phases[m] + (plane[m] if context[m] == here else np.uint32(0)))
            phases[m] = phi & PHASE
            new[m] |= phi >> 31


@jit
def herd_lines(p, w, context, new):
    """Steps 3 and 4 of Algorithm 1 for all sites of a strip, site by site."""
    for m in range(len(context)):
        q = context[m]
        phi = np.uint32(w[m, q] + p[m, q])
        w[m, q] = phi & PHASE
        new[m] = phi >> 31


@jit
def draw_planes(p, context, key, clock, new):
    """Gibbs sampling of a strip."""
    for m in range(len(context)):
        bits = np.uint32(draw(key, clock + np.uint64(m)) >> _33)
        new[m] = np.uint32(bits < p[context[m], m])


@jit
def draw_lines(p, context, key, clock, new):
    """Gibbs sampling of a strip."""
    for m in range(len(context)):
        bits = np.uint32(draw(key, clock + np.uint64(m)) >> _33)
        new[m] = np.uint32(bits < p[m, context[m]])


@jit
def tally_planes(p, context, sums):
    """Add each site's conditional."""
    for m in range(len(context)):
        sums[m] += p[context[m], m]


@jit
def tally_lines(p, context, sums):
    """Add each site's conditional."""
    for m in range(len(context)):
        sums[m] += p[m, context[m]]


@jit
def store(x, colour, first, rows, new, out):
    """Write a strip's new states into the lattice and into the sample."""
    columns = len(new) // rows
    for r in range(rows):
        mine, fresh = x[colour, first + r + 1][1:], new[r * columns : (r + 1) * columns]
        for m in range(columns):
            mine[m] = fresh[m]
    for m in range(len(new)):
        out[m] = new[m]
