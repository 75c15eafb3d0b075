"""Sweeps of models whose conditionals are functions of one's own (layout "function").

`visit` writes the logits of a variable for all members, `follow` updates what they keep after a
change: both are values that a kernel takes, and calls by their addresses. Where Numba cannot
compile them, the same loops run as plain Python (`py_func`), and all that is between two calls is
compiled all the same, so that the bits are the same.

Loops end where a conditional is no distribution, and say where in `alarm`: (1, variable, member).
"""

from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import fixed_scalar, fixed_vector
from herded.draws.hashing import (
    find_slot,
    hash_neighbours,
    hash_one,
    hash_others,
    hash_state,
    is_to_grow,
)
from herded.draws.herded import herd_scalar, herd_vector, slack_vector
from herded.draws.modes import DRAW, FULL, LAZY, MAX_BINS, POOLED
from herded.draws.phases import (
    bin_scalar,
    bin_shift,
    bin_vector,
    bins_at,
    split_pools,
    start_scalar,
    start_vector,
)
from herded.draws.random import draw_scalar, draw_vector
from herded.layouts.arrays import shuffle
from herded.layouts.scan import RANDOM
from herded.system.jit import jit
from herded.system.stream import draw


class OwnArrays(NamedTuple):
    """What the functions read and write, for all members."""

    seen: np.ndarray  # (members, N) the states, read-only
    x: np.ndarray  # the same, to be written
    read: tuple[np.ndarray, ...]  # what members keep, read-only
    kept: tuple[np.ndarray, ...]  # the same, to be written
    logits: np.ndarray  # (members, K)
    old: np.ndarray  # (members,) states before a visit
    alarm: np.ndarray  # (3,)


@jit
def function_sweeps(visit, follow, data, own, c, f, scan, run, betas, m, p, whole, block, done):
    """One chain. `p` is room for a conditional by the vector rule, None by the scalar one.

    Arrays are taken out of their tuples above the loops: within them Numba would count references.
    """
    seen, read, kept, logits, old = own.seen, own.read, own.kept, own.logits, own.old
    x, alarm, variables, cards, states_of = own.x, own.alarm, scan.order, f.cardinalities, m.x
    w, keys, tally, filled, first_slot, slots = (
        m.w,
        m.keys,
        m.tally,
        m.filled,
        m.slot_start,
        m.slots,
    )
    near_start, near, pool_start, mode = f.neighbour_start, f.neighbour, c.pool_start, c.mode
    order, plane = variables.copy(), c.size // MAX_BINS
    for s in range(done[0], len(block)):
        is_plain = len(mode) == DRAW and scan.policy[0] != RANDOM
        if not (is_plain or begin_sweep(c, run, m, scan.policy, variables, order, whole, s)):
            return
        for o in range(len(order)):
            i = order[o]
            visit(i, cards[i], seen, read, data, logits)
            if is_wrong(logits, cards[i], i, alarm):
                return
            old[0] = x[0, i]
            key, at, met = np.uint64(0), 0, False
            if len(mode) >= LAZY:
                key, at, met = find_weight(
                    mode, near_start, near, keys, first_slot, slots, filled, states_of, whole, i
                )
            hashed, place = (np.uint64(key), at, met), (i, s, len(cards))
            if p is None:
                new = settle_scalar(mode, run, logits, betas[s], w, hashed, plane, tally, place)
            else:
                new = settle_vector(
                    mode, run, logits, betas[s], p, cards[i], w, hashed, pool_start, plane, tally,
                    place,
                )  # fmt: skip
            block[s, i] = new
            if new != old[0]:
                if len(mode) == FULL:
                    follow_hash(whole, i, old[0], new)
                x[0, i] = new
                if follow is not None:
                    follow(i, old, seen, kept, data)
        done[0] = s + 1


@jit
def begin_sweep(c, run, m, policy, variables, order, whole, s):
    """What comes before the visits of sweep s of a block; False if tables must grow first."""
    mode = len(c.mode)
    if mode >= LAZY and is_to_grow(m.filled[0], m.slots[0], run.max_weights):
        return False
    if policy[0] == RANDOM:
        clock = np.uint64(run.sweep + s) * np.uint64(len(m.x))
        shuffle(order, variables, run.phase_key, clock + np.uint64(variables[0]))
    if mode == POOLED:
        split_pools(m.w, order, c.pool_start, c.width, c.size // MAX_BINS, run.sweep + s)
    if mode == FULL:
        whole[0] = hash_state(m.x)
    return True


@jit
def is_wrong(logits, states, i, alarm):
    """Whether some member's conditional is no distribution: NaN, +inf, or impossible in all."""
    for k in range(len(logits)):
        top = -np.inf
        for c in range(states):
            value = logits[k, c]
            top = value if not value <= top else top  # NaN stays, +inf too
        if not -np.inf < top < np.inf:
            alarm[0], alarm[1], alarm[2] = 1, i, k
            return True
    return False


@jit
def settle_scalar(mode, run, logits, beta, w, hashed, plane, tally, place):
    """The next state of a binary variable, by the scalar rule.

    `hashed` is what `find_weight` gives, `place` (variable, sweep of the block, all variables).
    """
    (key, at, met), (i, s, n) = hashed, place
    clock = np.uint64(run.sweep + s) * np.uint64(n) + np.uint64(i)
    p = fixed_scalar(logits[0, 0], logits[0, 1], beta)
    if len(tally):
        tally[i] += p
    if len(mode) == DRAW:
        return np.int64(draw_scalar(draw(run.key, clock), p))
    if len(mode) == POOLED:
        at = i + bin_scalar(p, bin_shift(bins_at(run.sweep + s))) * plane
    elif met:
        start_scalar(w, np.uint64(at), run.random_phases, run.phase_key, key)
    return np.int64(herd_scalar(w, np.uint64(at), p))


@jit
def settle_vector(mode, run, logits, beta, p, states, w, hashed, pool_start, plane, tally, place):
    """The next state of a variable of any cardinality, by the vector rule."""
    (key, at, met), (i, s, n) = hashed, place
    clock, widest = np.uint64(run.sweep + s) * np.uint64(n) + np.uint64(i), logits.shape[1]
    mean = fixed_vector(logits[0], beta, states, p, 0)
    if len(tally):
        for k in range(states):
            tally[i * widest + k] += p[k]
    if len(mode) == DRAW:
        return np.int64(draw_vector(draw(run.key, clock), p, 0, states))
    if len(mode) == POOLED:
        at = np.int64(pool_start[i] + bin_vector(mean, states, bins_at(run.sweep + s)) * plane)
    else:
        at = np.int64(at * widest)
        if met:
            start_vector(w, at, states, run.random_phases, run.phase_key, key)
    if run.slack == 0:
        return np.int64(herd_vector(w, at, p, 0, states))
    return np.int64(slack_vector(w, at, p, 0, states, run.slack, draw(run.key, clock)))


@jit
def find_weight(mode, near_start, near, keys, first_slot, slots, filled, x, whole, i):
    """The key of a visit's context, where its weight is in the table, and whether it is new."""
    first = first_slot[0]
    table = keys[first : first + slots[0]]
    if len(mode) == FULL:
        key = hash_others(whole[0], i, x[i])
    else:
        key = hash_neighbours(near_start, near, i, x)
    slot, met = find_slot(table, filled, 0, key)
    return key, first + slot, met


@jit
def follow_hash(whole, i, old, new):
    """The hash of the whole state after a change."""
    whole[0] ^= hash_one(i, old) ^ hash_one(i, new)
