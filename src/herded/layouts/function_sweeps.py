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
    """One chain. `p` is room for a conditional by the vector rule, None by the scalar one."""
    seen, read, kept, logits, old = own.seen, own.read, own.kept, own.logits, own.old
    x, alarm, variables, cards = own.x, own.alarm, scan.order, f.cardinalities
    order = variables.copy()
    for s in range(done[0], len(block)):
        if not begin_sweep(c, run, m, scan.policy, variables, order, whole, s):
            return
        for o in range(len(order)):
            i = order[o]
            visit(i, cards[i], seen, read, data, logits)
            if is_wrong(logits, cards[i], i, alarm):
                return
            old[0] = x[0, i]
            if p is None:
                new = settle_scalar(c, f, run, m, logits, whole, i, s, betas[s])
            else:
                new = settle_vector(c, f, run, m, logits, p, whole, i, s, betas[s])
            block[s, i] = new
            if new != old[0]:
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
def settle_scalar(c, f, run, m, logits, whole, i, s, beta):
    """The next state of a binary variable, by the scalar rule."""
    mode, w = len(c.mode), m.w
    clock = np.uint64(run.sweep + s) * np.uint64(len(m.x)) + np.uint64(i)
    p = fixed_scalar(logits[0, 0], logits[0, 1], beta)
    if len(m.tally):
        m.tally[i] += p
    if mode == DRAW:
        return np.int64(draw_scalar(draw(run.key, clock), p))
    if mode == POOLED:
        shift = bin_shift(bins_at(run.sweep + s))
        at = np.uint64(i + bin_scalar(p, shift) * (c.size // MAX_BINS))
    else:
        key, slot, met = find_weight(c, f, m, whole, i)
        at = np.uint64(slot)
        if met:
            start_scalar(w, at, run.random_phases, run.phase_key, key)
    new = np.int64(herd_scalar(w, at, p))
    if mode == FULL:
        whole[0] ^= hash_one(i, m.x[i]) ^ hash_one(i, new)
    return new


@jit
def settle_vector(c, f, run, m, logits, p, whole, i, s, beta):
    """The next state of a variable of any cardinality, by the vector rule."""
    mode, w, states, widest = len(c.mode), m.w, c.width[i], logits.shape[1]
    clock = np.uint64(run.sweep + s) * np.uint64(len(m.x)) + np.uint64(i)
    mean = fixed_vector(logits[0], beta, states, p, 0)
    if len(m.tally):
        for k in range(states):
            m.tally[i * widest + k] += p[k]
    if mode == DRAW:
        return np.int64(draw_vector(draw(run.key, clock), p, 0, states))
    if mode == POOLED:
        bin_of = bin_vector(mean, states, bins_at(run.sweep + s))
        at = np.int64(c.pool_start[i] + bin_of * (c.size // MAX_BINS))
    else:
        key, slot, met = find_weight(c, f, m, whole, i)
        at = np.int64(slot * widest)
        if met:
            start_vector(w, at, states, run.random_phases, run.phase_key, key)
    if run.slack == 0:
        new = np.int64(herd_vector(w, at, p, 0, states))
    else:
        new = np.int64(slack_vector(w, at, p, 0, states, run.slack, draw(run.key, clock)))
    if mode == FULL:
        whole[0] ^= hash_one(i, m.x[i]) ^ hash_one(i, new)
    return new


@jit
def find_weight(c, f, m, whole, i):
    """The key of a visit's context, where its weight is in the table, and whether it is new."""
    first = m.slot_start[0]
    table = m.keys[first : first + m.slots[0]]
    if len(c.mode) == FULL:
        key = hash_others(whole[0], i, m.x[i])
    else:
        key = hash_neighbours(f.neighbour_start, f.neighbour, i, m.x)
    slot, met = find_slot(table, m.filled, 0, key)
    return key, first + slot, met
