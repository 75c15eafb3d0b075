"""Herds on any graph: all members visit a variable at once, and lanes are members.

The layouts differ in how they find a conditional, as in `layouts.general.site_sweeps`: of the
arrays t (table) and f (factor) one is None. What a visit reads of the graph is read once for all
members; loops over members run over neighbouring bytes, and the compiler vectorises them. Variables
of more than two states are split in halves again and again; tables hold the shares of all splits
with the conditionals, since to divide takes longer than all the rest.

The state of member k at variable i is x[i n + k]. Each function runs segments first..last-1 of the
scan over all sweeps of a block.
"""

import numpy as np

from herded.draws.fixed_point import PHASE_MASK, VECTOR_ONE, fixed_scalar, fixed_vector
from herded.draws.systematic import (
    NO_SECOND_PHASE,
    draw_members,
    fresh_phase,
    order_offsets,
    scaled_ratio,
    second_phase,
)
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.visit_order import RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import max_value
from herded.system.numerics.counter_rng import random_bits

_0, _1 = np.uint64(0), np.uint64(1)
_NONE, _ONE, _31 = np.uint32(0), np.uint32(1), np.uint32(31)


@jit
def scalar_herd(t, f, scan, orders, run, betas, m, block, first, last):
    """Sweep binary variables: one phase each, at scale 2^31, or two for few members."""
    x, phases, tally, ones = m.x, m.phases, m.tally, m.ones
    n, rows_of_orders, flat = np.uint64(orders.shape[1]), orders.shape[0], orders.reshape(-1)
    variables_of, width = np.uint64(scan_length(m, orders)), m.width
    p, bits, row = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.int64)
    if f is not None:
        zero, one = np.empty(n), np.empty(n)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        for s in range(len(block)):
            clock = np.uint64(run.sweep + s) * variables_of
            if scan.policy[0] == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            for o in range(len(order)):
                i = np.uint64(order[o])
                if t is not None:
                    find_bits(t.neighbour_start, t.neighbour, i, x, n, bits)
                    start = np.uint64(t.entry_start[i])
                    for k in range(n):
                        p[k] = t.p[start + np.uint64(bits[k])]
                if f is not None:
                    sum_binary_logits(f, i, x, n, row, zero, one)
                    for k in range(n):
                        p[k] = fixed_scalar(zero[k], one[k], betas[s])
                if len(phases):
                    phi, second = phases[i] & PHASE_MASK, NO_SECOND_PHASE
                else:
                    phi = fresh_phase(run.key, clock + i)
                    second = second_phase(run.key, clock + i)
                a, b = order_offsets(random_bits(run.phase_key, clock + i), rows_of_orders, n)
                end, carries, total = draw_members(p, phi, second, flat, a, b, x, i * n, n)
                if len(phases):
                    phases[i] = end
                if len(tally):
                    tally[i] += total
                if len(ones):
                    count_members_in_state_1(ones, width, i, np.int64(n), carries)
                if block.shape[1]:
                    write_sample(block, s, i, x, n)


