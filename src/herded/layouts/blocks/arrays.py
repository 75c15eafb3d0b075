"""Blocks of variables, laid out step by step: what elimination reads of a model.

A block's variables are summed out in turn. Step s takes variable v: its *table* has an axis for
each variable that is still to come and shares a factor or a message with v (the *scope*), and v
itself last. The table is a product of *inputs*: factors that v is the first of, and messages of
earlier steps. Summed over v it has a *row* for each state of the scope: the message to the step of
the first variable in it.

An input is a place in one long array, where the potentials of all factors come first and then the
messages of a block. Which of its entries belongs to which entry of the table is said by a
*pattern*; inputs of the same shape share theirs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import make_read_only, start_offsets
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import mix64

MAX_PATTERN_SLOTS = 2**16  # places in the table of patterns
MAX_PROBES = 8  # places that a search tries: where all are taken, a pattern is stored again


class BlockArrays(NamedTuple):
    """The steps of all blocks, one after another."""

    block_start: np.ndarray  # (blocks + 1,) steps
    variable: np.ndarray  # per step
    states: np.ndarray  # of the variable
    rows: np.ndarray  # of the table: joint states of the scope
    table_at: np.ndarray  # where its table begins among those of its block
    message_at: np.ndarray  # where its message begins, behind the factors' potentials
    scope_start: np.ndarray  # per step (+ 1), into the next two
    scope: np.ndarray  # the variables of the scope
    scope_stride: np.ndarray  # of each in the message
    input_start: np.ndarray  # per step (+ 1), into the next four
    source: np.ndarray  # a factor, or a step as -1 - step
    base: np.ndarray  # where the input begins, known variables included
    pattern: np.ndarray  # where its pattern begins
    outside_start: np.ndarray  # per input (+ 1), into the next two
    outside: np.ndarray  # variables of a factor that the block takes as they are
    outside_stride: np.ndarray
    patterns: np.ndarray  # uint32
    table_size: np.ndarray  # one number: entries of all tables of the largest block
    message_size: np.ndarray  # one number: potentials, and all messages of the largest block
    log_tables: np.ndarray
    table_start: np.ndarray  # per factor (+ 1): where its log-table begins
    free: np.ndarray  # (N,) whether a variable is not known


INPUT_FIELDS = (  # what `find_inputs` gives
    "input_start", "source", "base", "pattern", "outside_start", "outside", "outside_stride",
)  # fmt: skip


def compile_blocks(graph: FactorGraph, blocks: Sequence[np.ndarray]) -> BlockArrays:
    """Lay out blocks that are given in their orders of elimination."""
    steps = np.concatenate([np.zeros(0, np.int64), *blocks]).astype(np.int64)
    block_start = start_offsets(np.array([len(block) for block in blocks], np.int64))
    cards, free = graph.cardinalities, graph.evidence < 0
    known = np.where(free & (cards > 1), -1, np.maximum(graph.evidence, 0))
    factors = graph.factor_start, graph.factor_variables, *_factors_of(graph)
    scope_start, scope, parent, counts = find_scopes(steps, block_start, known, *factors)
    tables = find_tables(
        steps, block_start, cards, scope_start, scope, parent, graph.table_start[-1]
    )
    inputs, shapes = find_inputs(
        steps, block_start, cards, known, (scope_start, scope, parent), tables, counts,
        (graph.factor_strides, graph.table_start), factors,
    )  # fmt: skip
    rows, table_at, message_at, stride, table_size, message_size = tables
    return make_read_only(
        BlockArrays(
            block_start=block_start,
            variable=steps,
            states=cards[steps],
            rows=rows,
            table_at=table_at,
            message_at=message_at,
            scope_start=scope_start,
            scope=scope,
            scope_stride=stride,
            **dict(zip(INPUT_FIELDS, inputs, strict=True)),
            patterns=fill_patterns(*shapes),
            table_size=table_size,
            message_size=message_size,
            log_tables=graph.log_tables,
            table_start=graph.table_start,
            free=free,
        )
    )


def _factors_of(graph: FactorGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors of each variable: where they start, and they, in order."""
    owner = np.repeat(np.arange(graph.n_factors), np.diff(graph.factor_start))
    order = np.argsort(graph.factor_variables, kind="stable")
    counts = np.bincount(graph.factor_variables, minlength=graph.n_variables)
    return start_offsets(counts), owner[order]


