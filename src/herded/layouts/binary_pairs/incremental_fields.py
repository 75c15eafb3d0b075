"""Sweeps in which local fields follow flips (layout "field").

A visit needs the field of its variable. It can sum the couplings of the neighbours that are 1
(`field_of`), or find the field in memory, where it follows their flips. Fields are whole numbers,
so both have the same bits, and the kernel (`layouts.general.site_sweeps`) is free to take what is
faster: to follow, unless many flip and it does not help to go batch by batch.

No predictor can guess which visits flip. So all variables of a batch, which are no neighbours,
choose first; those that flip are listed without a branch, and then the fields of their neighbours
are updated.
"""

import numpy as np

from herded.draws.herded import herd_scalar
from herded.draws.herded_weights import bin_scalar
from herded.draws.random import draw_scalar
from herded.draws.weight_modes import RANDOM_DRAW
from herded.layouts.binary_pairs.arrays import (
    coupling_of,
    field_of,
    fixed_sigmoid,
    near_row,
    neighbour_of,
)
from herded.layouts.general.table_arrays import MAX_NEAR_NEIGHBOURS
from herded.layouts.visit_order import SEQUENTIAL
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

# variables and sweeps that are worth to sum all fields for
MIN_VARIABLES_TO_STORE_FIELDS, MIN_SWEEPS_TO_STORE_FIELDS = 64, 8
VARIABLES_PER_PASS = 8  # variables: with as many the branches that are left are few
MAX_CACHED_FIELDS = 2**17  # fields that fit in the cache of a core
# neighbours beyond the near ones: to sum as many takes longer than any branch
MANY_FAR_NEIGHBOURS = 16
MAX_FLIP_DIVISOR = 5  # at most 1/5 of the visits may flip
_0, _1 = np.uint64(0), np.uint64(1)


@jit
def allocate_fields(policy, n, sweeps):
    """Allocate fields and the list of flips; none where runs are too short."""
    room = (
        n
        if policy == SEQUENTIAL
        and n >= MIN_VARIABLES_TO_STORE_FIELDS
        and sweeps >= MIN_SWEEPS_TO_STORE_FIELDS
        else 0
    )
    return np.empty(room, np.int64), np.empty(room, np.uint32)


@jit
def is_always_faster(batches, visits, far, n):
    """Return whether incremental fields are faster with any number of flips."""
    in_batches = visits >= VARIABLES_PER_PASS * (len(batches) - 1) and n <= MAX_CACHED_FIELDS
    return in_batches or far >= (MANY_FAR_NEIGHBOURS + 1) * n


@jit
def next_state(mode, key, clock, plane, shift, w, i, p):
    """Return the next state by steps 3 and 4 of Algorithm 1, or by a draw."""
    if len(mode) == RANDOM_DRAW:
        return np.uint32(draw_scalar(random_bits(key, clock + np.uint64(i)), p))
    return herd_scalar(w, np.uint64(i + bin_scalar(p, shift) * plane), p)


@jit
def sum_fields_of_segment(f, order, x, fields):
    """Sum the fields of all variables of a segment."""
    for o in range(len(order)):
        i = np.uint32(order[o])
        fields[i] = field_of(f.alone, f.near, f.far_start, f.far, i, x)


@jit
def sweep_with_stored_fields(f, drawing, order, batches, x, w, row, tally, fields, flipped):
    """Run one sweep in which fields follow flips; return how many there were."""
    mode, key, clock, plane, shift = drawing
    near, far_start, far, sigmoid = f.near, f.far_start, f.far, f.sigmoid
    flips = _0
    for b in range(len(batches) - 1):
        count = _0
        for o in range(batches[b], batches[b + 1]):
            i = np.uint32(order[o])
            p = fixed_sigmoid(fields[i], sigmoid)
            new = next_state(mode, key, clock, plane, shift, w, i, p)
            flipped[count] = i
            count += np.uint64(np.uint32(x[i]) ^ new)
            x[i] = new
            row[i] = new
            if len(tally):
                tally[i] += p
        for k in range(count):
            i = flipped[k]
            sign, at, e = 2 * np.int64(x[i]) - 1, near_row(i), np.uint64(far_start[i])
            for link in range(MAX_NEAR_NEIGHBOURS):
                to = near[at + np.uint64(link)]
                fields[neighbour_of(to)] += sign * coupling_of(to)
            while far[e]:
                fields[neighbour_of(far[e])] += sign * coupling_of(far[e])
                e += _1
        flips += count
    return np.int64(flips)