@jit
def vector_herd(t, shares, f, scan, orders, run, betas, m, block, first, last):
    """Sweep variables of any cardinality: a phase for each split of the states in two.

    `shares` are those of the splits of a table's rows.
    """
    x, phases, tally, ones, widest = m.x, m.phases, m.tally, m.ones, m.width
    n, rows_of_orders, flat = np.uint64(orders.shape[1]), orders.shape[0], orders.reshape(-1)
    variables_of, room = np.uint64(scan_length(m, orders)), np.int64(n) * (widest + 1)
    row, phi, half = np.empty(n, np.int64), np.empty(widest, np.uint32), np.empty(n, np.uint8)
    upper = np.empty(n, np.uint32)
    if f is not None:
        upto, logits = np.empty(room, np.int64), np.empty(room)
        one, own = np.empty(widest), np.empty(widest, np.int32)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        for s in range(len(block)):
            clock = np.uint64(run.sweep + s) * variables_of
            if scan.policy[0] == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            for o in range(len(order)):
                i = np.uint64(order[o])
                states = m.cardinalities[i]
                phi[0] = 0  # of a variable of one state, which is no split
                for k in range(1, states):
                    split = np.uint64(k)
                    if len(phases):
                        phi[split] = phases[i * np.uint64(widest) + split] & PHASE_MASK
                    else:
                        phi[split] = fresh_phase(run.key + split, clock + i)
                root, to, second = states >> 1, np.int64(i) * widest, NO_SECOND_PHASE
                if not len(phases):
                    second = second_phase(run.key + np.uint64(root), clock + i)
                a, b = order_offsets(random_bits(run.phase_key, clock + i), rows_of_orders, n)
                if t is not None:
                    find_rows(t.neighbour_start, t.neighbour, t.radix, i, x, n, row)
                    for k in range(n):
                        row[k] = t.entry_start[i] + row[k] * states
                        upper[k] = shares[row[k] + root]
                    phi[root], _, _ = draw_members(
                        upper, phi[root], second, flat, a, b, half, _0, n
                    )
                    descend_all(shares, row, phi, flat, a, b, half, root, states, x, i * n, n)
                    if len(tally):
                        add_member_conditionals(t.p, row, states, n, tally, to)
                if f is not None:
                    sum_logits(f, i, x, n, states, row, logits)
                    for k in range(n):
                        for c in range(states):
                            one[c] = logits[k * states + c]
                        fixed_vector(one, betas[s], states, own, 0, VECTOR_ONE)
                        upper[k] = cumulate_and_split(own, 0, states, upto, k * (widest + 1))
                    phi[root], _, _ = draw_members(
                        upper, phi[root], second, flat, a, b, half, _0, n
                    )
                    for j in range(n):
                        k = np.uint64(flat[a + np.uint64(flat[b + j])])
                        at = np.int64(k) * (widest + 1)
                        if half[k]:
                            x[i * n + k] = descend_splits(phi, upto, at, root, states)
                        else:
                            x[i * n + k] = descend_splits(phi, upto, at, 0, root)
                        if len(tally):
                            for c in range(states):
                                tally[to + c] += upto[at + c + 1] - upto[at + c]
                if len(ones):
                    count_members_in_states(ones, widest, i, x, n, states)
                if len(phases):
                    for k in range(1, states):
                        phases[i * np.uint64(widest) + np.uint64(k)] = phi[k]
                if block.shape[1]:
                    write_sample(block, s, i, x, n)


@jit
def scan_length(m, orders):
    """Return how many variables the model has: counters of streams are (sweep, variable)."""
    return len(m.x) // orders.shape[1]


@jit
def find_bits(neighbour_start, neighbour, i, x, n, row):
    """Find the row of variable i's table for each member, if all neighbours are binary."""
    for k in range(n):
        row[k] = 0
    for e in range(neighbour_start[i], neighbour_start[i + _1]):
        at = np.uint64(neighbour[e]) * n
        for k in range(n):
            row[k] = np.uint32(np.uint32(row[k] << _ONE) | np.uint32(x[at + k]))


@jit
def find_rows(neighbour_start, neighbour, radix, i, x, n, row):
    """Find the row of variable i's table for each member, by Horner's rule."""
    for k in range(n):
        row[k] = 0
    for e in range(neighbour_start[i], neighbour_start[i + _1]):
        at, states = np.uint64(neighbour[e]) * n, radix[e]
        for k in range(n):
            row[k] = row[k] * states + np.int64(x[at + k])


@jit
def find_slices(f, e, x, n, at):
    """Find where each member's slice of the table of entry e starts."""
    for k in range(n):
        at[k] = 0
    for o in range(f.other_start[e], f.other_start[e + 1]):
        other, ratio = np.uint64(f.other[o]) * n, f.other_ratio[o]
        for k in range(n):
            at[k] = at[k] * ratio + np.int64(x[other + k])
    base, stride = f.table_base[e], f.last_stride[e]
    for k in range(n):
        at[k] = base + at[k] * stride


@jit
def sum_binary_logits(f, i, x, n, at, zero, one):
    """Sum both logits of a binary variable for each member."""
    for k in range(n):
        zero[k] = one[k] = 0.0
    for e in range(f.entry_start[i], f.entry_start[i + _1]):
        find_slices(f, e, x, n, at)
        stride = f.own_stride[e]
        for k in range(n):
            zero[k] += f.log_tables[at[k]]
            one[k] += f.log_tables[at[k] + stride]


