"""Sweeps over colour-packed Potts lattices (layout "lattice", more than two states), vectorised.

Cell by cell, state by state, all sites of a cell at once: conditionals are products of what
`layouts.potts.layout` tabulates, no exponentials; weights are brought together from the bins they
lie in, chosen from by the vector rule, and brought back. The order of strips is that of binary
lattices.
"""

import numpy as np

from herded.draws.fixed_point import VECTOR_BITS, VECTOR_ONE, WEIGHT_ONE
from herded.draws.herded import VECTOR_ONE_INT
from herded.draws.herded_weights import bin_vector, bins_in_sweep
from herded.draws.systematic_lanes import LANES
from herded.layouts.grid.sweeps import copy_periodic_border, write_strip_sample, write_strip_states
from herded.layouts.packing.wavefront import (
    HALF_SWEEP_BEGIN,
    HALF_SWEEP_END,
    strip_at_front,
    wave_fronts,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

MIN_INT32 = np.int32(-(2**31))
_0, _34 = np.int32(0), np.uint64(64 - VECTOR_BITS)


@jit
def potts_sweeps(u, f, states, rows, height, periodic, sweep, key, x, w, tally, block, regions):
    """Sweep `regions` in order; half-sweep 2 s + c is colour c of sample block[s].

    u and f are (2, strips, entries of a strip); w is (bins, places of both colours * K), and empty
    for Gibbs sampling; else as `grid_sweeps`. A site's weights are adjacent: the bins
    of its cell are many, and those of a visit are then one cache line and not K.
    """
    strips, columns = u.shape[1], x.shape[2] - 2
    sites, places = rows * columns, u.shape[2] // states
    around, new = np.zeros(4 * places, np.uint8), np.zeros(places, np.uint8)
    sums, upto = np.zeros(LANES), np.zeros(states * LANES)
    p, mean = np.zeros(states * LANES, np.int32), np.zeros(LANES, np.int32)
    weights, place = np.zeros(states * LANES, np.int32), np.zeros(LANES, np.uint64)
    top = np.zeros(LANES, np.int32)
    one = WEIGHT_ONE if w.size else VECTOR_ONE
    for region in regions:
        for front in range(*wave_fronts(region)):
            for half in range(region[HALF_SWEEP_BEGIN], region[HALF_SWEEP_END]):
                strip = strip_at_front(region, front, half - region[HALF_SWEEP_BEGIN], strips)
                if strip < 0:
                    continue
                s, colour = half // 2, half & 1
                at = (colour * strips + strip) * sites
                copy_neighbour_states(x, colour, strip * rows, rows, around)
                for cell in range(places // LANES):
                    first = cell * LANES
                    cumulate_weights(u, f, colour, strip, cell, states, around, sums, upto)
                    round_cell_conditionals(states, sums, upto, one, p, mean)
                    if w.size == 0:
                        clock = np.uint64((sweep + s) * block.shape[1] + at + first)
                        draw_cell_states(states, p, key, clock, top, new, first)
                    else:
                        vector = ((colour * strips + strip) * places + first) * states
                        bins = bins_in_sweep(sweep + s)
                        if bins > bins_in_sweep(sweep + s - 1):
                            split_bins(w, vector, states * LANES, bins)
                        find_weight_vectors(mean, states, bins, w, vector, place)
                        herd_states(states, p, w, place, weights, top, new, first)
                    if len(tally) > 0:
                        add_cell_conditionals(
                            states, p, tally, at + first, min(LANES, sites - first)
                        )
                write_strip_states(x, colour, strip * rows, rows, height, new)
                write_strip_sample(new, block, s, at, sites)
                if periodic:
                    copy_periodic_border(x, colour, strip * rows, rows, height)


@jit
def copy_neighbour_states(x, colour, first, rows, around):
    """Copy the states of neighbours into planes left, right, up, down of the cell."""
    columns = x.shape[2] - 2
    other = x[1 - colour]
    for r in range(first, first + rows):
        shift = (r + colour) & 1  # as in `lattice.look_around`
        for m in range(columns):
            site = (r - first) * columns + m
            place = site // LANES * 4 * LANES + site % LANES
            around[place] = other[r + 1, m + shift]
            around[place + LANES] = other[r + 1, m + shift + 1]
            around[place + 2 * LANES] = other[r, m + 1]
            around[place + 3 * LANES] = other[r + 2, m + 1]


@jit
def cumulate_weights(u, f, colour, strip, cell, states, around, sums, upto):
    """Cumulate what the conditionals of a cell are proportional to, over states."""
    unary = u[colour, strip, cell * states * LANES : (cell + 1) * states * LANES]
    factor = f[colour, strip, cell * 4 * LANES : (cell + 1) * 4 * LANES]
    adjacent = around[cell * 4 * LANES : (cell + 1) * 4 * LANES]
    for m in range(LANES):
        sums[m] = 0.0
    for k in range(states):
        mine, cumulated = unary[k * LANES : (k + 1) * LANES], upto[k * LANES : (k + 1) * LANES]
        for m in range(LANES):
            product = mine[m]
            product *= factor[m] if adjacent[m] == k else 1.0
            product *= factor[LANES + m] if adjacent[LANES + m] == k else 1.0
            product *= factor[2 * LANES + m] if adjacent[2 * LANES + m] == k else 1.0
            product *= factor[3 * LANES + m] if adjacent[3 * LANES + m] == k else 1.0
            sums[m] += product
            cumulated[m] = sums[m]


@jit
def round_cell_conditionals(states, sums, upto, one, p, mean):
    """Round conditionals at scale `one` by cumulation, with their mean states.

    Mean states overflow at the scale of random draws, which do not use them.
    """
    for m in range(LANES):
        sums[m] = one / sums[m]
        mean[m] = _0
    for k in range(states):
        here, mine = upto[k * LANES : (k + 1) * LANES], p[k * LANES : (k + 1) * LANES]
        for m in range(LANES):
            mine[m] = np.int32(here[m] * sums[m] + 0.5)
    for k in range(states - 1, 0, -1):
        below, mine = p[(k - 1) * LANES : k * LANES], p[k * LANES : (k + 1) * LANES]
        for m in range(LANES):
            mine[m] -= below[m]
            mean[m] += np.int32(k) * mine[m]


@jit
def draw_cell_states(states, p, key, clock, left, new, first):
    """Sample a cell by Gibbs sampling."""
    fresh = new[first : first + LANES]
    for m in range(LANES):
        left[m] = np.int32(random_bits(key, clock + np.uint64(m)) >> _34)
        fresh[m] = 0
    for k in range(states - 1):
        chance = p[k * LANES : (k + 1) * LANES]
        for m in range(LANES):
            left[m] -= chance[m]
            fresh[m] += left[m] >= _0


@jit
def split_bins(w, vector, size, bins):
    """Give both halves of every bin of a cell its weights."""
    for b in range(bins // 2 - 1, -1, -1):
        for k in range(vector, vector + size):
            w[2 * b + 1, k] = w[b, k]
            w[2 * b, k] = w[b, k]


@jit
def find_weight_vectors(mean, states, bins, w, vector, place):
    """Find where each site's weight vector begins: in the bin of its conditional."""
    plane = w.shape[1]
    for m in range(LANES):
        start = bin_vector(np.int64(mean[m]), states, bins) * plane + vector
        place[m] = np.uint64(start + m * states)


@jit
def herd_states(states, p, w, place, weights, top, new, first):
    """Do steps 3 and 4 of Algorithm 1 for all sites of a cell."""
    fresh, flat = new[first : first + LANES], w.reshape(-1)
    for m in range(LANES):
        top[m] = MIN_INT32
    for k in range(states):
        chance, mine = p[k * LANES : (k + 1) * LANES], weights[k * LANES : (k + 1) * LANES]
        state = flat[k:]
        for m in range(LANES):
            mine[m] = state[place[m]]
        for m in range(LANES):
            mine[m] += chance[m]
            weight = mine[m] if chance[m] > _0 else MIN_INT32
            fresh[m] = k if weight > top[m] else fresh[m]
            top[m] = max(weight, top[m])
    for k in range(states):
        mine, state = weights[k * LANES : (k + 1) * LANES], flat[k:]
        for m in range(LANES):
            state[place[m]] = mine[m] - (VECTOR_ONE_INT if fresh[m] == k else 0)


@jit
def add_cell_conditionals(states, p, tally, site, count):
    """Add the conditionals of the `count` sites of a cell."""
    for k in range(states):
        chance = p[k * LANES : (k + 1) * LANES]
        for m in range(count):
            tally[(site + m) * states + k] += chance[m]
