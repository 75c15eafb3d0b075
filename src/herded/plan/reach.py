"""Where moves of one variable at a time can lead, under hard zeros.

From a state x, let R hold x's states, and add state k of variable i whenever each hard factor of i
has a possible entry with k and otherwise only states of R; until nothing is added. No single move
ever leaves R: the first to leave it would end in a state whose entries are such entries. So what
is not in R is out of reach for good (where `x1 = x2`, by parity, in permutations). What is in R
may or may not be in reach, since factors are looked at one by one.

An entry of a table is looked at once for each of its variables: time is linear in the tables.
"""

from typing import Any, NamedTuple

import numpy as np

from herded.jit import jit
from herded.plan.domains import compile_hard


class Reached(NamedTuple):
    """R, and what is known on the way to it. States of all variables lie side by side."""

    inside: np.ndarray  # whether a state is in R
    owner: np.ndarray  # whose state it is
    clamped: np.ndarray  # whether its owner is
    wanting: np.ndarray  # how many hard factors of its owner have no such entry yet
    slot_start: np.ndarray  # of each variable of each factor, into the next
    has_entry: np.ndarray  # whether the factor has such an entry for the state
    stack: np.ndarray  # states of R whose entries are yet to be looked at
    depth: np.ndarray  # one number: how many
    digit: np.ndarray  # the states of an entry


def reach(graph: Any, x: np.ndarray) -> np.ndarray:
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
    reached = Reached(
        inside=inside,
        owner=owner,
        clamped=clamped[owner],
        wanting=factors[owner],
        slot_start=slots,
        has_entry=np.zeros(slots[-1], np.bool_),
        stack=np.concatenate([first + x, np.empty(total, np.int64)]),
        depth=np.array([n]),
        digit=np.empty(np.diff(graph.factor_start).max(), np.int64),
    )
    _spread(hard, states, reached)
    table = np.zeros((n, int(states.max())), np.bool_)
    table[owner, np.arange(total) - first[owner]] = inside
    return table


@jit
def _spread(h, states, r):
    """Let R grow until nothing is added."""
    for i in range(len(states)):
        for e in range(h.entry_start[i], h.entry_start[i + 1]):
            f = h.entry[e]
            slot = h.factor_start[f]
            if h.factor_start[f + 1] - slot == 1:  # its entries have no other states
                for k in range(states[i]):
                    if h.log_tables[h.table_start[f] + k] > -np.inf:
                        _note(h, r, slot, k)
    while r.depth[0]:
        r.depth[0] -= 1
        state = r.stack[r.depth[0]]
        i = r.owner[state]
        for e in range(h.entry_start[i], h.entry_start[i + 1]):
            _look(h, states, r, h.entry[e], i, state - h.state_start[i])


@jit
def _look(h, states, r, f, i, k):
    """Note the entries of `f` with state `k` of `i` that have just one state outside of R."""
    first, last = h.factor_start[f], h.factor_start[f + 1]
    own = first
    while h.variables[own] != i:
        own += 1
    r.digit[: last - first] = 0
    r.digit[own - first] = k
    entry = h.table_start[f] + k * h.strides[own]
    slot = first
    while slot >= first:
        if h.log_tables[entry] > -np.inf:
            outside, missing = 0, first
            for slot in range(first, last):
                if not r.inside[h.state_start[h.variables[slot]] + r.digit[slot - first]]:
                    outside, missing = outside + 1, slot
            if outside == 1:
                _note(h, r, missing, r.digit[missing - first])
        slot = last - 1
        while slot >= first:  # count on, like an odometer
            if slot != own:
                r.digit[slot - first] += 1
                entry += h.strides[slot]
                if r.digit[slot - first] < states[h.variables[slot]]:
                    break
                entry -= r.digit[slot - first] * h.strides[slot]
                r.digit[slot - first] = 0
            slot -= 1


@jit
def _note(h, r, slot, k):
    """The factor of `slot` has an entry for state `k` there; add the state if that was all."""
    if r.has_entry[r.slot_start[slot] + k]:
        return
    r.has_entry[r.slot_start[slot] + k] = True
    state = h.state_start[h.variables[slot]] + k
    r.wanting[state] -= 1
    if r.wanting[state] == 0 and not r.inside[state] and not r.clamped[state]:
        r.inside[state] = True
        r.stack[r.depth[0]] = state
        r.depth[0] += 1
