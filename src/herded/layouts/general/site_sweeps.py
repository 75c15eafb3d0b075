"""Sweeps variable by variable (layouts "table", "factor" and "field"): Algorithm 1, step by step.

The layouts differ in how they find a conditional: of the arrays t (table), f (factor) and q (field)
all but one are None. Numba leaves out branches on arguments that are None before it compiles, so
that each layout has a kernel of its own, without the others.

Each function runs segments first..last-1 of the scan up to sweep len(block) of a block. It counts
in `done` how many sweeps each segment has behind it: fewer where a table of hashed weights must
grow before the next, and another call continues there. `betas` holds the inverse temperature of
each sweep for the layout "factor"; the others have their one temperature in their tables. Arrays
are taken out of their tuples once, above the loops: inside them Numba would count references at
every use.
"""

import numpy as np

from herded.draws.context_hashing import (
    find_slot,
    hash_neighbours,
    hash_one,
    hash_others,
    hash_state,
    needs_growth,
    slot_share,
)
from herded.draws.fixed_point import VECTOR_ONE, WEIGHT_ONE, fixed_scalar, fixed_vector
from herded.draws.herded import herd_scalar, herd_vector, slack_vector
from herded.draws.herded_weights import (
    bin_scalar,
    bin_shift,
    bin_vector,
    bins_in_sweep,
    mean_state,
    split_pools,
    start_scalar,
    start_vector,
)
from herded.draws.random import draw_scalar, draw_vector
from herded.draws.weight_modes import FULL, LAZY, MAX_BINS, POOLED, RANDOM_DRAW, SHARED
from herded.layouts.binary_pairs.arrays import field_of, fixed_sigmoid
from herded.layouts.binary_pairs.incremental_fields import (
    MAX_FLIP_DIVISOR,
    MIN_VARIABLES_TO_STORE_FIELDS,
    allocate_fields,
    is_always_faster,
    sum_fields_of_segment,
    sweep_with_stored_fields,
)
from herded.layouts.chain_arrays import publish_jacobi_sweep, shuffle_visits
from herded.layouts.factor_arrays import log_conditional, log_conditional_pair
from herded.layouts.general.table_arrays import context_row, row_of_bits
from herded.layouts.visit_order import JACOBI, RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import max_value
from herded.system.numerics.counter_rng import random_bits


@jit
def scalar_sweeps(t, f, q, c, scan, run, betas, m, block, done, first, last):
    """Sweep binary variables by the scalar rule."""
    mode, policy, n = len(c.mode), scan.policy[0], np.uint64(len(m.x))
    shared, pool_start, plane, width = c.shared, c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, keys, filled, tally = m.x, m.y, m.w, m.keys, m.filled, m.tally
    slot_start, slots = m.slot_start, m.slots
    if t is not None:
        entry_start, row_start, p_table = t.entry_start, t.row_start, t.p
        n_start, neighbour, near, near_mask = t.neighbour_start, t.neighbour, t.near, t.near_mask
    if f is not None:
        starts, bases, strides, others = f.entry_start, f.table_base, f.own_stride, f.other_start
        other, ratio, last_stride, log_tables = f.other, f.other_ratio, f.last_stride, f.log_tables
        n_start, neighbour = f.neighbour_start, f.neighbour
    if q is not None:
        alone, near, far_start, far, sigmoid = q.alone, q.near, q.far_start, q.far, q.sigmoid
        fields, flipped = allocate_fields(policy, len(x), len(block))
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        table, first_slot, most = keys, 0, 0
        if mode >= LAZY:
            first_slot = slot_start[g]
            table = keys[first_slot : first_slot + slots[g]]
            most = slot_share(run.max_weights, len(variables), len(scan.order))
        if q is not None:
            batches = q.batch_start[q.first_batch[g] : q.first_batch[g + 1] + 1]
            easy = is_always_faster(batches, len(order), len(far), len(x))
            follows = len(fields) > 0 and len(order) >= MIN_VARIABLES_TO_STORE_FIELDS
            if follows:
                sum_fields_of_segment(q, order, x, fields)
        for s in range(done[g], len(block)):
            if mode >= LAZY and needs_growth(filled[g], len(table), most):
                break
            clock, sample = np.uint64(run.sweep + s) * n, block[s]
            shift = bin_shift(bins_in_sweep(run.sweep + s))
            whole = hash_state(x) if mode == FULL else np.uint64(0)
            if policy == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if mode == POOLED:
                split_pools(w, order, pool_start, width, plane, run.sweep + s)
            if q is not None and follows:
                drawing = c.mode, run.key, clock, plane, shift
                flips = sweep_with_stored_fields(
                    q, drawing, scan.order, batches, x, w, sample, tally, fields, flipped
                )
                follows = easy or MAX_FLIP_DIVISOR * flips < len(order)
                done[g] = s + 1
                continue
            for o in range(len(order)):
                i = np.uint32(order[o])
                if t is not None:
                    row = row_of_bits(near, near_mask, n_start, neighbour, i, x)
                    at = np.uint64(entry_start[i] + row)
                    p = p_table[at]
                    if mode == SHARED:
                        at = np.uint64(shared[np.uint64(row_start[i] + row)])
                if f is not None:
                    zero, one = log_conditional_pair(
                        starts, bases, strides, others, other, ratio, last_stride, log_tables, i, x
                    )
                    p = fixed_scalar(zero, one, betas[s])
                if q is not None:
                    p = fixed_sigmoid(field_of(alone, near, far_start, far, i, x), sigmoid)
                if mode == RANDOM_DRAW:
                    new = np.uint32(draw_scalar(random_bits(run.key, clock + np.uint64(i)), p))
                else:
                    if mode == POOLED:
                        at = np.uint64(i + bin_scalar(p, shift) * plane)
                    elif mode >= LAZY:
                        if mode == FULL:
                            key = hash_others(whole, i, x[i])
                        elif f is not None:
                            key = hash_neighbours(n_start, neighbour, i, x)
                        slot, met = find_slot(table, filled, g, key)
                        at = np.uint64(first_slot + slot)
                        if met:
                            start_scalar(w, at, run.random_phases, run.phase_key, key)
                    new = herd_scalar(w, at, p)
                if mode == FULL and policy != JACOBI:
                    whole ^= hash_one(i, x[i]) ^ hash_one(i, new)
                y[i] = new
                sample[i] = new
                if len(tally):
                    tally[i] += p
            if policy == JACOBI:
                publish_jacobi_sweep(order, x, y)
            done[g] = s + 1


