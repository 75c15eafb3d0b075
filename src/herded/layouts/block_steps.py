"""Summing out a block given the rest: one table after another (`BlockArrays`).

Tables are products of potentials, each factor's largest being 1 and each message's largest too: an
entry takes a multiplication for each input, and no exponential. Products of small numbers may
underflow, so `low` follows the smallest entry that is not 0: before it is below `FLOOR` the table
is looked at, and rescaled; where it really spreads so far, the step is done in logarithms, and so
is whatever receives its message, until that spreads less. So an impossible state is exactly 0, a
possible one never is, and it does not matter how far potentials spread.

Logarithms are those of the model, not multiplied by beta: a message is log(sum of exp(beta l)) /
beta, which for beta = inf, the argmax, is the largest l.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.block_arrays import BlockArrays
from herded.system.exp import exp, log
from herded.system.jit import jit

FLOOR = 1e-250  # of an entry that is not 0; 1 is the largest
WIDEST = 575.0  # log(1 / FLOOR), a little less


class Work(NamedTuple):
    """Room that kernels work in; nothing of it is kept from one block to the next."""

    values: np.ndarray  # potentials of all factors, and messages of a block
    logs: np.ndarray  # logarithms of those messages that are `message_in_logs`
    lowest: np.ndarray  # of each factor, and of each message
    begins: np.ndarray  # where the inputs of a step begin
    table: np.ndarray  # (members * entries of a block)
    in_logs: np.ndarray  # (members * steps of a block)
    message_in_logs: np.ndarray  # (steps of a block,)


def room(a: BlockArrays, members: int) -> Work:
    """Room for the elimination of any block, for so many members."""
    steps = int(np.diff(a.block_start).max(initial=0))
    potentials, messages = int(a.table_start[-1]), int(a.message_size[0])
    return Work(
        values=np.empty(messages),
        logs=np.empty(messages - potentials),
        lowest=np.empty(len(a.table_start) - 1 + steps),
        begins=np.empty(int(np.diff(a.input_start).max(initial=0)), np.int64),
        table=np.empty(members * int(a.table_size[0])),
        in_logs=np.zeros(members * steps, np.bool_),
        message_in_logs=np.zeros(steps, np.bool_),
    )


@jit
def fill_potentials(log_tables, table_start, beta, values, lowest):
    """exp(beta l) of all factors, the largest of each being 1, and the lowest of each but 0."""
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
    """The tables of a block, given the rest of member k: `work.table[table_from:]`, and for each
    whether it is of logarithms in `work.in_logs[log_from:]`."""
    states, rows, table_at, message_at = a.states, a.rows, a.table_at, a.message_at
    input_start, source, base, pattern = a.input_start, a.source, a.base, a.pattern
    outside_start, outside, outside_stride = a.outside_start, a.outside, a.outside_stride
    patterns, factors = a.patterns, len(a.table_start) - 1
    values, lowest, table, begins = work.values, work.lowest, work.table, work.begins
    in_logs, message_in_logs = work.in_logs, work.message_in_logs
    first = a.block_start[block]
    for s in range(first, a.block_start[block + 1]):
        to, size = np.uint64(table_from + table_at[s]), np.uint64(rows[s] * states[s])
        begin, end = input_start[s], input_start[s + 1]
        linear = beta < np.inf
        for i in range(begin, end):
            where = base[i]
            for o in range(outside_start[i], outside_start[i + 1]):
                where += np.int64(x[outside[o] * n + k]) * outside_stride[o]
            begins[i - begin] = where
            if source[i] < 0 and message_in_logs[-1 - source[i] - first]:
                linear = False
        low, i = 1.0, begin
        if end == begin:  # no factor at all
            for e in range(size):
                table[to + e] = 1.0
        while linear and i < end:
            one = lowest[source[i] if source[i] >= 0 else factors - 1 - source[i] - first]
            if low * one < FLOOR and i > begin:
                low = rescale(table, to, size)
            if low * one < FLOOR:
                linear = False
                break
            b, p = np.uint64(begins[i - begin]), np.uint64(pattern[i])
            if i == begin:
                for e in range(size):
                    table[to + e] = values[b + np.uint64(patterns[p + e])]
            else:
                for e in range(size):
                    table[to + e] *= values[b + np.uint64(patterns[p + e])]
            low *= one
            i += 1
        in_logs[log_from + s - first] = not linear
        if linear:
            to_message = np.uint64(message_at[s])
            lowest[factors + s - first] = sum_rows(
                table, to, np.uint64(rows[s]), np.uint64(states[s]), values, to_message
            )
            message_in_logs[s - first] = False
        else:
            step_in_logs(a, s, first, beta, work, np.int64(to))


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
    for e in range(size):
        table[to + e] /= top
    return least / top


@jit
def sum_rows(table, at, rows, states, values, to):
    """The message of a table: sums of its rows, the largest 1. Gives the lowest that is not 0."""
    top, least = 0.0, np.inf
    for r in range(rows):
        total = table[at]
        for c in range(np.uint64(1), states):
            total += table[at + c]
        at += states
        values[to + r] = total
        top = total if total > top else top
        least = total if 0.0 < total < least else least
    if top == 0.0:  # nothing is possible: there is nothing to scale
        return 1.0
    for r in range(rows):
        values[to + r] /= top
    return least / top


@jit
def step_in_logs(a, s, first, beta, work, to):
    """The same for one table in logarithms; `work.begins` is where its inputs begin."""
    table, values, logs, patterns = work.table, work.values, work.logs, a.patterns
    potentials, factors = a.table_start[-1], len(a.table_start) - 1
    rows, states, begin = a.rows[s], a.states[s], a.input_start[s]
    for e in range(rows * states):
        table[to + e] = 0.0
    for i in range(begin, a.input_start[s + 1]):
        b, p, child = work.begins[i - begin], a.pattern[i], -1 - a.source[i] - first
        for e in range(rows * states):
            at = b + np.int64(patterns[p + e])
            if a.source[i] >= 0:
                table[to + e] += a.log_tables[at]
            elif work.message_in_logs[child]:
                table[to + e] += logs[at - potentials]
            else:
                table[to + e] += log(values[at]) / beta
    message, top, least = a.message_at[s], -np.inf, np.inf
    for r in range(rows):
        total = log_of_sum(table, to + r * states, states, beta)
        logs[message - potentials + r] = total
        top = total if total > top else top
        least = total if -np.inf < total < least else least
    in_logs = top > -np.inf and not beta * (top - least) < WIDEST
    for r in range(rows):
        gap = logs[message - potentials + r] - top if top > -np.inf else -np.inf
        logs[message - potentials + r] = gap
        if not in_logs:
            values[message + r] = 0.0 if gap == -np.inf else exp(beta * gap)
    work.message_in_logs[s - first] = in_logs
    work.lowest[factors + s - first] = (
        1.0 if in_logs or top == -np.inf else exp(beta * (least - top))
    )


@jit
def log_of_sum(table, at, states, beta):
    """log(sum of exp(beta l)) / beta of one row."""
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
