"""Chains of a pairs layout side by side: links and rows are read once for sixteen of them.

A variable's states in the chains are neighbours in memory, its lanes, and products, conditionals
and weights lie in planes (states, lanes): loops over lanes have no branches, and the compiler
vectorises them. Each of the functions below is called once a visit, for a call with so many arrays
costs as much as a lane. The bits of every chain are those it has alone (`pairs`).
"""

import numpy as np

from herded.draws.fixed_point import VECTOR_ONE
from herded.draws.herded import ONE, slack_vector
from herded.draws.modes import DRAW, MAX_BINS, POOLED
from herded.draws.phases import bin_vector, bins_at, split_pools
from herded.layouts.field_arrays import LINK_BITS, neighbour_of
from herded.system.jit import jit
from herded.system.stream import draw

LANES = 16
LOWEST = np.int32(-(2**31))  # no weight of 32 bits comes down to it
_0, _ONE = np.int32(0), np.int32(ONE)
_LANES, _1, _2, _3, _4, _8, _40 = (np.uint64(u) for u in (LANES, 1, 2, 3, 4, 8, 40))


@jit
def pairs_together(q, slack, c, order, sweep, sweeps, keys, x, w, tally, blocks):
    """Pooled weights, or draws; the arrays are those of `scalar_together`."""
    for first in range(0, len(x), LANES):
        part = slice(first, min(first + LANES, len(x)))
        common = q, c, order, sweep, sweeps, keys[part], slack
        _advance_lanes(*common, x[part], w[part], tally[part], blocks[part])


@jit
def _advance_lanes(q, c, order, sweep, sweeps, keys, slack, x, w, tally, blocks):
    """As many chains as there are lanes, or fewer: lanes without a chain work in vain."""
    mode, chains, n = len(c.mode), x.shape[0], x.shape[1]
    common, cardinalities, alone = len(q.states), q.cardinalities, q.alone
    start, links, rows = q.start, q.links, q.rows
    pool_start, plane, widths = c.pool_start, c.size // MAX_BINS, c.width
    width, widest = len(alone) // n, np.uint64(cardinalities.max())
    now, flat = _lanes_of(x), w.reshape(-1)
    chain_start = np.minimum(np.arange(LANES), chains - 1) * w.shape[1]
    upto, p = np.empty(width * LANES), np.empty(width * LANES, np.int32)
    weights, one = np.empty(width * LANES, np.int32), np.empty(width, np.int32)
    scale, mean, place = np.empty(LANES), np.empty(LANES), np.empty(LANES, np.uint64)
    left, new = np.empty(LANES, np.int32), np.empty(LANES, np.int32)
    for s in range(sweeps):
        clock, bins = np.uint64(sweep + s) * np.uint64(n), bins_at(sweep + s)
        if mode == POOLED:
            for m in range(chains):
                split_pools(w[m], order, pool_start, widths, plane, sweep + s)
        for o in range(len(order)):
            i = np.uint64(order[o])
            states = common if common else cardinalities[i]
            if common == 3 or common == 4:
                _multiply_few(alone, start, links, rows, i, common, now, upto)
            else:
                _multiply(alone, start, links, rows, width, i, states, now, upto)
            _fix(upto, states, scale, p, mean)
            if mode == DRAW:
                _draw_lanes(keys, clock + i, p, states, left, new)
            else:
                _find(mean, states, bins, chain_start, pool_start[i], plane, place)
                if slack == 0:
                    _herd_lanes(flat, place, chains, p, states, weights, left, new)
                else:
                    _slack_lanes(flat, place, keys, clock + i, p, states, slack, one, new)
            for m in range(chains):
                now[i * _LANES + np.uint64(m)] = new[m]
                blocks[m, s, i] = new[m]
            if tally.shape[1]:
                _add_up(tally, i * widest, p, states)
    _write_states(now, x)


# -- products of rows ----------------------------------------------------------------------------


@jit
def _multiply_few(alone, start, links, rows, i, states, x, upto):
    """Three or four states: a row is chosen without a load, and a fourth of three never is."""
    at = i * _4
    for m in range(LANES):
        upto[m] = alone[at]
        upto[LANES + m] = alone[at + _1]
        upto[2 * LANES + m] = alone[at + _2]
        upto[3 * LANES + m] = alone[at + _3]
    last = _4 * np.uint64(states - 1)
    for e in range(start[i], start[i + _1]):
        row = np.uint64(links[e] >> LINK_BITS) * _4
        beside = np.uint64(neighbour_of(links[e])) * _LANES
        a, a_1, a_2, a_3 = rows[row], rows[row + _4], rows[row + _8], rows[row + last]
        row += _1
        b, b_1, b_2, b_3 = rows[row], rows[row + _4], rows[row + _8], rows[row + last]
        row += _1
        c, c_1, c_2, c_3 = rows[row], rows[row + _4], rows[row + _8], rows[row + last]
        row += _1
        d, d_1, d_2, d_3 = rows[row], rows[row + _4], rows[row + _8], rows[row + last]
        for m in range(LANES):
            state = x[beside + np.uint64(m)]
            is_1, is_2, is_3 = state == 1, state == 2, state == 3
            upto[m] *= a_1 if is_1 else a_2 if is_2 else a_3 if is_3 else a
            upto[LANES + m] *= b_1 if is_1 else b_2 if is_2 else b_3 if is_3 else b
            upto[2 * LANES + m] *= c_1 if is_1 else c_2 if is_2 else c_3 if is_3 else c
            upto[3 * LANES + m] *= d_1 if is_1 else d_2 if is_2 else d_3 if is_3 else d