@jit
def find_scopes(steps, block_start, known, factor_start, variables, of_start, of):
    """Return the scope of every step, the step that gets its message (or -1), and two counts."""
    count = len(steps)
    place, seen = np.full(len(known), -1), np.full(len(factor_start) - 1, -1)
    parent, child_of = np.full(count, -1), np.full(count, -1)
    sibling = np.full(count, -1)
    scope_start, scope, end = np.zeros(count + 1, np.int64), np.empty(64, np.int64), 0
    inputs, outsiders = 0, 0
    for b in range(len(block_start) - 1):
        for s in range(block_start[b], block_start[b + 1]):
            place[steps[s]] = s
        for s in range(block_start[b], block_start[b + 1]):
            v, here = steps[s], end
            for o in range(of_start[v], of_start[v + 1]):
                f = of[o]
                if seen[f] == b:
                    continue
                seen[f] = b
                inputs += 1
                for slot in range(factor_start[f], factor_start[f + 1]):
                    u = variables[slot]
                    if place[u] > s:
                        scope = with_room(scope, end)
                        end = insert_by_place(scope, here, end, u, place)
                    elif place[u] < 0 and known[u] < 0:
                        outsiders += 1
            child = child_of[s]
            while child >= 0:
                for at in range(scope_start[child] + 1, scope_start[child + 1]):
                    scope = with_room(scope, end)
                    end = insert_by_place(scope, here, end, scope[at], place)
                child = sibling[child]
            scope_start[s + 1] = end
            if end > here:
                inputs += 1
                to = place[scope[here]]
                parent[s], sibling[s], child_of[to] = to, child_of[to], s
        for s in range(block_start[b], block_start[b + 1]):
            place[steps[s]] = -1
    return scope_start, scope[:end].copy(), parent, (inputs, outsiders)


@jit
def with_room(array, place):
    """Return the array, or a longer copy that has such a place."""
    if place < len(array):
        return array
    copy = np.empty(2 * place + 64, array.dtype)
    for at in range(len(array)):
        copy[at] = array[at]
    return copy


@jit
def insert_by_place(scope, here, end, u, place):
    """Put `u` among scope[here:end], which is sorted by place, unless it is there; the new end."""
    at = end
    while at > here and place[scope[at - 1]] > place[u]:
        at -= 1
    if at > here and scope[at - 1] == u:
        return end
    for later in range(end, at, -1):
        scope[later] = scope[later - 1]
    scope[at] = u
    return end + 1


@jit
def find_tables(steps, block_start, cards, scope_start, scope, parent, potentials):
    """Return rows of tables, where tables and messages begin, strides, and the largest sizes."""
    rows, table_at = np.empty(len(steps), np.int64), np.empty(len(steps), np.int64)
    message_at, stride = np.empty(len(steps), np.int64), np.empty(len(scope), np.int64)
    table_size, message_size = 0, potentials
    for b in range(len(block_start) - 1):
        table, message = 0, potentials
        for s in range(block_start[b], block_start[b + 1]):
            rows[s], table_at[s], message_at[s] = 1, table, message
            for at in range(scope_start[s + 1] - 1, scope_start[s] - 1, -1):
                stride[at] = rows[s]
                rows[s] *= cards[scope[at]]
            table += rows[s] * cards[steps[s]]
            message += rows[s]
        table_size, message_size = max(table_size, table), max(message_size, message)
    return rows, table_at, message_at, stride, np.array([table_size]), np.array([message_size])


