"""The search for a start under hard zeros: which states of which variables remain.

The search is depth-first, smallest domain first. A state stays in its domain only while a
possible entry of each hard factor supports it (generalised arc consistency).

A domain is a sparse set: the first `size` of a variable's states remain. A state is dropped by
swapping it to that border and moving the border, and restored by moving the border back, so a
search of any depth takes memory linear in the number of states.
"""

from typing import NamedTuple

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import make_read_only
from herded.system.compilation.jit import jit
from herded.system.last_value_cache import cache_last
from herded.system.numerics.counter_rng import random_bits

# how a search ends; any other outcome is the variable that has no state left
SEARCH_SUCCEEDED, SEARCH_GAVE_UP = -1, -2
FIRST_RESTART_DEAD_ENDS = 64  # dead ends before the first restart, then doubled: tails are heavy
# indices into Domains.counts
DRAWN_COUNT, TRAIL_COUNT, QUEUE_HEAD, QUEUE_COUNT, DEAD_END_COUNT = range(5)


class HardFactors(NamedTuple):
    """The factors as the model has them, and the hard factors of each variable."""

    factor_start: np.ndarray
    variables: np.ndarray
    strides: np.ndarray
    table_start: np.ndarray
    log_tables: np.ndarray
    entry_start: np.ndarray  # (N+1,) into the next
    entry: np.ndarray  # the hard factors of each variable
    state_start: np.ndarray  # (N+1,) into Domains.states


class SearchDomains(NamedTuple):
    """The data that changes during a search."""

    states: np.ndarray  # the states of each variable, remaining ones first
    size: np.ndarray  # (N,) the number that remain
    trail: np.ndarray  # the variables that lost a state, in order
    digit: np.ndarray  # the remaining state of each variable that a table entry is for
    queue: np.ndarray  # (F,) a ring of factors to revise
    queued: np.ndarray  # (F,)
    order: np.ndarray  # (N,) undecided variables by component; the current one sorted by size
    place: np.ndarray  # (N,) the position of each variable in `order`, or -1
    size_start: np.ndarray  # where the variables of each size start in `order`
    counts: np.ndarray  # see DRAWN_COUNT


@cache_last
def compile_hard(model: FactorGraph) -> HardFactors:
    """Collect the hard factors of a factor graph that has some."""
    n, f = model.n_variables, model.n_factors
    arity = np.diff(model.factor_start)
    is_hard = np.logical_or.reduceat(np.isneginf(model.log_tables), model.table_start[:-1])
    owner = np.repeat(np.arange(f), arity)
    slots = np.flatnonzero(is_hard[owner])
    slots = slots[np.argsort(model.factor_variables[slots], kind="stable")]
    entries = np.bincount(model.factor_variables[slots], minlength=n)
    hard = HardFactors(
        factor_start=model.factor_start,
        variables=model.factor_variables,
        strides=model.factor_strides,
        table_start=model.table_start,
        log_tables=model.log_tables,
        entry_start=np.concatenate([[0], np.cumsum(entries)]),
        entry=owner[slots],
        state_start=np.concatenate([[0], np.cumsum(model.cardinalities)]),
    )
    return make_read_only(hard)


def full_domains(model: FactorGraph, hard: HardFactors, evidence: np.ndarray) -> SearchDomains:
    """Return domains in which every state of every variable free in `evidence` remains."""
    n, f, states = model.n_variables, model.n_factors, model.cardinalities
    clamped = evidence >= 0
    first = hard.state_start[:-1]
    domains = SearchDomains(
        states=np.arange(states.sum()) - np.repeat(first, states),
        size=np.where(clamped, 1, states),
        trail=np.empty(states.sum(), np.int64),
        digit=np.empty(np.diff(model.factor_start).max(), np.int64),
        queue=np.empty(f, np.int64),
        queued=np.zeros(f, np.bool_),
        order=np.empty(n, np.int64),
        place=np.full(n, -1),
        size_start=np.empty(states.max() + 2, np.int64),
        counts=np.array([n, 0, 0, 0, 0]),  # n draws were made for the uniform state
    )
    domains.states[first[clamped]] = evidence[clamped]  # the others are never read
    return domains


