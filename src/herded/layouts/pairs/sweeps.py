"""Sweeps over products of rows (layout "pairs"): any cardinalities, pair interactions, vector rule.

As in `layouts.general.site_sweeps`, the function counts in `done` the sweeps of each segment. Where
all variables have three or four states a visit stays in registers, and where they have five to
eight its products do; for others it writes down K numbers at a time.
"""

import numpy as np

from herded.draws.fixed_point import VECTOR_BITS, VECTOR_ONE, WEIGHT_ONE
from herded.draws.herded import NEVER_CHOSEN, VECTOR_ONE_INT, herd_vector, slack_vector
from herded.draws.herded_weights import bin_vector, bins_in_sweep, split_pools
from herded.draws.weight_modes import MAX_BINS, POOLED, RANDOM_DRAW
from herded.layouts.binary_pairs.arrays import LINK_BITS, neighbour_of
from herded.layouts.chain_arrays import publish_jacobi_sweep, shuffle_visits
from herded.layouts.pairs.arrays import MAX_REGISTER_STATES
from herded.layouts.visit_order import JACOBI, RANDOM
from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import max_value
from herded.system.numerics.counter_rng import random_bits

_0, _1, _2, _3, _4, _5, _6, _7, _34 = (np.uint64(u) for u in (*range(8), 64 - VECTOR_BITS))


@jit
def pair_sweeps(q, c, scan, run, m, block, done, first, last):
    """Sweep with pooled weights, or with draws."""
    mode, policy, n = len(c.mode), scan.policy[0], np.uint64(len(m.x))
    common, cardinalities, alone = len(q.states), q.cardinalities, q.alone
    start, links, rows = q.start, q.links, q.rows
    pool_start, plane, widths = c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, tally = m.x, m.y, m.w, m.tally
    width, widest = len(alone) // len(x), max_value(cardinalities)
    upto, p = np.empty(width), np.empty(width, np.int32)
    one = VECTOR_ONE if mode == RANDOM_DRAW else WEIGHT_ONE
    few = (common == 3 or common == 4) and (mode == RANDOM_DRAW or run.slack == 0)
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        for s in range(done[g], len(block)):
            clock = np.uint64(run.sweep + s) * n
            bins = bins_in_sweep(run.sweep + s)
            row = block[s]
            if policy == RANDOM:
                shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if mode == POOLED:
                split_pools(w, order, pool_start, widths, plane, run.sweep + s)
            for o in range(len(order)):
                i = np.uint32(order[o])
                if few:
                    a, b, d = cumulate_up_to_4(alone, start, links, rows, i, common, x, one)
                    if mode == RANDOM_DRAW:
                        new = draw_of_4(random_bits(run.key, clock + np.uint64(i)), a, b, d)
                    else:
                        mean = 3 * VECTOR_ONE_INT - a - b - d
                        at = pool_start[i] + bin_vector(mean, common, bins) * plane
                        new = herd_of_4(w, np.uint64(at), a, b, d, common)
                    if len(tally):
                        add_up_to_4(tally, np.uint64(i * widest), a, b, d, common, one)
                else:
                    states = common if common else cardinalities[i]
                    if 4 < common <= MAX_REGISTER_STATES:
                        total = multiply_eight(alone, start, links, rows, i, states, x, upto)
                    else:
                        total = multiply_rows(alone, start, links, rows, width, i, states, x, upto)
                    mean = (
                        round_cumulated(upto, total, states, p, one)
                        if mode != RANDOM_DRAW or len(tally)
                        else 0
                    )
                    if mode == RANDOM_DRAW:
                        bits = random_bits(run.key, clock + np.uint64(i))
                        new = draw_many(bits, upto, total, states)
                    else:
                        at = pool_start[i] + bin_vector(mean, states, bins) * plane
                        if run.slack == 0:
                            new = herd_vector(w, at, p, 0, states)
                        else:
                            bits = random_bits(run.key, clock + np.uint64(i))
                            new = slack_vector(w, at, p, 0, states, run.slack, bits)
                    if len(tally):
                        for k in range(states):
                            tally[i * widest + k] += p[k]
                y[i] = new
                row[i] = new
            if policy == JACOBI:
                publish_jacobi_sweep(order, x, y)
            done[g] = s + 1


# -- three or four states ------------------------------------------------------------------------


@jit
def cumulate_up_to_4(alone, start, links, rows, i, states, x, one):
    """Return the cumulated conditional at scale `one`, without the last, which is 1.

    The loop looks for its end: the compiler would vectorise one that counts.
    """
    at = np.uint64(i) << _2
    a, b, c, d = alone[at], alone[at + _1], alone[at + _2], alone[at + _3]
    e, end = np.uint64(start[i]), np.uint64(start[np.uint64(i) + _1])
    while e < end:
        row = neighbour_row(links[e], x) << _2
        a *= rows[row]
        b *= rows[row + _1]
        c *= rows[row + _2]
        d *= rows[row + _3]
        e += _1
    b += a
    c += b
    d += c
    if d == 0.0:  # an unreachable context
        a, b, c, d = 1.0, 2.0, 3.0, np.float64(states)
    scale = one / d
    return np.int64(a * scale + 0.5), np.int64(b * scale + 0.5), np.int64(c * scale + 0.5)


