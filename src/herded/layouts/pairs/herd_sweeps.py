"""Sweeps of a herd in which members are bytes: any variables with pair interactions.

A visit multiplies, member by member in a shuffled order, the rows that its neighbours' states name.
From there on lanes are members. Weights are folded in halves, w[c] + w[c + half], until one number
is left: that is a tree, whose node half + c has the share of its right branch, w[c + half] of both.
All shares are divided out at once; then members go down the tree, level by level: each adds a
node's share to a phase of that node, at scale 2^31, and a carry is a step to the right. States are
kept with their bits reversed (`pairs_herd_sweeps`), so that the first step, of the last fold, tells
the lower half of the states from the upper one.

A node has two phases, one for shares below 1/2 and one for the others, as on Potts lattices
(`layouts.potts.herd_conditionals`): energies have less noise for it.
"""

import numpy as np

from herded.draws.fixed_point import PHASE_MASK
from herded.draws.integer_types import U4, U8
from herded.draws.systematic import HALF_PHASE_U4, order_offsets
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.general.site_herd_sweeps import write_sample
from herded.layouts.potts.herd_conditionals import (
    GOLDEN_TURN_U4,
    NO_BITS_U4,
    fraction_of,
    lighter_share,
)
from herded.layouts.visit_order import RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

PHASE_ONE_U4, CARRY_SHIFT_U4 = U4(2**31), U4(31)
_NONE = np.float32(0.0)
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (U8(c) for c in range(9))


@jit
def pairs_herd_sweeps(a, scales, scan, orders, run, betas, m, block, first, last):
    """Run segments first..last-1 of the scan, over all sweeps of a block.

    `scales` are 2^31, 2^30 and 2^-24 in the type of weights.
    """
    x, kept, tally, ones, widest = m.x, m.phases, m.tally, m.ones, m.width
    alone, rows, link_start, steps = a.alone, a.rows, a.start, a.steps
    n, rows_of_orders, flat = U8(orders.shape[1]), orders.shape[0], orders.reshape(-1)
    variables_of = U8(len(x)) // n
    width, leaf = U8(len(alone)) // variables_of, a.leaf
    one, recorded, unit = scales
    w, shares = np.zeros(_2 * width * n, alone.dtype), np.zeros(width * n, np.uint32)
    fraction, factor = np.zeros(n, alone.dtype), np.zeros(n, alone.dtype)
    phases, place = np.zeros(_2 * width, np.uint32), np.zeros(n, np.uint32)
    members = np.zeros(n, np.uint32)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        for s in range(len(block)):
            clock = U8(run.sweep + s) * variables_of
            if scan.policy[0] == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + U8(variables[0]))
            for o in range(len(order)):
                i = U8(order[o])
                e, end = U8(link_start[i]), U8(link_start[i + _1])
                top = width >> U8(steps[i])
                q, r = order_offsets(random_bits(run.phase_key, clock + i), rows_of_orders, n)
                for j in range(n):
                    members[j] = flat[q + U8(flat[r + j])]
                if width == _4:
                    multiply_four(alone, i * width, a.at, a.row, e, end, x, members, rows, w)
                else:
                    multiply_member_rows(
                        alone, i * width, a.at, a.row, e, end, x, members, rows, w, width
                    )
                fold_weights(w, n, width, top, shares, one)
                fill_phases(phases, kept, run.key, clock + i, i, width)
                for j in range(n):
                    place[j] = NO_BITS_U4  # of a variable of one state, which has no tree
                if top < width:
                    descend_first_level(shares, top, n, phases, place)
                    descend_levels(shares, top, width, n, phases, place)
                for j in range(n):
                    x[i * n + U8(members[j])] = leaf[place[j]]
                if len(kept):
                    for c in range(_2 * width):
                        kept[i * _2 * width + c] = phases[c] & PHASE_MASK
                if len(tally):
                    states = U8(m.cardinalities[i])
                    at = U8(widest) * i
                    bits = random_bits(random_bits(run.phase_key, clock + i), _0)
                    add_pair_conditionals(
                        w, leaf, n, width, states, recorded, unit, bits, fraction, factor, tally, at
                    )
                if len(ones):
                    for k in range(n):
                        ones[U8(widest) * i + U8(x[i * n + k])] += 1
                if block.shape[1]:
                    write_sample(block, s, i, x, n)