@jit
def find_inputs(steps, block_start, cards, known, scopes, tables, counts, in_tables, factors):
    """Return the arrays from `input_start` to `outside_stride`, and the shapes of all patterns."""
    scope_start, scope, parent = scopes
    rows, message_at, scope_stride = tables[0], tables[2], tables[3]
    strides, table_start = in_tables
    factor_start, variables, of_start, of = factors
    inputs, outsiders = counts
    input_start, outside_start = np.zeros(len(steps) + 1, np.int64), np.zeros(inputs + 1, np.int64)
    source, base = np.empty(inputs, np.int64), np.empty(inputs, np.int64)
    pattern = np.empty(inputs, np.int64)
    outside, outside_stride = np.empty(outsiders, np.int64), np.empty(outsiders, np.int64)
    child_of, sibling = child_steps(parent)
    place, axis = np.full(len(known), -1), np.empty(len(known), np.int64)
    seen, shape = np.full(len(factor_start) - 1, -1), np.empty(2 * len(known) + 3, np.int64)
    shapes, met, ends = (
        np.empty(64, np.int64),
        np.full(MAX_PATTERN_SLOTS, -1),
        np.zeros(2, np.int64),
    )
    at, out = 0, 0
    for b in range(len(block_start) - 1):
        for s in range(block_start[b], block_start[b + 1]):
            place[steps[s]] = s
        for s in range(block_start[b], block_start[b + 1]):
            v, first, last = steps[s], scope_start[s], scope_start[s + 1]
            axes = last - first + 1
            shape[0] = axes
            for a in range(first, last):
                axis[scope[a]] = axes + 1 + a - first
                shape[1 + a - first] = cards[scope[a]]
            axis[v], shape[axes] = 2 * axes, cards[v]
            for o in range(of_start[v], of_start[v + 1]):
                f = of[o]
                if seen[f] == b:
                    continue
                seen[f] = b
                source[at], base[at] = f, table_start[f]
                for a in range(axes):
                    shape[1 + axes + a] = 0
                for slot in range(factor_start[f], factor_start[f + 1]):
                    u = variables[slot]
                    if place[u] >= s:
                        shape[axis[u]] = strides[slot]
                    elif known[u] >= 0:
                        base[at] += known[u] * strides[slot]
                    else:
                        outside[out], outside_stride[out] = u, strides[slot]
                        out += 1
                shapes = with_room(shapes, ends[0] + 2 * axes + 2)
                pattern[at] = find_pattern(shape, rows[s] * cards[v], shapes, met, ends)
                at += 1
                outside_start[at] = out
            child = child_of[s]
            while child >= 0:
                source[at], base[at] = -1 - child, message_at[child]
                for a in range(axes):
                    shape[1 + axes + a] = 0
                for a in range(scope_start[child], scope_start[child + 1]):
                    shape[axis[scope[a]]] = scope_stride[a]
                shapes = with_room(shapes, ends[0] + 2 * axes + 2)
                pattern[at] = find_pattern(shape, rows[s] * cards[v], shapes, met, ends)
                at += 1
                outside_start[at] = out
                child = sibling[child]
            input_start[s + 1] = at
        for s in range(block_start[b], block_start[b + 1]):
            place[steps[s]] = -1
    arrays = input_start, source, base, pattern, outside_start, outside, outside_stride
    return arrays, (shapes[: ends[0]].copy(), ends[1])


@jit
def child_steps(parent):
    """Return the first step that sends a message to each, and the next that sends to the same."""
    first, sibling = np.full(len(parent), -1), np.full(len(parent), -1)
    for s in range(len(parent) - 1, -1, -1):
        if parent[s] >= 0:
            sibling[s], first[parent[s]] = first[parent[s]], s
    return first, sibling


@jit
def find_pattern(shape, size, shapes, met, ends):
    """Return where the pattern of this shape begins; a new one comes behind all others.

    `ends` has the lengths of `shapes` and of all patterns. What precedes a shape is where its
    pattern begins.
    """
    length, code = 2 * shape[0] + 1, np.uint64(0)
    for a in range(length):
        code = mix64(code ^ np.uint64(shape[a]))
    cell = np.int64(code % np.uint64(MAX_PATTERN_SLOTS))
    for _ in range(MAX_PROBES):
        known = met[cell]
        if known < 0:
            met[cell] = ends[0]
            break
        same = True
        for a in range(length):
            same &= shapes[known + 1 + a] == shape[a]
        if same:
            return shapes[known]
        cell = (cell + 1) % MAX_PATTERN_SLOTS
    begin = ends[1]
    shapes[ends[0]] = begin
    for a in range(length):
        shapes[ends[0] + 1 + a] = shape[a]
    ends[0] += length + 1
    ends[1] += size
    return begin


@jit
def fill_patterns(shapes, size):
    """Return all patterns: offsets of an input's entries for each entry of a table."""
    patterns, at = np.empty(size, np.uint32), 0
    while at < len(shapes):
        begin, axes = shapes[at], shapes[at + 1]
        patterns[begin], length = 0, 1
        for a in range(axes - 1, -1, -1):  # the last axis first: what is there is repeated
            stride = shapes[at + 2 + axes + a]
            for k in range(1, shapes[at + 2 + a]):
                for e in range(length):
                    patterns[begin + k * length + e] = patterns[begin + e] + k * stride
            length *= shapes[at + 2 + a]
        at += 2 * axes + 2
    return patterns
