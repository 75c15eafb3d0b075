"""Summing out a block given the rest: one table after another (`BlockArrays`).

Tables are products of potentials, each factor's largest being 1 and each message's largest too: an
entry takes a multiplication for each input, and no exponential. Products of small numbers may
underflow, so `low` follows the smallest entry that is not 0: before it is below `MIN_ENTRY` the
table is looked at, and rescaled; where it really spreads so far, the step is done in logarithms,
and so is whatever receives its message, until that spreads less. So an impossible state is exactly
0, a possible one never is, and it does not matter how far potentials spread.

Logarithms are those of the model, not multiplied by beta: a message is log(sum of exp(beta l)) /
beta, which for beta = inf, the argmax, is the largest l.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.blocks.arrays import BlockArrays
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log

MIN_ENTRY = 1e-250  # of an entry that is not 0; 1 is the largest
MAX_LOG_ENTRY_RANGE = 575.0  # log(1 / MIN_ENTRY), a little less


class EliminationWorkspace(NamedTuple):
    """The workspace of kernels; nothing in it is kept from one block to the next."""

    values: np.ndarray  # potentials of all factors, and messages of a block
    logs: np.ndarray  # messages in logarithms, where `lowest` is 0
    lowest: np.ndarray  # number but 0 of each factor, and of each message of a block
    table: np.ndarray  # (members * entries of a block)
    in_logs: np.ndarray  # (members * steps of a block)


def allocate_workspace(a: BlockArrays, members: int, steps: int) -> EliminationWorkspace:
    """Allocate the elimination of any block of at most `longest` steps, for all members."""
    potentials, messages = int(a.table_start[-1]), int(a.message_size[0])
    return EliminationWorkspace(
        values=np.empty(messages),
        logs=np.empty(messages - potentials),
        lowest=np.empty(len(a.table_start) - 1 + steps),
        table=np.empty(members * int(a.table_size[0])),
        in_logs=np.zeros(members * steps, np.bool_),
    )


@jit
def fill_potentials(log_tables, table_start, beta, values, lowest):
    """Compute exp(beta l) of all factors, scaled to a largest of 1, and their lowest."""
    for f in range(len(table_start) - 1):
        first, last = table_start[f], table_start[f + 1]
        top = -np.inf
        for e in range(first, last):
            top = log_tables[e] if log_tables[e] > top else top
        least = 1.0
        for e in range(first, last):
            gap, value = log_tables[e] - top, 1.0
            if log_tables[e] == -np.inf:
                value = 0.0
            elif gap < 0.0:
                value = exp(beta * gap)
                least = value if value < least else least
            values[e] = value
        lowest[f] = least


@jit
def eliminate(a, block, beta, x, n, k, work, table_from, log_from):
    """Compute the tables of a block, given the rest of member k, and which are of logarithms."""
    states, rows, table_at, message_at = a.states, a.rows, a.table_at, a.message_at
    input_start, source, base, pattern = a.input_start, a.source, a.base, a.pattern
    outside_start, outside, outside_stride = a.outside_start, a.outside, a.outside_stride
    patterns, factors = a.patterns, len(a.table_start) - 1
    values, lowest, table, in_logs = work.values, work.lowest, work.table, work.in_logs
    first = a.block_start[block]
    for s in range(first, a.block_start[block + 1]):
        to, size = np.uint64(table_from + table_at[s]), np.uint64(rows[s] * states[s])
        begin, end, low, linear = input_start[s], input_start[s + 1], 1.0, beta < np.inf
        if end == begin:  # no factor at all
            for e in range(size):
                table[to + e] = 1.0
        for i in range(begin, end):
            one = lowest[source[i] if source[i] >= 0 else factors - 1 - source[i] - first]
            if low * one < MIN_ENTRY and i > begin:
                low = rescale(table, to, size)
            low *= one
            linear &= low >= MIN_ENTRY
            if not linear:
                break
            where = base[i]
            for o in range(outside_start[i], outside_start[i + 1]):
                where += np.int64(x[outside[o] * n + k]) * outside_stride[o]
            b, p = np.uint64(where), np.uint64(pattern[i])
            if i == begin:
                for e in range(size):
                    table[to + e] = values[b + np.uint64(patterns[p + e])]
            else:
                for e in range(size):
                    table[to + e] *= values[b + np.uint64(patterns[p + e])]
        in_logs[log_from + s - first] = not linear
        if linear:
            lowest[factors + s - first] = sum_rows(
                table, to, np.uint64(rows[s]), states[s], values, np.uint64(message_at[s])
            )
        else:
            step_in_logs(a, s, first, beta, x, n, k, work, np.int64(to))


@jit
def rescale(table, to, size):
    """Make the largest entry 1; give the lowest that is not 0."""
    top, least = 0.0, np.inf
    for e in range(size):
        value = table[to + e]
        top = value if value > top else top
        least = value if 0.0 < value < least else least
    if top == 0.0:
        return 1.0
    scale = 1.0 / top
    for e in range(size):
        table[to + e] *= scale
    return least * scale


@jit
def sum_rows(table, at, rows, states, values, to):
    """Compute the message of a table, scaled to a largest of 1; return the lowest positive one."""
    top, least = 0.0, np.inf
    for r in range(rows):
        total = table[at] + table[at + np.uint64(1)]
        for c in range(2, states):
            total += table[at + np.uint64(c)]
        at += np.uint64(states)
        values[to + r] = total
        top = total if total > top else top
        least = total if 0.0 < total < least else least
    if top == 0.0:  # nothing is possible: there is nothing to scale
        return 1.0
    scale = 1.0 / top
    for r in range(rows):
        values[to + r] *= scale
    return least * scale


@jit
def step_in_logs(a, s, first, beta, x, n, k, work, to):
    """Do the same for one table in logarithms; a lowest of 0 keeps its receiver in logarithms."""
    table, values, logs, patterns = work.table, work.values, work.logs, a.patterns
    potentials, factors = a.table_start[-1], len(a.table_start) - 1
    rows, states = a.rows[s], a.states[s]
    for e in range(rows * states):
        table[to + e] = 0.0
    for i in range(a.input_start[s], a.input_start[s + 1]):
        b, p, child = a.base[i], a.pattern[i], -1 - a.source[i] - first
        for o in range(a.outside_start[i], a.outside_start[i + 1]):
            b += np.int64(x[a.outside[o] * n + k]) * a.outside_stride[o]
        for e in range(rows * states):
            at = b + np.int64(patterns[p + e])
            if a.source[i] >= 0:
                table[to + e] += a.log_tables[at]
            elif work.lowest[factors + child] == 0.0:
                table[to + e] += logs[at - potentials]
            else:
                table[to + e] += log(values[at]) / beta
    message, top, least = a.message_at[s], -np.inf, np.inf
    for r in range(rows):
        total = log_of_sum(table, to + r * states, states, beta)
        logs[message - potentials + r] = total
        top = total if total > top else top
        least = total if -np.inf < total < least else least
    in_logs = top > -np.inf and not beta * (top - least) < MAX_LOG_ENTRY_RANGE
    for r in range(rows):
        gap = logs[message - potentials + r] - top if top > -np.inf else -np.inf
        logs[message - potentials + r] = gap
        if not in_logs:
            values[message + r] = 0.0 if gap == -np.inf else exp(beta * gap)
    low = 1.0
    if in_logs:
        low = 0.0
    elif top > -np.inf:
        low = exp(beta * (least - top))
    work.lowest[factors + s - first] = low


@jit
def log_of_sum(table, at, states, beta):
    """Return log(sum of exp(beta l)) / beta of one row."""
    top = -np.inf
    for c in range(states):
        top = table[at + c] if table[at + c] > top else top
    if top == -np.inf:
        return top
    total = 0.0
    for c in range(states):
        gap = table[at + c] - top
        total += exp(beta * gap) if gap < 0.0 else 1.0
    return top + log(total) / beta
