"""Sweeps of callback models (layout "function").

`visit` writes the logits of a variable for all members, `follow` updates what they keep after a
change: both are values that a kernel takes, and calls by their addresses; what they read is at
`place`, so that one kernel is there for all models. Where Numba cannot
compile them, the same loops run as plain Python (`py_func`), and all that is between two calls is
compiled all the same, so that the bits are the same.

Loops end where a conditional is no distribution, and say where in `alarm`: (1, variable, member).
"""

from typing import Any, NamedTuple

import numpy as np

from herded.draws.context_hashing import (
    find_slot,
    hash_neighbours,
    hash_one,
    hash_others,
    hash_state,
    needs_growth,
)
from herded.draws.fixed_point import VECTOR_ONE, WEIGHT_ONE, fixed_scalar, fixed_vector
from herded.draws.herded import herd_scalar, herd_vector, slack_vector
from herded.draws.herded_weights import (
    bin_scalar,
    bin_shift,
    bin_vector,
    bins_in_sweep,
    split_pools,
    start_scalar,
    start_vector,
)
from herded.draws.random import draw_scalar, draw_vector
from herded.draws.weight_modes import FULL, LAZY, MAX_BINS, POOLED, RANDOM_DRAW
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.visit_order import RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits


class CallbackArrays(NamedTuple):
    """The arrays that functions read and write, for all members."""

    place: Any  # their argument: the address of all that they read
    keeps: bool  # whether something follows changes
    x: np.ndarray  # (members, N)
    logits: np.ndarray  # (members, K)
    old: np.ndarray  # (members,) states before a visit
    alarm: np.ndarray  # (3,)


@jit
def callback_sweeps(visit, follow, own, c, f, scan, run, betas, m, p, whole, block, done):
    """Sweep one chain; `p` has room for a conditional by the vector rule, or is None.

    Arrays are taken out of their tuples above the loops, and few are handed on within them: Numba
    would count references, which takes as long as a draw.
    """
    place, keeps, logits, old = own.place, own.keeps, own.logits, own.old
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
    order, plane, row = variables.copy(), c.size // MAX_BINS, logits[0]
    scale = VECTOR_ONE if len(mode) == RANDOM_DRAW else WEIGHT_ONE
    for s in range(done[0], len(block)):
        is_plain = len(mode) == RANDOM_DRAW and scan.policy[0] != RANDOM
        if not (is_plain or begin_sweep(c, run, m, scan.policy, variables, order, whole, s)):
            return
        for o in range(len(order)):
            i = order[o]
            visit(i, place)
            old[0] = x[0, i]
            key, at, met = np.uint64(0), 0, False
            if len(mode) >= LAZY:
                key, at, met = find_weight(
                    mode, near_start, near, keys, first_slot, slots, filled, states_of, whole, i
                )
            hashed = np.uint64(key), at, met
            if p is None:
                zero, one = logits[0, 0], logits[0, 1]
                if not (zero < np.inf and one < np.inf and (zero > -np.inf or one > -np.inf)):
                    alarm[0], alarm[1], alarm[2] = 1, i, 0
                    return
                chance = fixed_scalar(zero, one, betas[s])
                if len(tally):
                    tally[i] += chance
                if len(mode) == RANDOM_DRAW:
                    new = random_scalar(run.key, run.sweep + s, len(cards), i, chance)
                else:
                    new = herd_scalar_visit(mode, run, chance, w, hashed, plane, i, s)
            else:
                if is_wrong(logits, cards[i], i, alarm):
                    return
                mean = fixed_vector(row, betas[s], cards[i], p, 0, scale)
                if len(tally):
                    for k in range(cards[i]):
                        tally[i * len(row) + k] += p[k]
                if len(mode) == RANDOM_DRAW:
                    new = random_vector(run.key, run.sweep + s, len(cards), i, p, cards[i])
                else:
                    new = herd_vector_visit(
                        mode, run, p, cards, mean, len(row), w, hashed, pool_start, plane, i, s
                    )
            block[s, i] = new
            if new != old[0]:
                if len(mode) == FULL:
                    follow_hash(whole, i, old[0], new)
                x[0, i] = new
                if keeps:
                    follow(i, place)
        done[0] = s + 1


@jit
def begin_sweep(c, run, m, policy, variables, order, whole, s):
    """Prepare sweep s of a block; return False if tables must grow first."""
    mode = len(c.mode)
    if mode >= LAZY and needs_growth(m.filled[0], m.slots[0], run.max_weights):
        return False
    if policy[0] == RANDOM:
        clock = np.uint64(run.sweep + s) * np.uint64(len(m.x))
        shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
    if mode == POOLED:
        split_pools(m.w, order, c.pool_start, c.width, c.size // MAX_BINS, run.sweep + s)
    if mode == FULL:
        whole[0] = hash_state(m.x)
    return True


@jit
def is_wrong(logits, states, i, alarm):
    """Return whether a member's conditional is no distribution: NaN, +inf, or all -inf."""
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
def draw_bits(key, sweep, n, i):
    """Return the random bits of variable i of n in a sweep."""
    return random_bits(key, np.uint64(sweep) * np.uint64(n) + np.uint64(i))


@jit
def random_scalar(key, sweep, n, i, p):
    """Return the state of binary variable i, drawn."""
    return np.int64(draw_scalar(draw_bits(key, sweep, n, i), p))


@jit
def random_vector(key, sweep, n, i, p, states):
    """Return the state of a variable of any cardinality, drawn."""
    return np.int64(draw_vector(draw_bits(key, sweep, n, i), p, 0, states))


@jit
def herd_scalar_visit(mode, run, p, w, hashed, plane, i, s):
    """Return the state of binary variable i in sweep s of a block, herded by the scalar rule.

    `hashed` is what `find_weight` gives.
    """
    key, at, met = hashed
    if len(mode) == POOLED:
        at = i + bin_scalar(p, bin_shift(bins_in_sweep(run.sweep + s))) * plane
    elif met:
        start_scalar(w, np.uint64(at), run.random_phases, run.phase_key, key)
    return np.int64(herd_scalar(w, np.uint64(at), p))


@jit
def herd_vector_visit(mode, run, p, cards, mean, widest, w, hashed, pool_start, plane, i, s):
    """Return the state of a variable of any cardinality, herded by the vector rule."""
    (key, at, met), states = hashed, cards[i]
    if len(mode) == POOLED:
        at = np.int64(
            pool_start[i] + bin_vector(mean, states, bins_in_sweep(run.sweep + s)) * plane
        )
    else:
        at = np.int64(at * widest)
        if met:
            start_vector(w, at, states, run.random_phases, run.phase_key, key)
    if run.slack == 0:
        return np.int64(herd_vector(w, at, p, 0, states))
    bits = draw_bits(run.key, run.sweep + s, len(cards), i)
    return np.int64(slack_vector(w, at, p, 0, states, run.slack, bits))


@jit
def find_weight(mode, near_start, near, keys, first_slot, slots, filled, x, whole, i):
    """Return the key of a visit's context, the place of its weight, and whether it is new."""
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
    """Return the hash of the whole state after a change."""
    whole[0] ^= hash_one(i, old) ^ hash_one(i, new)
