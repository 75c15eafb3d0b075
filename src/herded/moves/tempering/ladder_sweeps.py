"""Sweeps of all rungs of a ladder, one variable at a time, and the exchanges between them.

What a visit reads of the graph is read once for all rungs, whose states lie side by side as those
of a herd do (`layouts.general.site_herd_sweeps`); each rung has its inverse temperature, its own
stream of draws, and its own state. Nothing but this runs between two sweeps, so that small models
are not slowed down.
"""

import numpy as np

from herded.draws.fixed_point import VECTOR_ONE, fixed_scalar, fixed_vector
from herded.draws.random import draw_scalar, draw_vector
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.general.site_herd_sweeps import sum_binary_logits, sum_logits
from herded.layouts.visit_order import RANDOM
from herded.moves.tempering.replica_exchange import exchange_replicas
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits


@jit
def scalar_ladder(f, hard, g, scan, run, keys, m, tally, ones, width, block):
    """Sweep binary variables; `hard` holds the coldest rung's factors where zeros melt, or None."""
    x, betas = m.x, m.betas
    rungs, n = np.uint64(len(m.betas)), np.uint64(len(g.entry_start) - 1)
    last, order = rungs - np.uint64(1), scan.order.copy()
    row, zero, one = np.empty(rungs, np.int64), np.empty(rungs), np.empty(rungs)
    both = np.empty(2)
    for s in range(len(block)):
        sweep = run.sweep + s
        clock = np.uint64(sweep) * n
        if scan.policy[0] == RANDOM:
            shuffle_visits(order, scan.order, run.phase_key, clock)
        for o in range(len(order)):
            i = np.uint64(order[o])
            sum_binary_logits(f, i, x, rungs, row, zero, one)
            if hard is not None:
                sum_logits_of_lane(hard, i, x, rungs, last, 2, both)
                zero[last], one[last] = both[0], both[1]
            p = np.uint32(0)
            for r in range(rungs):
                p = fixed_scalar(zero[r], one[r], betas[r])
                x[i * rungs + r] = draw_scalar(random_bits(keys[r], clock + i), p)
            if len(tally):
                tally[i] += p
        record_sweep(m, ones, width, block, s)
        exchange_replicas(g, m, run.key, sweep)


@jit
def vector_ladder(f, hard, g, scan, run, keys, m, tally, ones, width, block):
    """Sweep variables of any cardinality."""
    x, betas, cardinalities = m.x, m.betas, f.cardinalities
    rungs, n = np.uint64(len(m.betas)), np.uint64(len(g.entry_start) - 1)
    last, order, widest = rungs - np.uint64(1), scan.order.copy(), np.int64(width)
    row, logits = np.empty(rungs, np.int64), np.empty(np.int64(rungs) * widest)
    one, p = np.empty(widest), np.empty(widest, np.int32)
    for s in range(len(block)):
        sweep = run.sweep + s
        clock = np.uint64(sweep) * n
        if scan.policy[0] == RANDOM:
            shuffle_visits(order, scan.order, run.phase_key, clock)
        for o in range(len(order)):
            i = np.uint64(order[o])
            states = cardinalities[i]
            sum_logits(f, i, x, rungs, states, row, logits)
            if hard is not None:
                sum_logits_of_lane(hard, i, x, rungs, last, states, one)
                for c in range(states):
                    logits[np.int64(last) * states + c] = one[c]
            for r in range(rungs):
                for c in range(states):
                    one[c] = logits[np.int64(r) * states + c]
                fixed_vector(one, betas[r], states, p, 0, VECTOR_ONE)
                x[i * rungs + r] = draw_vector(random_bits(keys[r], clock + i), p, 0, states)
            if len(tally):
                for c in range(states):
                    tally[np.int64(i) * widest + c] += p[c]
        record_sweep(m, ones, width, block, s)
        exchange_replicas(g, m, run.key, sweep)


@jit
def sum_logits_of_lane(f, i, x, lanes, lane, states, logits):
    """Write the logits of a variable in one lane to the beginning of `logits`."""
    for k in range(states):
        logits[k] = 0.0
    for e in range(f.entry_start[i], f.entry_start[i + np.uint64(1)]):
        at = 0
        for o in range(f.other_start[e], f.other_start[e + 1]):
            at = at * f.other_ratio[o] + np.int64(x[np.uint64(f.other[o]) * lanes + lane])
        at = f.table_base[e] + at * f.last_stride[e]
        for k in range(states):
            logits[k] += f.log_tables[at + k * f.own_stride[e]]


@jit
def record_sweep(m, ones, width, block, s):
    """Count the states of the coldest rung after sweep s of a block, and write all of them down."""
    x, members = m.x, m.members
    lanes = len(m.betas) * members
    if len(ones):
        n = len(x) // lanes
        for i in range(n):
            for k in range(i * lanes + lanes - members, (i + 1) * lanes):
                if width == 2:
                    ones[i] += x[k]
                else:
                    ones[i * width + np.int64(x[k])] += 1
    if block.shape[1]:
        for i in range(len(x)):
            block[s, i] = x[i]