@jit
def _multiply(alone, start, links, rows, width, i, states, x, upto):
    """Any number of states."""
    wide = np.uint64(width)
    for k in range(states):
        for m in range(LANES):
            upto[np.uint64(k) * _LANES + np.uint64(m)] = alone[i * wide + np.uint64(k)]
    for e in range(start[i], start[i + _1]):
        first = np.uint64(links[e] >> LINK_BITS) * wide
        beside = np.uint64(neighbour_of(links[e])) * _LANES
        for k in range(states):
            for m in range(LANES):
                row = first + np.uint64(x[beside + np.uint64(m)]) * wide
                upto[np.uint64(k) * _LANES + np.uint64(m)] *= rows[row + np.uint64(k)]


@jit
def _fix(upto, states, scale, p, mean):
    """The conditionals at scale 2^24, rounded by cumulation as everywhere, and their mean states.

    Loops run to len(mean): the compiler would unroll those to LANES and not vectorise them.
    """
    last, impossible = np.uint64(states - 1) * _LANES, False
    for k in range(1, states):
        at = np.uint64(k) * _LANES
        for m in range(len(mean)):
            upto[at + np.uint64(m)] += upto[at - _LANES + np.uint64(m)]
    for m in range(len(mean)):
        impossible |= upto[last + np.uint64(m)] == 0.0
    if impossible:  # an unreachable context
        for m in range(len(mean)):
            if upto[last + np.uint64(m)] == 0.0:
                for k in range(states):
                    upto[np.uint64(k) * _LANES + np.uint64(m)] = k + 1.0
    for m in range(len(mean)):
        scale[m] = VECTOR_ONE / upto[last + np.uint64(m)]
        mean[m] = 0.0
    for k in range(states):
        at = np.uint64(k) * _LANES
        for m in range(len(mean)):
            p[at + np.uint64(m)] = np.int32(upto[at + np.uint64(m)] * scale[m] + 0.5)
            mean[m] += VECTOR_ONE - p[at + np.uint64(m)]
    for k in range(states - 1, 0, -1):
        at = np.uint64(k) * _LANES
        for m in range(len(mean)):
            p[at + np.uint64(m)] -= p[at - _LANES + np.uint64(m)]


# -- new states ----------------------------------------------------------------------------------


@jit
def _draw_lanes(keys, clock, p, states, left, new):
    """How many cumulated chances each chain's draw is beyond."""
    for m in range(len(keys)):
        left[m] = draw(keys[m], clock) >> _40
    for m in range(len(new)):
        new[m] = 0
    for k in range(states - 1):
        at = np.uint64(k) * _LANES
        for m in range(len(new)):
            left[m] -= p[at + np.uint64(m)]
            new[m] += left[m] >= _0


@jit
def _find(mean, states, bins, chain_start, pool_start, plane, place):
    """Where each chain's weights begin: in the bin of its conditional."""
    for m in range(len(mean)):
        bin_start = bin_vector(mean[m], states, bins) * plane
        place[m] = np.uint64(chain_start[m] + pool_start + bin_start)


@jit
def _herd_lanes(w, place, chains, p, states, weights, top, new):
    """As `herd_vector`; lanes without a chain read the weights of another and write none."""
    for k in range(states):
        for m in range(LANES):
            weights[np.uint64(k) * _LANES + np.uint64(m)] = w[place[m] + np.uint64(k)]
    for m in range(len(new)):
        top[m] = LOWEST
        new[m] = 0
    for k in range(states):
        at = np.uint64(k) * _LANES
        for m in range(len(new)):
            weights[at + np.uint64(m)] += p[at + np.uint64(m)]
            weight = weights[at + np.uint64(m)] if p[at + np.uint64(m)] > _0 else LOWEST
            new[m] = k if weight > top[m] else new[m]
            top[m] = max(weight, top[m])
    for k in range(states):
        for m in range(chains):
            taken = _ONE if new[m] == k else _0
            w[place[m] + np.uint64(k)] = weights[np.uint64(k) * _LANES + np.uint64(m)] - taken


@jit
def _slack_lanes(w, place, keys, clock, p, states, slack, one, new):
    """Chain by chain: what is overdrawn decides how far each of them looks."""
    for m in range(len(keys)):
        for k in range(states):
            one[k] = p[np.uint64(k) * _LANES + np.uint64(m)]
        bits = draw(keys[m], clock)
        new[m] = slack_vector(w, np.int64(place[m]), one, 0, states, slack, bits)


@jit
def _add_up(tally, at, p, states):
    """Add the conditionals to those that each chain has seen."""
    for m in range(len(tally)):
        for k in range(states):
            tally[m, at + np.uint64(k)] += p[np.uint64(k) * _LANES + np.uint64(m)]


# -- states in lanes -----------------------------------------------------------------------------


@jit
def _lanes_of(x):
    """The states (chains, N) variable by variable, each in its lanes."""
    lanes = np.zeros(x.shape[1] * LANES, x.dtype)
    for m in range(x.shape[0]):
        for i in range(x.shape[1]):
            lanes[i * LANES + m] = x[m, i]
    return lanes


@jit
def _write_states(lanes, x):
    """The other way."""
    for m in range(x.shape[0]):
        for i in range(x.shape[1]):
            x[m, i] = lanes[i * LANES + m]
