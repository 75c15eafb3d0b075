"""Herds of callback models: all members visit a variable at once."""

from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import PHASE_MASK, VECTOR_ONE, fixed_scalar, fixed_vector
from herded.draws.systematic import (
    NO_SECOND_PHASE,
    draw_members,
    fresh_phase,
    order_offsets,
    second_phase,
)
from herded.layouts.callback.sweeps import is_wrong
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.general.site_herd_sweeps import cumulate_and_split, descend_splits
from herded.layouts.visit_order import RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_0 = np.uint64(0)


class SystematicDrawArrays(NamedTuple):
    """The arrays that a herd's draws read and write."""

    cardinalities: np.ndarray
    orders: np.ndarray
    phases: np.ndarray  # kept ones, (N,) or (N * width); else empty
    tally: np.ndarray
    ones: np.ndarray
    new: np.ndarray  # (members,) the states that were drawn
    p: np.ndarray  # (members,) of state 1, or of the upper half of the states
    upto: np.ndarray  # (members * (K + 1),) conditionals added up; empty by the scalar rule


@jit
def callback_herd_sweeps(visit, follow, own, h, scan, run, betas, block):
    """Sweep a herd."""
    place, keeps, logits, old = own.place, own.keeps, own.logits, own.old
    x, alarm, variables, cards = own.x, own.alarm, scan.order, h.cardinalities
    order = variables.copy()
    for s in range(len(block)):
        if scan.policy[0] == RANDOM:
            clock = np.uint64(run.sweep + s) * np.uint64(len(cards))
            shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
        for o in range(len(order)):
            i = order[o]
            visit(i, place)
            if is_wrong(logits, cards[i], i, alarm):
                return
            if len(h.upto):
                draw_vectors(h, run, logits, i, s, betas[s])
            else:
                draw_scalars(h, run, logits, i, s, betas[s])
            has_changed = write_member_states(h, x, old, block, i, s)
            if keeps and has_changed:
                follow(i, place)


@jit
def draw_scalars(h, run, logits, i, s, beta):
    """Draw a binary variable in all members: one phase, or two for few members."""
    n, p, phases = np.uint64(len(logits)), h.p, h.phases
    clock = np.uint64(run.sweep + s) * np.uint64(len(h.cardinalities)) + np.uint64(i)
    for k in range(n):
        p[k] = fixed_scalar(logits[k, 0], logits[k, 1], beta)
    if len(phases):
        phi, second = phases[i] & PHASE_MASK, NO_SECOND_PHASE
    else:
        phi, second = fresh_phase(run.key, clock), second_phase(run.key, clock)
    a, b = order_offsets(random_bits(run.phase_key, clock), h.orders.shape[0], n)
    end, _, total = draw_members(p, phi, second, h.orders.reshape(-1), a, b, h.new, _0, n)
    if len(phases):
        phases[i] = end
    if len(h.tally):
        h.tally[i] += total


@jit
def draw_vectors(h, run, logits, i, s, beta):
    """Draw a variable of any cardinality: a phase for each split of the states in two."""
    n, widest, states, new = np.uint64(len(logits)), logits.shape[1], h.cardinalities[i], h.new
    clock = np.uint64(run.sweep + s) * np.uint64(len(h.cardinalities)) + np.uint64(i)
    phases, flat, upto, first = h.phases, h.orders.reshape(-1), h.upto, np.int64(i) * widest
    phi, own = np.zeros(widest, np.uint32), np.empty(widest, np.int32)
    for k in range(1, states):
        if len(phases):
            phi[k] = phases[first + k] & PHASE_MASK
        else:
            phi[k] = fresh_phase(run.key + np.uint64(k), clock)
    root, second = states >> 1, NO_SECOND_PHASE
    if not len(phases):
        second = second_phase(run.key + np.uint64(root), clock)
    for k in range(n):
        fixed_vector(logits[k], beta, states, own, 0, VECTOR_ONE)
        h.p[k] = cumulate_and_split(own, 0, states, upto, np.int64(k) * (widest + 1))
        if len(h.tally):
            for c in range(states):
                h.tally[first + c] += own[c]
    a, b = order_offsets(random_bits(run.phase_key, clock), h.orders.shape[0], n)
    phi[root], _, _ = draw_members(h.p, phi[root], second, flat, a, b, new, _0, n)
    for j in range(n):
        k = np.uint64(flat[a + np.uint64(flat[b + j])])
        at = np.int64(k) * (widest + 1)
        if new[k]:
            new[k] = descend_splits(phi, upto, at, root, states)
        else:
            new[k] = descend_splits(phi, upto, at, 0, root)
    if len(phases):
        for k in range(1, states):
            phases[first + k] = phi[k]


@jit
def write_member_states(h, x, old, block, i, s):
    """Write new states down and count them; whether some member has changed."""
    n_variables, ones, has_changed = len(h.cardinalities), h.ones, False
    width = len(ones) // n_variables
    for k in range(len(x)):
        value = np.int64(h.new[k])
        old[k] = x[k, i]
        has_changed |= value != old[k]
        x[k, i] = value
        if len(ones):
            if width == 1:
                ones[i] += value
            else:
                ones[i * width + value] += 1
        if block.shape[1]:
            block[s, k * n_variables + i] = value
    return has_changed
