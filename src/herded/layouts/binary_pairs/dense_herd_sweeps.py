"""Sweeps of a herd in which lanes are members: binary variables with pair interactions.

A visit sums the fields of all members over the neighbours of its variable, then looks their p up,
then lets them draw together (`draws.systematic`), in an order that is drawn at each visit. States
lie in masks of a byte, 0 or -1: a coupling counts where the mask of a neighbour lets it through.

Masks of neighbours are brought together before they are summed, so that the sum runs over
addresses that the compiler foresees: it would not vectorise it otherwise. Variables that follow
each other and have the same neighbours, such as the layers of a Boltzmann machine, share that: they
are no neighbours of themselves, so nothing has changed.
"""

import numpy as np

from herded.draws.integer_types import I1, I4, U4, U8
from herded.draws.systematic import (
    NO_SECOND_PHASE,
    draw_members,
    fresh_phase,
    order_offsets,
    second_phase,
)
from herded.layouts.binary_pairs.arrays import fixed_sigmoid
from herded.layouts.binary_pairs.herd_arrays import fixed_point_multiplier
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.general.site_herd_sweeps import count_members_in_state_1, write_sample
from herded.layouts.visit_order import RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

MEMBERS_PER_CHUNK = 32  # members whose fields are summed side by side: four words of eight masks
NEIGHBOURS_PER_PASS = 8  # neighbours in one pass over them
_1, _2, _3, _4, _5, _6, _7 = U8(1), U8(2), U8(3), U8(4), U8(5), U8(6), U8(7)
_CHUNK, _WORDS = U8(MEMBERS_PER_CHUNK), U8(MEMBERS_PER_CHUNK // 8)


@jit
def dense_herd_sweeps(a, scan, orders, run, betas, m, block, first, last):
    """Run segments first..last-1 of the scan, over all sweeps of a block."""
    x, phases, tally, ones, width = m.x, m.phases, m.tally, m.ones, m.width
    link_start, neighbour, coupling, alone = a.link_start, a.neighbour, a.coupling, a.alone
    list_of, sigmoid = a.list_of, a.sigmoid
    n, rows_of_orders, flat = U8(orders.shape[1]), orders.shape[0], orders.reshape(-1)
    chunks, variables_of = (n + _CHUNK - _1) // _CHUNK, U8(len(x)) // n
    room = chunks * _CHUNK
    masks, field, p = np.zeros(variables_of * room, I1), np.empty(room, I4), np.empty(n, U4)
    near, most = np.empty(U8(a.most[0]) * room, I1), U8(a.most[0]) * _CHUNK
    words, near_words = masks.view(np.uint64), near.view(np.uint64)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        for o in range(len(order)):
            i = U8(order[o])
            set_masks(masks, i * room, x, i * n, n)
        gathered = -1
        for s in range(len(block)):
            clock = U8(run.sweep + s) * variables_of
            factor, shift = fixed_point_multiplier(betas[s] * a.scale[0], 31)
            if scan.policy[0] == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + U8(variables[0]))
            for o in range(len(order)):
                i = U8(order[o])
                e, count = U8(link_start[i]), U8(link_start[i + _1] - link_start[i])
                if list_of[i] != gathered:
                    gathered = list_of[i]
                    gather_neighbour_masks(words, chunks, neighbour, e, count, near_words, most)
                for c in range(chunks):
                    sum_fields_of_chunk(
                        field, c * _CHUNK, alone[i], near, c * most, coupling, e, count
                    )
                look_up_conditionals(field, p, n, factor, shift, sigmoid)
                if len(phases):
                    phi, second = phases[i], NO_SECOND_PHASE
                else:
                    phi = fresh_phase(run.key, clock + i)
                    second = second_phase(run.key, clock + i)
                r, q = order_offsets(random_bits(run.phase_key, clock + i), rows_of_orders, n)
                end, carries, total = draw_members(p, phi, second, flat, r, q, x, i * n, n)
                set_masks(masks, i * room, x, i * n, n)
                if len(phases):
                    phases[i] = end
                if len(tally):
                    tally[i] += total
                if len(ones):
                    count_members_in_state_1(ones, width, i, np.int64(n), carries)
                if block.shape[1]:
                    write_sample(block, s, i, x, n)


@jit
def set_masks(masks, at, x, start, n):
    """Set the masks of one variable: 0 or -1 for the states 0 and 1."""
    for k in range(n):
        masks[at + k] = -I1(x[start + k])


@jit
def gather_neighbour_masks(words, chunks, neighbour, e, count, near, most):
    """Gather the masks of neighbours, chunk by chunk, in words of eight."""
    for c in range(chunks):
        for link in range(count):
            at = (U8(neighbour[e + link]) * chunks + c) * _WORDS
            to = (c * most) // U8(8) + link * _WORDS
            near[to] = words[at]
            near[to + _1] = words[at + _1]
            near[to + _2] = words[at + _2]
            near[to + _3] = words[at + _3]


@jit
def sum_fields_of_chunk(field, at, alone, near, start, coupling, e, count):
    """Sum fields of a chunk of members of one variable, eight neighbours at a time."""
    for k in range(_CHUNK):
        field[at + k] = alone
    for link in range(U8(0), count, U8(NEIGHBOURS_PER_PASS)):
        c, o = e + link, start + link * _CHUNK
        c0, c1, c2, c3 = coupling[c], coupling[c + _1], coupling[c + _2], coupling[c + _3]
        c4, c5, c6, c7 = coupling[c + _4], coupling[c + _5], coupling[c + _6], coupling[c + _7]
        for k in range(_CHUNK):
            f01 = I4(masked_coupling(near[o + k], c0) + masked_coupling(near[o + _CHUNK + k], c1))
            f23 = I4(
                masked_coupling(near[o + _2 * _CHUNK + k], c2)
                + masked_coupling(near[o + _3 * _CHUNK + k], c3)
            )
            f45 = I4(
                masked_coupling(near[o + _4 * _CHUNK + k], c4)
                + masked_coupling(near[o + _5 * _CHUNK + k], c5)
            )
            f67 = I4(
                masked_coupling(near[o + _6 * _CHUNK + k], c6)
                + masked_coupling(near[o + _7 * _CHUNK + k], c7)
            )
            field[at + k] = I4(field[at + k] + I4(I4(f01 + f23) + I4(f45 + f67)))


@jit
def masked_coupling(mask, coupling):
    """Return what a neighbour adds to a field."""
    return I4(I4(mask) & coupling)


@jit
def look_up_conditionals(field, p, n, factor, shift, sigmoid):
    """Look up p of every member at scale 2^31, at an inverse temperature."""
    half = (np.int64(1) << shift) >> np.int64(1)
    for k in range(n):
        p[k] = fixed_sigmoid((np.int64(field[k]) * factor + half) >> shift, sigmoid)
