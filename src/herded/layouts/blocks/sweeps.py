"""Sweeps of blocks: each is summed out given the rest, and drawn backwards, last eliminated first.

A sweep is `moves` blocks, the next ones in turn. The draw of a variable is named by the number of
its block's move since the start of the run.
"""

import numpy as np

from herded.draws.fixed_point import PHASE_MASK, VECTOR_ONE, WEIGHT_ONE, fixed_vector
from herded.draws.herded import herd_vector
from herded.draws.herded_weights import bin_vector, mean_state
from herded.draws.random import draw_vector
from herded.draws.systematic import (
    NO_SECOND_PHASE,
    draw_members,
    fresh_phase,
    order_offsets,
)
from herded.layouts.blocks.elimination_kernels import eliminate, fill_potentials
from herded.layouts.general.site_herd_sweeps import cumulate_and_split, descend_splits
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

BINS_PER_CONDITIONAL = 16  # of a conditional: each has a weight of its own
_0 = np.uint64(0)


@jit
def sweep_blocks_of_chain(a, moves, run, betas, work, x, weights, weight_at, tally, width, block):
    """Sweep one chain: random draws if there are no weights, else herding in time."""
    n, blocks, current = np.uint64(len(x)), len(a.block_start) - 1, np.nan
    scope_start, scope, stride, table_at = a.scope_start, a.scope, a.scope_stride, a.table_at
    variable, states_of, table, in_logs = a.variable, a.states, work.table, work.in_logs
    p, logits = np.empty(width, np.int32), np.empty(width)
    scale = WEIGHT_ONE if len(weights) else VECTOR_ONE
    for s in range(len(block)):
        if betas[s] != current:
            current = betas[s]
            fill_potentials(a.log_tables, a.table_start, current, work.values, work.lowest)
        for move in range((run.sweep + s) * moves, (run.sweep + s + 1) * moves):
            b, clock = move % blocks, np.uint64(move) * n
            eliminate(a, b, current, x, 1, 0, work, 0, 0)
            first = a.block_start[b]
            for step in range(a.block_start[b + 1] - 1, first - 1, -1):
                i, states = variable[step], states_of[step]
                row = table_row(scope, stride, scope_start[step], scope_start[step + 1], x, 1, 0)
                at = table_at[step] + row * states
                round_row(table, at, states, in_logs[step - first], current, scale, logits, p)
                if len(weights):
                    bin_of = bin_vector(mean_state(p, 0, states), states, BINS_PER_CONDITIONAL)
                    new = herd_vector(weights, weight_at[step] + bin_of * states, p, 0, states)
                else:
                    new = draw_vector(random_bits(run.key, clock + np.uint64(i)), p, 0, states)
                x[i] = new
                if len(tally):
                    for c in range(states):
                        tally[i * width + c] += p[c]
        for i in range(len(x)):
            block[s, i] = x[i]


@jit
def table_row(scope, stride, first, last, x, n, k):
    """Return the row of a table, given the variables of its scope, which have new values."""
    row = 0
    for at in range(first, last):
        row += np.int64(x[scope[at] * n + k]) * stride[at]
    return row


@jit
def round_row(table, at, states, is_log, beta, one, logits, p):
    """Return p at scale `one` from logarithms or unnormalised values; uniform if all are 0."""
    if is_log:
        for c in range(states):
            logits[c] = table[at + c]
        fixed_vector(logits, beta, states, p, 0, one)
        return
    total = 0.0
    for c in range(states):
        total += table[at + c]
    upto, before, part = np.int64(0), np.int64(0), 0.0
    for c in range(states):
        part += table[at + c]
        share = part / total if total > 0.0 else (c + 1) / states
        upto = np.int64(share * one + 0.5)
        p[c] = upto - before
        before = upto


@jit
def sweep_blocks_of_herd(a, moves, run, betas, work, orders, x, phases, tally, ones, width, block):
    """Sweep a herd: every member sums the block out, then all draw each variable at once."""
    n, rows, flat = orders.shape[1], orders.shape[0], orders.reshape(-1)
    variables, blocks, current = np.uint64(len(x) // n), len(a.block_start) - 1, np.nan
    scope_start, scope, stride, table_at = a.scope_start, a.scope, a.scope_stride, a.table_at
    variable, states_of, table, in_logs = a.variable, a.states, work.table, work.in_logs
    p, logits = np.empty(width, np.int32), np.empty(width)
    phi, half = np.empty(width, np.uint32), np.empty(n, np.uint8)
    upto, upper = np.empty(n * (width + 1), np.int64), np.empty(n, np.uint32)
    room, steps = len(work.table) // n, len(work.in_logs) // n
    for s in range(len(block)):
        if betas[s] != current:
            current = betas[s]
            fill_potentials(a.log_tables, a.table_start, current, work.values, work.lowest)
        for move in range((run.sweep + s) * moves, (run.sweep + s + 1) * moves):
            b, clock = move % blocks, np.uint64(move) * variables
            first = a.block_start[b]
            for k in range(n):
                eliminate(a, b, current, x, n, k, work, k * room, k * steps)
            for step in range(a.block_start[b + 1] - 1, first - 1, -1):
                i, states = variable[step], states_of[step]
                for k in range(n):
                    row = table_row(
                        scope, stride, scope_start[step], scope_start[step + 1], x, n, k
                    )
                    at, is_log = k * room + table_at[step] + row * states, k * steps + step - first
                    round_row(table, at, states, in_logs[is_log], current, VECTOR_ONE, logits, p)
                    upper[k] = cumulate_and_split(p, 0, states, upto, k * (width + 1))
                    if len(tally):
                        for c in range(states):
                            tally[i * width + c] += p[c]
                for split in range(1, states):
                    if len(phases):
                        phi[split] = phases[step * width + split] & PHASE_MASK
                    else:
                        phi[split] = fresh_phase(run.key + np.uint64(split), clock + np.uint64(i))
                root, bits = states >> 1, random_bits(run.phase_key, clock + np.uint64(i))
                first_row, second_row = order_offsets(bits, rows, np.uint64(n))
                phi[root], _, _ = draw_members(
                    upper,
                    phi[root],
                    NO_SECOND_PHASE,
                    flat,
                    first_row,
                    second_row,
                    half,
                    _0,
                    np.uint64(n),
                )
                for j in range(n):
                    k = np.int64(flat[first_row + np.uint64(flat[second_row + np.uint64(j)])])
                    low, high = (root, states) if half[k] else (0, root)
                    x[i * n + k] = descend_splits(phi, upto, k * (width + 1), low, high)
                if len(phases):
                    for split in range(1, states):
                        phases[step * width + split] = phi[split]
        count_members_by_state(a.free, x, n, ones, width)
        if block.shape[1]:
            for at in range(len(x)):
                block[s, at] = x[at]


@jit
def count_members_by_state(free, x, n, ones, width):
    """Count the members of each state, or of state 1 where no variable has more than two."""
    if not len(ones):
        return
    for i in range(len(free)):
        if free[i]:
            for k in range(n):
                state = np.int64(x[i * n + k])
                if width == 2:
                    ones[i] += state
                else:
                    ones[i * width + state] += 1