@jit
def search_all(h, d, key, tries):
    """Decide the variables in hard factors, one component after another."""
    outcome = propagate_all(h, d)
    last = 0
    for i in range(len(d.size)):
        if d.size[i] == 1 or d.place[i] >= 0 or h.entry_start[i] == h.entry_start[i + 1]:
            continue
        if outcome != SEARCH_SUCCEEDED:
            break
        first, last = last, _component(h, d, i, last)
        outcome, patience = SEARCH_GAVE_UP, FIRST_RESTART_DEAD_ENDS
        while outcome == SEARCH_GAVE_UP and d.counts[DEAD_END_COUNT] <= tries:
            limit = min(tries, d.counts[DEAD_END_COUNT] + patience)
            outcome = _search_depth_first(h, d, key, first, last, limit)
            patience *= 2
    return outcome


@jit
def propagate_all(h, d):
    """Revise every hard factor until nothing changes."""
    for i in range(len(d.size)):
        _enqueue(h, d, i)
    return _propagate(h, d)


@jit
def _component(h, d, i, first):
    """List the undecided variables that hard factors join to `i` in `order`, from `first` on."""
    d.order[first], d.place[i] = i, first
    at, last = first, first + 1
    while at < last:
        i = d.order[at]
        at += 1
        for e in range(h.entry_start[i], h.entry_start[i + 1]):
            f = h.entry[e]
            for slot in range(h.factor_start[f], h.factor_start[f + 1]):
                j = h.variables[slot]
                if d.size[j] > 1 and d.place[j] < 0:
                    d.order[last], d.place[j] = j, last
                    last += 1
    d.size_start[:] = first
    for at in range(first, last):
        for size in range(d.size[d.order[at]] + 1, len(d.size_start)):
            d.size_start[size] += 1
    free_place = d.size_start.copy()
    for i in d.order[first:last].copy():
        at = free_place[d.size[i]]
        d.order[at], d.place[i] = i, at
        free_place[d.size[i]] += 1
    return last


@jit
def _search_depth_first(h, d, key, first, last, limit):
    """Decide order[first:last], or give up when the dead ends exceed `limit`."""
    decision, mark = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
    depth = 0
    urgent = d.order[first + _below(d, key, last - first)]  # a random place to begin
    while True:
        i = urgent if d.size[urgent] > 1 else _smallest(d)
        if i < 0:
            return SEARCH_SUCCEEDED
        decision[depth], mark[depth] = i, d.counts[TRAIL_COUNT]
        depth += 1
        _swap(h, d, i, 0, _below(d, key, d.size[i]))
        while d.size[i] > 1:
            _drop(d, i)
        _enqueue(h, d, i)
        outcome = _propagate(h, d)
        if outcome != SEARCH_SUCCEEDED:
            urgent = i  # decided first from now on: leads back to the decision at fault
        while outcome != SEARCH_SUCCEEDED:
            if depth == 0:
                return outcome
            depth -= 1
            d.counts[DEAD_END_COUNT] += 1
            if d.counts[DEAD_END_COUNT] > limit:
                _restore(d, mark[0])  # keeps what was dropped before any decision
                return SEARCH_GAVE_UP
            _restore(d, mark[depth])
            i = decision[depth]
            _swap(
                h, d, i, 0, d.size[i] - 1
            )  # the failed state comes first: a single state never moves
            _drop(d, i)
            _enqueue(h, d, i)
            outcome = _propagate(h, d)


@jit
def _smallest(d):
    """Return an undecided variable with the smallest domain, or -1.

    Ties go to the foremost variable, roughly the one that came to this size first, so that
    decisions spread like a ripple. Random ties leave holes that no state fits (seen in
    3-colourings of a 300 x 300 grid).
    """
    for size in range(2, len(d.size_start) - 1):
        if d.size_start[size] < d.size_start[size + 1]:
            return d.order[d.size_start[size]]
    return -1


