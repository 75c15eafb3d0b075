"""Where moves of one variable at a time can lead, under hard zeros.

From a state x, let R hold the states in x. Add state k of variable i whenever each hard factor of i
has a possible entry with k whose other states are all in R; repeat until nothing is added. No
single move ever leaves R, because the first to leave it would end in a state made of such entries.
So states outside R are out of reach for good (under `x1 = x2`, parity constraints or
permutations). States in R may or may not be reachable, since factors are examined one by one.

A table entry is examined at most once per variable, so the time is linear in the entries.

Moves of whole blocks lead further: the variables of a block may take any of their states at once.
Then R also gains the states of the block that remain when states without support are dropped
(`models.constraints.constraint_search`), while variables outside the block keep to those in R.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.models.constraints.constraint_search import compile_hard, full_domains, propagate_all
from herded.models.factor_graph import FactorGraph
from herded.system.compilation.jit import jit


class ReachabilityState(NamedTuple):
    """R, and the bookkeeping of its growth. States of all variables lie end to end."""

    inside: np.ndarray  # whether a state is in R
    owner: np.ndarray  # the variable that a state belongs to
    wanting: np.ndarray  # the number of hard factors of its owner without such an entry so far
    slot_start: np.ndarray  # the offset of each variable of each factor into `has_entry`
    has_entry: np.ndarray  # whether the factor has such an entry for the state, or needs none
    unknown: np.ndarray  # the number of states of each factor's variables not known to have one
    queue: np.ndarray  # the states of R in the order of addition
    length: np.ndarray  # (1,) the length of the queue
    digit: np.ndarray  # the states of an entry


def reachable_states(graph: FactorGraph, x: np.ndarray) -> np.ndarray:
    """Return the states (N, K) that moves of single variables from `x` might reach.

    `x` is a possible state. All other states are proved out of reach. `graph` is a factor graph
    with hard zeros.
    """
    hard, states, n = compile_hard(graph), graph.cardinalities, graph.n_variables
    first, total = hard.state_start[:-1], int(states.sum())
    owner = np.repeat(np.arange(n), states)
    factors = np.diff(hard.entry_start)
    clamped = graph.evidence >= 0
    inside = np.repeat((factors == 0) & ~clamped, states)  # free, and no factor forbids a state
    inside[first + x] = True
    slots = np.concatenate([[0], np.cumsum(states[graph.factor_variables])])
    slot_states = np.arange(slots[-1]) - np.repeat(slots[:-1], np.diff(slots))
    of = np.repeat(graph.factor_variables, np.diff(slots))
    needs_none = clamped[of] | (slot_states == x[of])
    unknown = np.concatenate([[0], np.cumsum(~needs_none)])
    reached = ReachabilityState(
        inside=inside,
        owner=owner,
        wanting=factors[owner],
        slot_start=slots,
        has_entry=needs_none,
        unknown=np.diff(unknown[slots[graph.factor_start]]),
        queue=np.concatenate([first + x, np.empty(total - n, np.int64)]),
        length=np.array([n]),
        digit=np.empty(np.diff(graph.factor_start).max(), np.int64),
    )
    _grow_reachable(hard, states, reached)
    table = np.zeros((n, int(states.max())), np.bool_)
    table[owner, np.arange(total) - first[owner]] = inside
    return table


def states_reachable_by_blocks(
    graph: FactorGraph, x: np.ndarray, blocks: Sequence[np.ndarray], possible: np.ndarray
) -> np.ndarray:
    """Return the states (N, K) that moves of whole blocks from `x` might reach.

    The search ends early once it has all `possible` states, often after a block or two.
    """
    hard, states, n = compile_hard(graph), graph.cardinalities, graph.n_variables
    owner = np.repeat(np.arange(n), states)
    own = np.arange(len(owner)) - hard.state_start[owner]
    inside = np.zeros_like(possible)
    inside[np.arange(n), x] = True
    found, before = n, 0
    while before < found < possible.sum():  # until a round has added nothing
        before = found
        for block in blocks:
            remaining = inside.copy()
            remaining[block] = possible[block]
            domains = full_domains(graph, hard, graph.evidence)
            domains.states[:] = own[np.lexsort((~remaining[owner, own], owner))]
            domains.size[:] = remaining.sum(axis=1)
            propagate_all(hard, domains)
            kept = (own < domains.size[owner]) & np.isin(owner, block)
            inside[owner[kept], domains.states[kept]] = True
            found = int(inside.sum())
            if found == possible.sum():
                break
    return inside


@jit
def _grow_reachable(h, states, r):
    """Grow R until nothing is added."""
    for i in range(len(states)):
        for e in range(h.entry_start[i], h.entry_start[i + 1]):
            f = h.entry[e]
            slot = h.factor_start[f]
            if h.factor_start[f + 1] - slot == 1:  # its entries involve no other variable
                for k in range(states[i]):
                    if h.log_tables[h.table_start[f] + k] > -np.inf:
                        _note_entry(h, r, f, slot, k)
    at = 0
    while at < r.length[0]:
        state = r.queue[at]
        at += 1
        i = r.owner[state]
        for e in range(h.entry_start[i], h.entry_start[i + 1]):
            if r.unknown[h.entry[e]]:
                _note_entries(h, states, r, h.entry[e], i, state - h.state_start[i])


@jit
def _note_entries(h, states, r, f, i, k):
    """Note the entries of `f` with state `k` of `i` that have just one state outside R."""
    first, last = h.factor_start[f], h.factor_start[f + 1]
    variables, strides, log_tables = h.variables[first:last], h.strides[first:last], h.log_tables
    own, arity = 0, last - first
    while variables[own] != i:
        own += 1
    digit, inside, state_start, unknown = r.digit, r.inside, h.state_start, r.unknown
    digit[:arity] = 0
    digit[own] = k
    entry = h.table_start[f] + k * strides[own]
    a = 0
    while a >= 0 and unknown[f]:
        if log_tables[entry] > -np.inf:
            outside, missing = 0, 0
            for a in range(arity):
                if not inside[state_start[variables[a]] + digit[a]]:
                    outside, missing = outside + 1, a
            if outside == 1:
                _note_entry(h, r, f, first + missing, digit[missing])
        a = arity - 1
        while a >= 0:  # the next combination, like an odometer
            if a != own:
                digit[a] += 1
                entry += strides[a]
                if digit[a] < states[variables[a]]:
                    break
                entry -= digit[a] * strides[a]
                digit[a] = 0
            a -= 1


@jit
def _note_entry(h, r, f, slot, k):
    """Note that `f` has an entry for state `k` at `slot`; add the state if it needed no other."""
    if r.has_entry[r.slot_start[slot] + k]:
        return
    r.has_entry[r.slot_start[slot] + k] = True
    r.unknown[f] -= 1
    state = h.state_start[h.variables[slot]] + k
    r.wanting[state] -= 1
    if r.wanting[state] == 0:
        r.inside[state] = True
        r.queue[r.length[0]] = state
        r.length[0] += 1
