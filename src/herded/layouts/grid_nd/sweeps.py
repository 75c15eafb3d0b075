"""Sweeps over colour-packed binary lattices of any dimension (`layouts.grid_nd.arrays`), run by
run.
"""

import numpy as np

from herded.layouts.grid.sweeps import (
    add_strip_conditionals,
    count_ones_in_strip,
    draw_strip_states,
    herd_strip,
    write_strip_sample,
    zero_bytes,
)
from herded.layouts.packing.wavefront import (
    HALF_SWEEP_BEGIN,
    HALF_SWEEP_END,
    strip_at_front,
    wave_fronts,
)
from herded.system.compilation.jit import jit


@jit
def grid_nd_sweeps(cube, frame, drawn, ones, sweep, key, x, w, tally, block, regions):
    """Sweep `regions` in order; half-sweep 2 s + c is colour c of sample block[s].

    x is (2, tall * wide). What a run does not need is None or empty, as for `grid_sweeps`.
    """
    layer, rows, strips, height, wide = frame
    p, contexts, runs, run_start, side, ring = cube
    places = rows * wide
    room = p.shape[2] // len(contexts)
    context, new = zero_bytes(room), zero_bytes(room)  # also for places that no site has
    seen = np.empty(room, np.uint32)
    for region in regions:
        for front in range(*wave_fronts(region)):
            for half in range(region[HALF_SWEEP_BEGIN], region[HALF_SWEEP_END]):
                strip = strip_at_front(region, front, half - region[HALF_SWEEP_BEGIN], strips)
                if strip < 0:
                    continue
                s, colour, first = half // 2, half & 1, strip * rows
                at = (colour * strips + strip) * places
                flip = np.uint8(255 * ((colour + first // layer) & 1))
                for run in runs[run_start[strip] : run_start[strip + 1]]:
                    count_neighbours_that_are_1(
                        x[1 - colour], run, first, layer, wide, side, flip, context
                    )
                if w is not None:
                    herd_strip(p, w, colour, strip, contexts, context, new)
                if drawn is not None:
                    clock = np.uint64((sweep + s) * 2 * strips * places + at)
                    draw_strip_states(p, colour, strip, contexts, context, key, clock, new)
                last = first + rows if first + rows < height else height
                write_row_states(x[colour], (layer + first) * wide, last - first, wide, ring, new)
                count_ones_in_strip(new, ones, at, places)
                write_strip_sample(new, block, s, at, places)
                if len(tally) > 0:
                    add_strip_conditionals(
                        p, colour, strip, contexts, context, seen, tally, at, places
                    )


@jit
def count_neighbours_that_are_1(other, run, first, layer, wide, side, flip, context):
    """Count the neighbours of each place of a run that are 1."""
    start, n = (run[0] - first) * wide, run[1] * wide
    at = (layer + run[0]) * wide
    here, behind = context[start : start + n], side[start : start + n]
    middle, left, right = other[at : at + n], other[at - 1 :], other[at + 1 :]
    for m in range(n):
        here[m] = middle[m] + (left[m] ^ ((left[m] ^ right[m]) & (behind[m] ^ flip)))
    for axis in range(2, len(run), 2):
        one, two = other[run[axis] * wide :], other[run[axis + 1] * wide :]
        for m in range(n):
            here[m] += one[m] + two[m]


@jit
def write_row_states(mine, at, rows, wide, ring, new):
    """Write a strip's new states into the lattice, and its ends to the other side of a ring."""
    lines = mine[at : at + rows * wide]
    for m in range(len(lines)):
        lines[m] = new[m]
    if ring:
        for left in range(0, len(lines), wide):
            right = left + wide - 1
            lines[left], lines[right] = lines[right - 1], lines[left + 1]