@jit
def neighbour_row(link, x):
    """Return the number of a neighbour's row."""
    return np.uint64(link >> LINK_BITS) + np.uint64(x[neighbour_of(link)])


@jit
def draw_of_4(bits, a, b, c):
    """Return a random state: how many cumulated chances the draw is beyond."""
    left = np.int64(bits >> _34)
    return np.int64(left >= a) + np.int64(left >= b) + np.int64(left >= c)


@jit
def herd_of_4(w, at, a, b, c, states):
    """Do the same as `herd_vector`, without its loop.

    A state's number is written below its weight: so the largest says which one it is, and the
    compiler has nothing to make a branch of.
    """
    second, third, fourth = b - a, c - b, VECTOR_ONE_INT - c
    w_0, w_1, w_2 = w[at] + a, w[at + _1] + second, w[at + _2] + third
    key_0, key_1, key_2 = (
        weight_key_with_state(w_0, a, 0),
        weight_key_with_state(w_1, second, 1),
        weight_key_with_state(w_2, third, 2),
    )
    top = max(max(key_0, key_1), key_2)
    if states == 4:
        w_3 = w[at + _3] + fourth
        key_3 = weight_key_with_state(w_3, fourth, 3)
        top = max(top, key_3)
        w[at + _3] = w_3 - (np.int64(key_3 == top) << 24)
    w[at] = w_0 - (np.int64(key_0 == top) << 24)
    w[at + _1] = w_1 - (np.int64(key_1 == top) << 24)
    w[at + _2] = w_2 - (np.int64(key_2 == top) << 24)
    return 3 - (top & 3)


@jit
def weight_key_with_state(weight, chance, k):
    """Return a weight with its state below it, the first of equals the largest."""
    return (weight if chance > 0 else NEVER_CHOSEN) * 4 + (3 - k)


@jit
def add_up_to_4(tally, at, a, b, c, states, one):
    """Add a conditional to those seen."""
    tally[at] += a
    tally[at + _1] += b - a
    tally[at + _2] += c - b
    if states == 4:
        tally[at + _3] += np.int64(one) - c


# -- any number of states ------------------------------------------------------------------------


@jit
def multiply_rows(alone, start, links, rows, width, i, states, x, upto):
    """Cumulate what the conditional is proportional to; return the sum."""
    at = np.uint64(i) * np.uint64(width)
    for k in range(states):
        upto[k] = alone[at + np.uint64(k)]
    for e in range(start[i], start[np.uint64(i) + _1]):
        row = neighbour_row(links[e], x) * np.uint64(width)
        for k in range(states):
            upto[k] *= rows[row + np.uint64(k)]
    total = 0.0
    for k in range(states):
        total += upto[k]
        upto[k] = total
    return total if total > 0.0 else uniform_fallback(upto, states)


@jit
def multiply_eight(alone, start, links, rows, i, states, x, upto):
    """Return the same on rows of eight, without a way to memory and back for every neighbour."""
    at = np.uint64(i) << _3
    a, b, c, d = alone[at], alone[at + _1], alone[at + _2], alone[at + _3]
    a_4, b_4, c_4, d_4 = alone[at + _4], alone[at + _5], alone[at + _6], alone[at + _7]
    e, end = np.uint64(start[i]), np.uint64(start[np.uint64(i) + _1])
    while e < end:
        row = neighbour_row(links[e], x) << _3
        a *= rows[row]
        b *= rows[row + _1]
        c *= rows[row + _2]
        d *= rows[row + _3]
        a_4 *= rows[row + _4]
        b_4 *= rows[row + _5]
        c_4 *= rows[row + _6]
        d_4 *= rows[row + _7]
        e += _1
    b += a
    c += b
    d += c
    a_4 += d
    b_4 += a_4
    c_4 += b_4
    d_4 += c_4
    upto[0], upto[1], upto[2], upto[3] = a, b, c, d
    upto[4], upto[5], upto[6], upto[7] = a_4, b_4, c_4, d_4
    return d_4 if d_4 > 0.0 else uniform_fallback(upto, states)


@jit
def uniform_fallback(upto, states):
    """Return an unreachable context."""
    for k in range(states):
        upto[k] = k + 1.0
    return np.float64(states)


@jit
def round_cumulated(upto, total, states, p, one):
    """Round the conditional at scale `one` by cumulation; return its mean state."""
    scale, above = one / total, 0
    for k in range(states):
        p[k] = np.int32(upto[k] * scale + 0.5)
    for k in range(states):
        above += np.int64(one) - np.int64(p[k])
    for k in range(states - 1, 0, -1):
        p[k] -= p[k - 1]
    return above


@jit
def draw_many(bits, upto, total, states):
    """Draw as `draw_vector`, from cumulated values, with a loop of fixed length."""
    scale, left, new = VECTOR_ONE / total, np.int32(bits >> _34), np.int32(0)
    for k in range(states - 1):
        new += np.int32(left >= np.int32(upto[k] * scale + 0.5))
    return new
