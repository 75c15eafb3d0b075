"""Where moves of one variable at a time can lead, under hard zeros.

From a state x, let R hold x's states, and add state k of variable i whenever each hard factor of i
has a possible entry with k and otherwise only states of R; until nothing is added. No single move
ever leaves R: the first to leave it would end in a state whose entries are such entries. So what
is not in R is out of reach for good (where `x1 = x2`, by parity, in permutations). What is in R
may or may not be in reach, since factors are looked at one by one.

An entry of a table is looked at once for each of its variables at most: time is linear in them.

Moves of whole blocks lead further: the variables of a block may take any of their states at once.
To R is then added what is left of these when states without support are dropped
(`models.constraints.constraint_search`), while variables outside of the block have those in R.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.models.constraints.constraint_search import compile_hard, full_domains, propagate_all
from herded.models.factor_graph import FactorGraph
from herded.system.compilation.jit import jit


class ReachabilityState(NamedTuple):
    """R, and what is known on the way to it. States of all variables lie side by side."""

    inside: np.ndarray  # whether a state is in R
    owner: np.ndarray  # whose state it is
    wanting: np.ndarray  # how many hard factors of its owner have no such entry yet
    slot_start: np.ndarray  # of each variable of each factor, into the next
    has_entry: np.ndarray  # whether the factor has such an entry for the state, or needs none
    unknown: np.ndarray  # how many states of each factor's variables are not known to have one
    queue: np.ndarray  # the states of R in the order in which they were added
    length: np.ndarray  # one number: how many
    digit: np.ndarray  # the states of an entry


def reachable_states(graph: FactorGraph, x: np.ndarray) -> np.ndarray:
    """The states (N, K) that moves of single variables from the possible state `x` might reach.

    All others are proved to be out of reach. `graph` is a factor graph with hard zeros.
    """
    hard, states, n = compile_hard(graph), graph.cardinalities, graph.n_variables
    first, total = hard.state_start[:-1], int(states.sum())
    owner = np.repeat(np.arange(n), states)
    factors = np.diff(hard.entry_start)
    clamped = graph.evidence >= 0
    inside = np.repeat((factors == 0) & ~clamped, states)  # free, and nothing forbids any
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
    """The states (N, K) that moves of whole blocks from the possible state `x` might reach.

    It is done when these are all that are `possible`, which is often after a block or two.
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
    """Let R grow until nothing is added."""
    for i in range(len(states)):
        for e in range(h.entry_start[i], h.entry_start[i + 1]):
            f = h.entry[e]
            slot = h.factor_start[f]
            if h.factor_start[f + 1] - slot == 1:  # its entries have no other states
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
    """Note the entries of `f` with state `k` of `i` that have just one state outside of R."""
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
        while a >= 0:  # count on, like an odometer
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
    """Factor `f` has an entry for state `k` at `slot`; add the state if it wanted no other."""
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
