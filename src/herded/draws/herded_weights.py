"""The weights of herding: starting phases, and pools that split."""

import numpy as np

from herded.draws.fixed_point import SCALAR_BITS, WEIGHT_ONE
from herded.draws.weight_modes import MAX_BINS
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

FIRST_SPLIT = 128  # pooled weights have 1 bin until this sweep, then twice as many at every 4x
_33, _40 = np.uint64(33), np.uint64(40)

# phase 1/2, which is w = 0 where pi = 1/2; the highest bit carries
HALF_PHASE = np.uint32(2**30 - 1)


@jit
def start_scalar(w, at, random, key, name):
    """Start one phase at 1/2, or at a random place named by `name`."""
    w[at] = np.uint32(random_bits(key, name) >> _33) if random else HALF_PHASE


@jit
def start_vector(w, at, width, random, key, name):
    """Start one weight vector at 0, or at a random place of sum 0."""
    if not random:
        for k in range(width):
            w[at + k] = 0
        return
    total = 0
    for k in range(width):
        r = np.int64(random_bits(key + np.uint64(k), name) >> _40)
        w[at + k] = r
        total += r
    rest = total
    for k in range(width):
        w[at + k] -= total // width
        rest -= total // width
    w[at] -= rest


@jit
def start_all_scalar(w, key):
    """Start every phase at a random place."""
    for at in range(len(w)):
        start_scalar(w, at, True, key, np.uint64(at))


@jit
def start_all_vector(w, starts, widths, random, key):
    """Start every weight vector; vector v lies at starts[v]."""
    for v in range(len(starts)):
        start_vector(w, starts[v], widths[v], random, key, np.uint64(starts[v]))


@jit
def bins_in_sweep(sweep):
    """Return how many bins a pooled variable has in sweep number `sweep`."""
    bins = 1
    until = FIRST_SPLIT
    while sweep >= until and bins < MAX_BINS:
        bins *= 2
        until *= 4
    return bins


@jit
def split_pools(w, order, pool_start, width, plane, sweep):
    """Give both halves of each bin its weight, if this sweep has more bins than the last.

    A variable's bins are `plane` apart.
    """
    bins = bins_in_sweep(sweep)
    if bins == bins_in_sweep(sweep - 1):
        return
    for i in order:
        for k in range(pool_start[i], pool_start[i] + width[i]):
            for b in range(bins // 2 - 1, -1, -1):
                w[(2 * b + 1) * plane + k] = w[b * plane + k]
                w[2 * b * plane + k] = w[b * plane + k]


@jit
def bin_shift(bins):
    """Return 31 - log2(bins), which `bin_scalar` needs, once a sweep."""
    shift = np.uint32(SCALAR_BITS)
    while bins > 1:
        bins //= 2
        shift -= np.uint32(1)
    return shift


@jit
def bin_scalar(p, shift):
    """Return the bin of a binary variable's conditional, p = 1 in the last."""
    return np.int64((p - (p >> np.uint32(SCALAR_BITS))) >> shift)


@jit
def mean_state(p, p_at, states):
    """Return the mean state of a conditional at scale 2^24: p_1 for two states."""
    mean = np.int64(0)
    for k in range(1, states):
        mean += np.int64(p[p_at + k]) * k
    return mean


@jit
def bin_vector(mean, states, bins):
    """Return the bin of any variable's conditional, by its mean state."""
    return min(np.int64(mean * (bins / (max(1, states - 1) * WEIGHT_ONE))), bins - 1)