@jit
def multiply_member_rows(alone, start, at, row, e, end, x, members, rows, w, width):
    """Multiply unary terms and rows into weights of all states, by member.

    Loops lie in one function: Numba counts references to arrays in every call.
    """
    n = U8(len(members))
    for j in range(n):
        k = U8(members[j])
        for block in range(_0, width, _8):
            o, to = start + block, (width + block) * n + j
            a, b, c, d = alone[o], alone[o + _1], alone[o + _2], alone[o + _3]
            f, g, h, i = alone[o + _4], alone[o + _5], alone[o + _6], alone[o + _7]
            for link in range(e, end):
                r = U8(row[link]) + U8(x[U8(at[link]) + k]) * width + block
                a, b, c, d = a * rows[r], b * rows[r + _1], c * rows[r + _2], d * rows[r + _3]
                f, g, h, i = f * rows[r + _4], g * rows[r + _5], h * rows[r + _6], i * rows[r + _7]
            w[to], w[to + n], w[to + _2 * n], w[to + _3 * n] = a, b, c, d
            w[to + _4 * n], w[to + _5 * n], w[to + _6 * n], w[to + _7 * n] = f, g, h, i


@jit
def multiply_four(alone, start, at, row, e, end, x, members, rows, w):
    """Do the same for up to four states."""
    n = U8(len(members))
    for j in range(n):
        k, to = U8(members[j]), _4 * n + j
        a, b, c, d = alone[start], alone[start + _1], alone[start + _2], alone[start + _3]
        for link in range(e, end):
            r = U8(row[link]) + U8(x[U8(at[link]) + k]) * _4
            a, b, c, d = a * rows[r], b * rows[r + _1], c * rows[r + _2], d * rows[r + _3]
        w[to], w[to + n], w[to + _2 * n], w[to + _3 * n] = a, b, c, d


@jit
def fold_weights(w, n, width, top, shares, one):
    """Sum nodes from `top` on: leaf c is in row width + c, node m in row m; store shares."""
    half = width >> _1
    while half >= top:
        for c in range(_0, half, top):  # between them are places without a state
            node, left, right = (half + c) * n, (_2 * half + c) * n, (_3 * half + c) * n
            for k in range(n):
                a, b = w[left + k], w[right + k]
                w[node + k] = a + b
                small = U4(lighter_share(a, b, one))
                shares[node + k] = U4(PHASE_ONE_U4 - small) if b > a else small
        half = half >> _1


@jit
def fill_phases(phases, kept, key, name, i, width):
    """Fill phases of all nodes: stored ones, or fresh ones, two from each draw."""
    if len(kept):
        for c in range(_2 * width):
            phases[c] = kept[i * _2 * width + c] & PHASE_MASK
    else:
        for node in range(_1, width):
            bits = random_bits(key, name * width + node)
            phases[_2 * node] = U4(bits) & PHASE_MASK
            phases[_2 * node + _1] = U4(bits >> U8(32)) & PHASE_MASK


@jit
def descend_first_level(shares, top, n, phases, place):
    """Send all members through the first node of a tree."""
    low, high = phases[_2 * top], phases[_2 * top + _1]
    for j in range(n):
        part = shares[top * n + j]
        few = NO_BITS_U4 if part >= HALF_PHASE_U4 else part
        a, b = U4(low + few), U4(high + U4(part - few))
        moved = U4(U4(low ^ a) | U4(high ^ b))
        place[j] = U4(U4(moved >> CARRY_SHIFT_U4) & U4(1)) * U4(top)
        low, high = a, b
    phases[_2 * top], phases[_2 * top + _1] = low, high


@jit
def descend_levels(shares, top, width, n, phases, place):
    """Send all members through the nodes they have reached, level by level.

    Where a level is one loop, the processor knows early which phases it will need.
    """
    half = _2 * top
    while half < width:
        for j in range(n):
            node = half + U8(place[j])
            part = shares[node * n + j]
            at = _2 * node + U8(part >= HALF_PHASE_U4)
            old = phases[at]
            new = U4(old + part)
            phases[at] = new
            place[j] += U4(U4(U4(old ^ new) >> CARRY_SHIFT_U4) & U4(1)) * U4(half)
        half = half << _1


@jit
def add_pair_conditionals(
    w, leaf, n, width, states, recorded, unit, bits, fraction, factor, tally, at
):
    """Add the conditionals of all members at the scale `recorded`, rounded at random.

    From one member to the next the random number `bits` moves on by 0.618. Each state is rounded by
    itself, so that rare ones are right on average. An impossible state has 0.
    """
    for k in range(n):
        factor[k] = w[width * n + k]  # the place of state 0 is 0
    for c in range(_1, states):
        row = (width + U8(leaf[c])) * n
        for k in range(n):
            factor[k] += w[row + k]
    for k in range(n):
        factor[k] = recorded / (factor[k] if factor[k] > _NONE else recorded)
        fraction[k] = fraction_of(U4(U4(bits) + U4(U4(k) * GOLDEN_TURN_U4)), unit)
    for c in range(states):
        row, total = (width + U8(leaf[c])) * n, np.int64(0)
        for k in range(n):
            total += np.int64(np.int32(w[row + k] * factor[k] + fraction[k]))
        tally[at + c] += total
