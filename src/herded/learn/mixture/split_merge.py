"""Moves that split a cluster in two, or merge two, which moves of single points hardly ever do.

Jain and Neal 2004, "A split-merge Markov chain Monte Carlo procedure for the Dirichlet process
mixture model". Two points are drawn, the anchors. The other points of their clusters join the
nearer anchor, and are then moved between the two by some Gibbs scans in a random order. If the
anchors share a cluster, one more scan proposes the split. If they do not, a merge is proposed, and
the scan only computes the probability of the way back. Either is accepted with the probability of
Metropolis and Hastings.
"""

import numpy as np

from herded.learn.mixture.clusters import (
    JOIN,
    LEAVE,
    NO_CLUSTER,
    clear_cluster,
    log_marginal,
    log_shares,
    move_point,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits
from herded.system.numerics.exp_log import exp, log

LAUNCH_SCANS = 5  # Gibbs scans before the one that counts
_0, _2 = np.int64(0), np.int64(2)
_11, _SCALE = np.uint64(11), 2.0**-53


@jit
def split_or_merge(herd, data, m, key, moves, order, side, work):
    """Try one move; `key` is a random stream for this member and sweep."""
    n = herd.label.shape[1]
    if n < 2:
        return
    i = np.int64(random_bits(key, np.uint64(0)) >> _11) % n
    j = np.int64(random_bits(key, np.uint64(1)) >> _11) % (n - 1)
    j += 1 if j >= i else 0
    first, second = herd.label[m, i], herd.label[m, j]
    is_split = first == second
    if is_split and herd.clusters[m] == herd.used.shape[1]:
        return  # the number of clusters is at its limit
    a, b = _spare_slots(herd.size, m)
    others = _shuffled_others(herd.label, m, i, j, key, order)
    for c, anchor in ((a, i), (b, j)):
        clear_cluster(herd.known, herd.counts, herd.size, m, c, data.prior, data.points.shape[1])
        _put(herd, data, m, c, anchor, work, JOIN)
    _launch(herd, data, m, a, b, others, order, side, work)
    log_q = 0.0
    for scan in range(LAUNCH_SCANS + 1):
        forced = scan == LAUNCH_SCANS and not is_split
        log_q = _scan(herd, data, m, a, b, forced, first, others, scan, key, order, side, work)
    uniform = np.float64(random_bits(key, np.uint64(2)) >> _11) * _SCALE
    apart = _marginal(herd, data, m, a) + _marginal(herd, data, m, b)
    if is_split:
        ratio = apart - _marginal(herd, data, m, first) - log_q
    else:
        for at in range(others):
            if side[order[at]] == b:
                _put(herd, data, m, a, order[at], work, JOIN)
        _put(herd, data, m, a, j, work, JOIN)
        ratio = _marginal(herd, data, m, a) + log_q - apart
    kind = 0 if is_split else 2
    moves[kind] += 1
    if not uniform < exp(min(0.0, ratio)):
        herd.size[m, a] = herd.size[m, b] = 0
        return
    moves[kind + 1] += 1
    for at in range(others):
        herd.label[m, order[at]] = side[order[at]] if is_split else a
    herd.label[m, i] = a
    herd.label[m, j] = b if is_split else a
    _rename(herd, m, first, second, a, b, is_split)


@jit
def _put(herd, data, m, c, i, work, sign):
    known, counts, size = herd.known, herd.counts, herd.size
    move_point(known, counts, size, m, c, data.points, data.codes, data.prior, i, work, sign)


@jit
def _marginal(herd, data, m, c):
    k = herd.size[m, c]
    d = data.points.shape[1]
    return log_marginal(herd.known, herd.counts, m, c, k, d, data.prior, data.tables)


@jit
def _spare_slots(size, m):
    """Return two slots without points."""
    a = np.int64(0)
    while size[m, a] > 0:
        a += 1
    b = a + 1
    while size[m, b] > 0:
        b += 1
    return a, b


@jit
def _shuffled_others(label, m, i, j, key, order):
    """Return the points in the clusters of i and j except these two, in a random order."""
    first, second, others = label[m, i], label[m, j], 0
    for at in range(label.shape[1]):
        here = label[m, at]
        if here in (first, second) and at not in (i, j):
            order[others] = at
            others += 1
    for last in range(others - 1, 0, -1):
        other = np.int64(random_bits(key, np.uint64(3 + last)) >> _11) % (last + 1)
        order[last], order[other] = order[other], order[last]
    return others


@jit
def _launch(herd, data, m, a, b, others, order, side, work):
    """Let each of the others join the anchor under which it is more probable."""
    pair, shares = np.array([[a, b]]), np.empty(2)
    for at in range(others):
        i = order[at]
        log_shares(
            herd.known, herd.counts, herd.size, pair, _0, _2,
            data.points, data.codes, data.prior, data.tables, m, i, NO_CLUSTER, work, shares
        )  # fmt: skip
        to_a = shares[0] > shares[1] or (shares[0] == shares[1] and at % 2 == 0)
        side[i] = a if to_a else b
    for at in range(others):
        _put(herd, data, m, side[order[at]], order[at], work, JOIN)


@jit
def _scan(herd, data, m, a, b, forced, first, others, scan, key, order, side, work):
    """Let each of the others join slot a or b: at random, or as in the model if `forced`.

    Returns the log probability of the outcome.
    """
    known, counts, size = herd.known, herd.counts, herd.size
    points, codes, prior, tables = data.points, data.codes, data.prior, data.tables
    pair, shares = np.array([[a, b]]), np.empty(2)
    log_q, start = 0.0, 3 + herd.label.shape[1] * (1 + scan)
    for at in range(others):
        i = order[at]
        log_shares(
            known, counts, size, pair, _0, _2, points, codes, prior, tables, m, i, side[i], work,
            shares
        )  # fmt: skip
        if forced:
            to_a = herd.label[m, i] == first
        else:
            uniform = np.float64(random_bits(key, np.uint64(start + at)) >> _11) * _SCALE
            to_a = uniform * (1.0 + exp(shares[1] - shares[0])) < 1.0
        gap = shares[1] - shares[0] if to_a else shares[0] - shares[1]
        # -log(1 + e^gap), without overflow
        log_q -= log(1.0 + exp(gap)) if gap < 0.0 else gap + log(1.0 + exp(-gap))
        new = a if to_a else b
        if side[i] != new:
            move_point(known, counts, size, m, side[i], points, codes, prior, i, work, LEAVE)
            move_point(known, counts, size, m, new, points, codes, prior, i, work, JOIN)
            side[i] = new
    return log_q


@jit
def _rename(herd, m, first, second, a, b, is_split):
    """Slot a takes the place of `first`; b is new after a split, `second` gone after a merge."""
    left = 0
    for at in range(herd.clusters[m]):
        c = herd.used[m, at]
        if is_split or c != second:
            herd.used[m, left] = a if c == first else c
            left += 1
    herd.size[m, first] = 0
    if is_split:
        herd.used[m, left] = b
        left += 1
    else:
        herd.size[m, second] = herd.size[m, b] = 0
    herd.clusters[m] = left
