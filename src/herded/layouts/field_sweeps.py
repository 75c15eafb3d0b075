"""Sweeps over local fields (plan "field"): binary variables, pair interactions, scalar rule.

A visit needs the field of its variable. It can sum the couplings of the neighbours that are 1, or
find the field in memory, where it follows their flips. Fields are whole numbers, so both have the
same bits, and the kernel is free to take what is faster: to follow, unless many flip and it does
not help to go batch by batch.

Which visits flip is what no predictor can guess. So all variables of a batch, which are no
neighbours, choose first; those that flip are written down without a branch, and then their
neighbours are told.

As in `table`, the function counts in `done` the sweeps of each segment.
"""

import numpy as np

from herded.draws.herded import herd_scalar
from herded.draws.modes import DRAW, MAX_BINS
from herded.draws.phases import bin_scalar, bin_shift, bins_at, split_pools
from herded.draws.random import draw_scalar
from herded.layouts.arrays import publish, shuffle
from herded.layouts.field import coupling_of, field_of, fixed_sigmoid, near_row, neighbour_of
from herded.layouts.scan import JACOBI, RANDOM, SEQUENTIAL
from herded.layouts.table import NEAR
from herded.system.jit import jit
from herded.system.stream import draw

MANY, LONG = 64, 8  # variables and sweeps that are worth to sum all fields for
BATCH = 8  # variables: with as many the branches that are left are few
CACHED = 2**17  # fields that a core has at hand
FAR = 16  # neighbours beyond the near ones: to sum as many takes longer than any branch
FEW = 5  # one flip in so many visits
_0, _1 = np.uint64(0), np.uint64(1)


@jit
def field_scalar(f, c, scan, run, m, block, done, first, last):
    """Pooled weights, or draws."""
    mode, policy, n = c.mode, scan.policy[0], np.uint64(len(m.x))
    alone, near, far_start, far, sigmoid = f.alone, f.near, f.far_start, f.far, f.sigmoid
    pool_start, plane, width = c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, tally = m.x, m.y, m.w, m.tally
    may_follow = policy == SEQUENTIAL and len(x) >= MANY and len(block) >= LONG
    fields = np.empty(len(x) if may_follow else 0, np.int64)
    flipped = np.empty(len(fields), np.uint32)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        batches = f.batch_start[f.first_batch[g] : f.first_batch[g + 1] + 1]
        in_batches = len(order) >= BATCH * (len(batches) - 1) and len(x) <= CACHED
        is_easy = in_batches or len(far) >= (FAR + 1) * len(x)
        follows = may_follow and len(order) >= MANY
        if follows:
            sum_fields(f, order, x, fields)
        for s in range(done[g], len(block)):
            clock = np.uint64(run.sweep + s) * n
            shift = bin_shift(bins_at(run.sweep + s))
            row = block[s]
            if policy == RANDOM:
                shuffle(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if len(mode) != DRAW:
                split_pools(w, order, pool_start, width, plane, run.sweep + s)
            if follows:
                told = mode, run.key, clock, plane, shift
                flips = follow(f, told, scan.order, batches, x, w, row, tally, fields, flipped)
                follows = is_easy or FEW * flips < len(order)
            else:
                for o in range(len(order)):
                    i = np.uint32(order[o])
                    p = fixed_sigmoid(field_of(alone, near, far_start, far, i, x), sigmoid)
                    new = next_state(mode, run.key, clock, plane, shift, w, i, p)
                    y[i] = new
                    row[i] = new
                    if len(tally):
                        tally[i] += p
            if policy == JACOBI:
                publish(order, x, y)
            done[g] = s + 1


@jit
def next_state(mode, key, clock, plane, shift, w, i, p):
    """Steps 3 and 4 of Algorithm 1, or a draw."""
    if len(mode) == DRAW:
        return np.uint32(draw_scalar(draw(key, clock + np.uint64(i)), p))
    return herd_scalar(w, np.uint64(i + bin_scalar(p, shift) * plane), p)


@jit
def sum_fields(f, order, x, fields):
    """The fields of all variables of a segment."""
    for o in range(len(order)):
        i = np.uint32(order[o])
        fields[i] = field_of(f.alone, f.near, f.far_start, f.far, i, x)


@jit
def follow(f, told, order, batches, x, w, row, tally, fields, flipped):
    """One sweep in which fields follow flips; gives how many there were."""
    mode, key, clock, plane, shift = told
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
            for link in range(NEAR):
                to = near[at + np.uint64(link)]
                fields[neighbour_of(to)] += sign * coupling_of(to)
            while far[e]:
                fields[neighbour_of(far[e])] += sign * coupling_of(far[e])
                e += _1
        flips += count
    return np.int64(flips)
