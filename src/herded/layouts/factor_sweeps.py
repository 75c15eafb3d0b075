"""Sweeps that sum each conditional from log-tables (plan "factor"): any model, any degree.

As in `table`, each function counts in `done` the sweeps of each segment. `betas` holds the inverse
temperature of each sweep (all 1 unless annealed).
"""

import numpy as np

from herded.draws.fixed_point import fixed_scalar, fixed_vector
from herded.draws.hashing import (
    find_slot,
    hash_neighbours,
    hash_one,
    hash_others,
    hash_state,
    is_to_grow,
    share,
)
from herded.draws.herded import herd_scalar, herd_vector, slack_vector
from herded.draws.modes import DRAW, FULL, LAZY, MAX_BINS, POOLED
from herded.draws.phases import (
    bin_scalar,
    bin_shift,
    bin_vector,
    bins_at,
    split_pools,
    start_scalar,
    start_vector,
)
from herded.draws.random import draw_scalar, draw_vector
from herded.layouts.arrays import publish, shuffle
from herded.layouts.factor import log_conditional, log_conditional_pair
from herded.layouts.scan import JACOBI, RANDOM
from herded.system.jit import jit
from herded.system.stream import draw


@jit
def factor_scalar(f, c, scan, run, betas, m, block, done, first, last):
    """Binary variables, scalar rule."""
    mode, policy, n = len(c.mode), scan.policy[0], np.uint64(len(m.x))
    starts, bases, strides, other_start = f.entry_start, f.table_base, f.own_stride, f.other_start
    other, ratio, last_stride, log_tables = f.other, f.other_ratio, f.last_stride, f.log_tables
    n_start, neighbour = f.neighbour_start, f.neighbour
    pool_start, plane, width = c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, keys, filled, tally = m.x, m.y, m.w, m.keys, m.filled, m.tally
    slot_start, slots = m.slot_start, m.slots
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        table, first_slot, most = keys, 0, 0
        if mode >= LAZY:
            first_slot = slot_start[g]
            table = keys[first_slot : first_slot + slots[g]]
            most = share(run.max_weights, len(variables), len(scan.order))
        for s in range(done[g], len(block)):
            if mode >= LAZY and is_to_grow(filled[g], len(table), most):
                break
            clock = np.uint64(run.sweep + s) * n
            shift = bin_shift(bins_at(run.sweep + s))
            whole = hash_state(x) if mode == FULL else np.uint64(0)
            if policy == RANDOM:
                shuffle(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if mode == POOLED:
                split_pools(w, order, pool_start, width, plane, run.sweep + s)
            for o in range(len(order)):
                i = order[o]
                zero, one = log_conditional_pair(
                    starts, bases, strides, other_start, other, ratio, last_stride, log_tables,
                    i, x,
                )  # fmt: skip
                p = fixed_scalar(zero, one, betas[s])
                if mode == DRAW:
                    new = np.uint32(draw_scalar(draw(run.key, clock + np.uint64(i)), p))
                else:
                    if mode == POOLED:
                        at = pool_start[i] + bin_scalar(p, shift) * plane
                    else:
                        key = hash_neighbours(n_start, neighbour, i, x)
                        if mode == FULL:
                            key = hash_others(whole, i, x[i])
                        slot, met = find_slot(table, filled, g, key)
                        at = first_slot + slot
                        if met:
                            start_scalar(w, at, run.random_phases, run.phase_key, key)
                    new = herd_scalar(w, at, p)
                if mode == FULL and policy != JACOBI:
                    whole ^= hash_one(i, x[i]) ^ hash_one(i, new)
                y[i] = new
                block[s, i] = new
                if len(tally):
                    tally[i] += p
            if policy == JACOBI:
                publish(order, x, y)
            done[g] = s + 1


@jit
def factor_vector(f, c, scan, run, betas, m, block, done, first, last):
    """Variables of any cardinality, vector rule."""
    mode, policy, n = len(c.mode), scan.policy[0], np.uint64(len(m.x))
    starts, bases, strides, other_start = f.entry_start, f.table_base, f.own_stride, f.other_start
    other, ratio, last_stride, log_tables = f.other, f.other_ratio, f.last_stride, f.log_tables
    n_start, neighbour = f.neighbour_start, f.neighbour
    pool_start, plane, width = c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, keys, filled, tally = m.x, m.y, m.w, m.keys, m.filled, m.tally
    slot_start, slots = m.slot_start, m.slots
    cardinalities, widest, own = f.cardinalities, f.cardinalities.max(), 0
    logits, p = np.empty(widest), np.empty(widest, np.int32)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        table, first_slot, most = keys, 0, 0
        if mode >= LAZY:
            first_slot = slot_start[g]
            table = keys[first_slot : first_slot + slots[g]]
            most = share(run.max_weights, len(variables), len(scan.order))
        for s in range(done[g], len(block)):
            if mode >= LAZY and is_to_grow(filled[g], len(table), most):
                break
            clock = np.uint64(run.sweep + s) * n
            bins = bins_at(run.sweep + s)
            whole = hash_state(x) if mode == FULL else np.uint64(0)
            if policy == RANDOM:
                shuffle(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if mode == POOLED:
                split_pools(w, order, pool_start, width, plane, run.sweep + s)
            for o in range(len(order)):
                i = order[o]
                states = cardinalities[i]
                log_conditional(
                    starts, bases, strides, other_start, other, ratio, last_stride, log_tables,
                    states, i, x, logits,
                )  # fmt: skip
                mean = fixed_vector(logits, betas[s], states, p, own)
                if mode == DRAW:
                    new = draw_vector(draw(run.key, clock + np.uint64(i)), p, own, states)
                else:
                    if mode == POOLED:
                        at = pool_start[i] + bin_vector(mean, states, bins) * plane
                    else:
                        key = hash_neighbours(n_start, neighbour, i, x)
                        if mode == FULL:
                            key = hash_others(whole, i, x[i])
                        slot, met = find_slot(table, filled, g, key)
                        at = (first_slot + slot) * widest
                        if met:
                            start_vector(w, at, states, run.random_phases, run.phase_key, key)
                    if run.slack == 0:
                        new = herd_vector(w, at, p, own, states)
                    else:
                        bits = draw(run.key, clock + np.uint64(i))
                        new = slack_vector(w, at, p, own, states, run.slack, bits)
                if mode == FULL and policy != JACOBI:
                    whole ^= hash_one(i, x[i]) ^ hash_one(i, new)
                y[i] = new
                block[s, i] = new
                if len(tally):
                    for k in range(states):
                        tally[i * widest + k] += p[k]
            if policy == JACOBI:
                publish(order, x, y)
            done[g] = s + 1