@jit
def _below(d, key, n):
    """Draw a number from 0 to n - 1."""
    d.counts[DRAWN_COUNT] += 1
    return np.int64(random_bits(key, np.uint64(d.counts[DRAWN_COUNT])) % np.uint64(n))


@jit
def _swap(h, d, i, a, b):
    """Swap states `a` and `b` of the domain of `i`."""
    a, b = h.state_start[i] + a, h.state_start[i] + b
    d.states[a], d.states[b] = d.states[b], d.states[a]


@jit
def _drop(d, i):
    """Remove the last state from the domain of `i`."""
    if d.place[i] >= 0:
        _move(d, i, d.size_start[d.size[i]])
        d.size_start[d.size[i]] += 1
    d.size[i] -= 1
    d.trail[d.counts[TRAIL_COUNT]] = i
    d.counts[TRAIL_COUNT] += 1


@jit
def _restore(d, mark):
    """Undo drops until the trail is as short as it was."""
    while d.counts[TRAIL_COUNT] > mark:
        d.counts[TRAIL_COUNT] -= 1
        i = d.trail[d.counts[TRAIL_COUNT]]
        d.size[i] += 1
        if d.place[i] >= 0:
            d.size_start[d.size[i]] -= 1
            _move(d, i, d.size_start[d.size[i]])


@jit
def _move(d, i, place):
    """Swap `i` and the variable at `place` in the order."""
    j = d.order[place]
    d.order[d.place[i]], d.place[j] = j, d.place[i]
    d.order[place], d.place[i] = i, place


@jit
def _enqueue(h, d, i):
    """Queue the hard factors of `i` for revision."""
    for e in range(h.entry_start[i], h.entry_start[i + 1]):
        f = h.entry[e]
        if not d.queued[f]:
            d.queued[f] = True
            d.queue[(d.counts[QUEUE_HEAD] + d.counts[QUEUE_COUNT]) % len(d.queue)] = f
            d.counts[QUEUE_COUNT] += 1


@jit
def _propagate(h, d):
    """Revise the queued factors until nothing changes; at a dead end only empty the queue."""
    outcome = SEARCH_SUCCEEDED
    while d.counts[QUEUE_COUNT]:
        f = d.queue[d.counts[QUEUE_HEAD]]
        d.counts[QUEUE_HEAD] = (d.counts[QUEUE_HEAD] + 1) % len(d.queue)
        d.counts[QUEUE_COUNT] -= 1
        if outcome == SEARCH_SUCCEEDED:
            outcome = _revise(h, d, f)
        d.queued[f] = False  # only now: its own drops cannot remove a support it found
    return outcome


@jit
def _revise(h, d, f):
    """Drop states that no possible entry of `f` supports; return a variable without any other."""
    for slot in range(h.factor_start[f], h.factor_start[f + 1]):
        i = h.variables[slot]
        before = d.size[i]
        for k in range(before - 1, -1, -1):
            if _has_support(h, d, f, slot, k):
                continue
            if d.size[i] == 1:
                return i
            _swap(h, d, i, k, d.size[i] - 1)
            _drop(d, i)
        if d.size[i] < before:
            _enqueue(h, d, i)
    return SEARCH_SUCCEEDED


@jit
def _has_support(h, d, f, own, k):
    """Return whether some entry of `f` with the k-th state at slot `own` is possible."""
    first, last = h.factor_start[f], h.factor_start[f + 1]
    entry = h.table_start[f]
    for slot in range(first, last):
        digit = k if slot == own else 0
        d.digit[slot - first] = digit
        entry += d.states[h.state_start[h.variables[slot]] + digit] * h.strides[slot]
    while h.log_tables[entry] == -np.inf:
        slot = last - 1
        while slot >= first:  # the next combination, like an odometer
            if slot != own:
                i = h.variables[slot]
                old = d.digit[slot - first]
                new = old + 1 if old + 1 < d.size[i] else 0
                start = h.state_start[i]
                entry += (d.states[start + new] - d.states[start + old]) * h.strides[slot]
                d.digit[slot - first] = new
                if new > 0:
                    break
            slot -= 1
        if slot < first:
            return False
    return True