@jit
def sum_logits(f, i, x, n, states, at, logits):
    """Sum the logits of a variable for each member, state by state."""
    for c in range(np.int64(n) * states):
        logits[c] = 0.0
    for e in range(f.entry_start[i], f.entry_start[i + _1]):
        find_slices(f, e, x, n, at)
        stride = f.own_stride[e]
        for k in range(n):
            for c in range(states):
                logits[np.int64(k) * states + c] += f.log_tables[at[k] + c * stride]


@jit
def cumulate_and_split(p, at, states, upto, to):
    """Set upto[to + k] to the sum of the first k probabilities; return the upper share."""
    total = np.int64(0)
    upto[to] = 0
    for k in range(states):
        total += np.int64(p[at + k])
        upto[to + k + 1] = total
    return scaled_ratio(total - upto[to + (states >> 1)], total)


@jit
def descend_splits(phi, upto, at, low, high):
    """Return a state out of [low, high), by carries: is it in the upper half of what is left?"""
    while high - low > 1:
        middle = (low + high) >> 1
        whole = upto[at + high] - upto[at + low]
        value = np.uint32(phi[middle] + scaled_ratio(upto[at + high] - upto[at + middle], whole))
        phi[middle] = value & PHASE_MASK
        if value >> _31:
            low = middle
        else:
            high = middle
    return low


@jit
def descend_all(shares, row, phi, flat, a, b, half, root, states, x, at, n):
    """Find the states of all members, by carries at the splits below the root.

    Every member takes as many steps as the longest way down has, without a branch: whose way is
    over adds nothing to a phase.
    """
    steps, wide = 0, states - root
    while wide > 1:
        steps, wide = steps + 1, (wide + 1) >> 1
    for j in range(n):
        k = np.uint64(flat[a + np.uint64(flat[b + j])])
        low, high = (root if half[k] else 0), (states if half[k] else root)
        for _ in range(steps):
            middle, goes_on = np.uint64((low + high) >> 1), high - low > 1
            value = np.uint32(
                phi[middle] + (shares[np.uint64(row[k]) + middle] if goes_on else _NONE)
            )
            phi[middle] = value & PHASE_MASK
            up = value >> _31 != _NONE
            high = np.int64(middle) if goes_on and not up else high
            low = np.int64(middle) if up else low
        x[at + k] = low


@jit
def add_member_conditionals(p, row, states, n, tally, to):
    """Add the conditionals of all members to the sums of a variable."""
    for c in range(states):
        total = np.int64(0)
        for k in range(n):
            total += np.int64(p[row[k] + c])
        tally[to + c] += total


@jit
def count_members_in_states(ones, width, i, x, n, states):
    """Count the members in each state of variable i; where all have two, those in state 1."""
    for c in range(1 if width == 2 else 0, states):
        count = np.int64(0)
        for k in range(n):
            count += np.int64(x[i * n + k] == c)
        ones[np.int64(i) if width == 2 else np.int64(i) * width + c] += count


@jit
def fill_shares(p, row_start, entry_start, cardinalities, shares):
    """Tabulate what each split gives its upper half, in all rows: a split goes by its middle."""
    widest = max_value(cardinalities)
    low, high = np.empty((2, widest + 1), np.int64)
    upto = np.empty(widest + 1, np.int64)
    for i in range(len(cardinalities)):
        states = cardinalities[i]
        for k in range(1, states):
            low[k], high[k] = 0, states
            middle = states >> 1
            while middle != k:
                if middle < k:
                    low[k] = middle
                else:
                    high[k] = middle
                middle = (low[k] + high[k]) >> 1
        for row in range(row_start[i + 1] - row_start[i]):
            at = entry_start[i] + row * states
            cumulate_and_split(p, at, states, upto, 0)
            shares[at] = 0
            for k in range(1, states):
                shares[at + k] = scaled_ratio(upto[high[k]] - upto[k], upto[high[k]] - upto[low[k]])


@jit
def count_members_in_state_1(ones, width, i, n, carries):
    """Count the members of each state; where all variables have two, those of state 1 will do."""
    if width == 2:
        ones[i] += carries
    else:
        ones[np.int64(i) * width] += n - carries
        ones[np.int64(i) * width + 1] += carries


@jit
def write_sample(block, s, i, x, n):
    """Write a variable's new states into the sample."""
    for k in range(n):
        block[s, i * n + k] = x[i * n + k]