@jit
def vector_sweeps(t, f, c, scan, run, betas, m, block, done, first, last):
    """Sweep variables of any cardinality by the vector rule."""
    mode, policy, n = len(c.mode), scan.policy[0], np.uint64(len(m.x))
    shared, pool_start, plane, width = c.shared, c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, keys, filled, tally = m.x, m.y, m.w, m.keys, m.filled, m.tally
    slot_start, slots, widest = m.slot_start, m.slots, max_value(c.width)
    scale = VECTOR_ONE if mode == RANDOM_DRAW else WEIGHT_ONE
    if t is not None:
        entry_start, row_start, p = t.entry_start, t.row_start, t.p
        n_start, neighbour, radix = t.neighbour_start, t.neighbour, t.radix
    if f is not None:
        starts, bases, strides, others = f.entry_start, f.table_base, f.own_stride, f.other_start
        other, ratio, last_stride, log_tables = f.other, f.other_ratio, f.last_stride, f.log_tables
        n_start, neighbour = f.neighbour_start, f.neighbour
        logits, p, own = np.empty(widest), np.empty(widest, np.int32), 0
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        table, first_slot, most = keys, 0, 0
        if mode >= LAZY:
            first_slot = slot_start[g]
            table = keys[first_slot : first_slot + slots[g]]
            most = slot_share(run.max_weights, len(variables), len(scan.order))
        for s in range(done[g], len(block)):
            if mode >= LAZY and needs_growth(filled[g], len(table), most):
                break
            clock = np.uint64(run.sweep + s) * n
            bins = bins_in_sweep(run.sweep + s)
            whole = hash_state(x) if mode == FULL else np.uint64(0)
            if policy == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if mode == POOLED:
                split_pools(w, order, pool_start, width, plane, run.sweep + s)
            for o in range(len(order)):
                i = order[o]
                states = width[i]
                if t is not None:
                    row = context_row(n_start, neighbour, radix, i, x)
                    own = entry_start[i] + row * states
                    at = np.int64(shared[row_start[i] + row]) if mode == SHARED else own
                    mean = mean_state(p, own, states) if mode == POOLED else 0
                if f is not None:
                    log_conditional(
                        starts, bases, strides, others, other, ratio, last_stride, log_tables,
                        states, i, x, logits,
                    )  # fmt: skip
                    mean = fixed_vector(logits, betas[s], states, p, own, scale)
                if mode == RANDOM_DRAW:
                    new = draw_vector(random_bits(run.key, clock + np.uint64(i)), p, own, states)
                else:
                    if mode == POOLED:
                        at = pool_start[i] + bin_vector(mean, states, bins) * plane
                    elif mode >= LAZY:
                        if mode == FULL:
                            key = hash_others(whole, i, x[i])
                        elif f is not None:
                            key = hash_neighbours(n_start, neighbour, i, x)
                        slot, met = find_slot(table, filled, g, key)
                        at = (first_slot + slot) * widest
                        if met:
                            start_vector(w, at, states, run.random_phases, run.phase_key, key)
                    if run.slack == 0:
                        new = herd_vector(w, at, p, own, states)
                    else:
                        bits = random_bits(run.key, clock + np.uint64(i))
                        new = slack_vector(w, at, p, own, states, run.slack, bits)
                if mode == FULL and policy != JACOBI:
                    whole ^= hash_one(i, x[i]) ^ hash_one(i, new)
                y[i] = new
                block[s, i] = new
                if len(tally):
                    for k in range(states):
                        tally[i * widest + k] += p[own + k]
            if policy == JACOBI:
                publish_jacobi_sweep(order, x, y)
            done[g] = s + 1
