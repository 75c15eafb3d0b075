"""Collapsed Gibbs sweeps of a herd of Dirichlet mixtures.

A point is visited in all members at once. Each member has its own clusters, so members cannot pass
on carries. Instead they share one fresh phase, and member number r in a shuffled order draws with
the uniform number phase + r / members (mod 1). Each such number is uniform given everything before,
so every member is exactly a collapsed Gibbs chain, and together the numbers are evenly spread. The
point's present cluster comes first in the order and a new cluster last, so the numbers of members
that keep the point there, and that move it out alone, are as expected, rounded up or down.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.systematic import order_offsets
from herded.learn.mixture.clusters import (
    JOIN,
    LEAVE,
    NO_CLUSTER,
    clear_cluster,
    log_marginal,
    log_shares,
    move_point,
)
from herded.learn.mixture.split_merge import split_or_merge
from herded.learn.variable_selection.sweeps import (
    MIN_LOG_SHARE,
    SWEEPS_BETWEEN_REFACTORISATIONS,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits
from herded.system.numerics.exp_log import exp

MIN_FOUNDERS, MAX_FOUNDERS = 4, 16  # of clusters, when a run starts
# sweeps between split-merge moves: in the burn-in, and afterwards
SPLIT_INTERVAL_IN_BURN_IN, SPLIT_INTERVAL_AFTER_BURN_IN = 2, 10
_11, _SCALE = np.uint64(11), 2.0**-53


class KeptPartitions(NamedTuple):
    """The recorded partitions of a herd."""

    trace: np.ndarray  # (members, sweeps) log posterior, burn-in included
    sizes: np.ndarray  # (most + 1,) how often each number of clusters occurred
    draws: np.ndarray  # (kept, members, n)
    best: np.ndarray  # (n,) the partition of the highest log posterior
    top: np.ndarray  # (1,)
    moves: np.ndarray  # (4,) splits tried, taken; merges tried, taken
    drift: np.ndarray  # (1,)


def empty_partitions(members: int, n: int, most: int, sweeps: int, kept: int) -> KeptPartitions:
    """Allocate empty records."""
    return KeptPartitions(
        trace=np.zeros((members, sweeps)),
        sizes=np.zeros(most + 1, np.int64),
        draws=np.zeros((kept, members, n), np.int32),
        best=np.zeros(n, np.int32),
        top=np.full(1, -np.inf),
        moves=np.zeros(4, np.int64),
        drift=np.zeros(1),
    )


@jit
def start_partitions(herd, data, key):
    """Start clusters at some points far from each other; all others join the nearest.

    These founders are drawn in proportion to the squared distance from earlier ones (k-means++), a
    random number in every member: more than the expected clusters, since clusters die and merge
    more easily than they split.
    """
    members, n = herd.label.shape
    most, d = herd.used.shape[1], data.points.shape[1]
    work, gap = np.empty(2 * d + 1), np.empty(n)
    for m in range(members):
        clock = np.uint64(m) * np.uint64(MAX_FOUNDERS + 1)
        wanted = np.int64(random_bits(key, clock) >> _11) % (MAX_FOUNDERS - MIN_FOUNDERS + 1)
        wanted = min(wanted + MIN_FOUNDERS, most)
        for c in range(wanted):
            _add_founder(herd, data, m, c, random_bits(key, clock + np.uint64(c + 1)), gap)
        for i in range(n):
            c = herd.label[m, i]
            if herd.size[m, c] == 0:
                clear_cluster(herd.known, herd.counts, herd.size, m, c, data.prior, d)
                herd.used[m, herd.clusters[m]] = c
                herd.clusters[m] += 1
            move_point(
                herd.known, herd.counts, herd.size, m, c,
                data.points, data.codes, data.prior, i, work, JOIN
            )  # fmt: skip


@jit
def _add_founder(herd, data, m, c, bits, gap):
    """Add a founder for cluster c; it claims the points that it is nearest to."""
    n, total = len(gap), 0.0
    for i in range(n):
        gap[i] = 1.0 if c == 0 else gap[i]
        total += gap[i]
    wanted, passed, founder = np.float64(bits >> _11) * _SCALE * total, 0.0, n - 1
    for i in range(n):
        passed += gap[i]
        if wanted < passed:
            founder = i
            break
    for i in range(n):
        away = 0.0
        for a in range(data.points.shape[1]):
            step = data.points[i, a] - data.points[founder, a]
            away += step * step
        for a in range(data.codes.shape[1]):
            away += data.codes[i, a] != data.codes[founder, a]
        if c == 0 or away < gap[i]:
            gap[i] = away
            herd.label[m, i] = c


@jit
def sweep_points(herd, data, kept, flat, rows, keys, first, sweeps, burn_in, every, constant):
    """Run sweeps `first`, `first` + 1, ...; after `burn_in` keep each `every`-th.

    `keys` are streams of phases, of orders and of splits and merges.
    """
    members, n = herd.label.shape
    work, shares = np.empty(2 * data.points.shape[1] + 1), np.empty(herd.used.shape[1])
    order, side = np.empty(n, np.int64), np.empty(n, np.int64)
    stride = (np.uint64(0) - np.uint64(1)) // np.uint64(members)
    for sweep in range(first, first + sweeps):
        for i in range(n):
            clock = np.uint64(sweep) * np.uint64(n) + np.uint64(i)
            phase = random_bits(keys[0], clock)
            a, b = order_offsets(random_bits(keys[1], clock), rows, members)
            for r in range(members):
                k = np.int64(flat[a + np.uint64(flat[b + np.uint64(r)])])
                bits = phase + stride * np.uint64(r)
                _place(herd, data, k, i, herd.label[k, i], bits, work, shares)
        for m in range(members):
            if (
                sweep
                % (SPLIT_INTERVAL_IN_BURN_IN if sweep < burn_in else SPLIT_INTERVAL_AFTER_BURN_IN)
                == 0
            ):
                clock = np.uint64(sweep) * np.uint64(members) + np.uint64(m)
                key = random_bits(keys[2], clock)
                split_or_merge(herd, data, m, key, kept.moves, order, side, work)
            if (sweep + 1) % SWEEPS_BETWEEN_REFACTORISATIONS == 0:
                kept.drift[0] = max(kept.drift[0], _rebuild(herd, data, m, work))
            value = constant
            for at in range(herd.clusters[m]):
                c = herd.used[m, at]
                value += log_marginal(
                    herd.known, herd.counts, m, c, herd.size[m, c],
                    data.points.shape[1], data.prior, data.tables
                )  # fmt: skip
            kept.trace[m, sweep] = value
            _keep(herd, m, kept, sweep - burn_in, every, value)


@jit
def _choose(
    known, counts, size, used, clusters, points, codes, prior, tables, alone,
    m, i, old, bits, work, shares
):  # fmt: skip
    """Return the slot that point i of member m moves to, or NO_CLUSTER for a new one.

    `clusters` are in use; `alone` is the weight of a new cluster.
    """
    log_shares(
        known, counts, size, used, m, clusters, points, codes, prior, tables, m, i, old, work,
        shares
    )  # fmt: skip
    top = alone
    for at in range(clusters):
        top = max(top, shares[at])
    total, stay = 0.0, 0.0
    for at in range(clusters):
        gap = shares[at] - top
        shares[at] = exp(gap) if gap > MIN_LOG_SHARE else 0.0
        if used[m, at] == old:
            stay = shares[at]
        total += shares[at]
    total += exp(alone - top)
    wanted = np.float64(bits >> _11) * _SCALE * total
    if wanted < stay:
        return old
    passed, last = stay, old
    for at in range(clusters):
        if used[m, at] != old:
            passed += shares[at]
            last = used[m, at]
            if wanted < passed:
                return last
    # If a new cluster is impossible, only rounding leads here.
    return NO_CLUSTER if alone > -np.inf else last


@jit
def _place(herd, data, m, i, old, bits, work, shares):
    """Move point i of member m to a cluster, from `old` (or NO_CLUSTER)."""
    known, counts, size = herd.known, herd.counts, herd.size
    points, codes, prior = data.points, data.codes, data.prior
    clusters, is_alone = herd.clusters[m], old != NO_CLUSTER and size[m, old] == 1
    alone = data.alone[i] if is_alone or clusters < herd.used.shape[1] else -np.inf
    new = _choose(
        known, counts, size, herd.used, clusters, points, codes, prior, data.tables, alone,
        m, i, old, bits, work, shares
    )  # fmt: skip
    if old != NO_CLUSTER and (new == old or (new == NO_CLUSTER and is_alone)):
        return
    if new == NO_CLUSTER:
        new = _open(herd, data, m)
    if old != NO_CLUSTER:
        move_point(known, counts, size, m, old, points, codes, prior, i, work, LEAVE)
        if is_alone:
            _close(herd, m, old)
    move_point(known, counts, size, m, new, points, codes, prior, i, work, JOIN)
    herd.label[m, i] = new


@jit
def _open(herd, data, m):
    """Open a slot without points, which becomes the last of those in use."""
    c = np.int64(0)
    while herd.size[m, c] > 0:
        c += 1
    clear_cluster(herd.known, herd.counts, herd.size, m, c, data.prior, data.points.shape[1])
    herd.used[m, herd.clusters[m]] = c
    herd.clusters[m] += 1
    return c


@jit
def _close(herd, m, c):
    """Close slot c; the others keep their order."""
    left = 0
    for at in range(herd.clusters[m]):
        if herd.used[m, at] != c:
            herd.used[m, left] = herd.used[m, at]
            left += 1
    herd.clusters[m] = left


@jit
def _rebuild(herd, data, m, work):
    """Sum up all clusters from scratch; return the drift of their determinants."""
    before = np.zeros(herd.size.shape[1])
    for at in range(herd.clusters[m]):
        c = herd.used[m, at]
        before[c] = herd.known[m, c, 0]
        clear_cluster(herd.known, herd.counts, herd.size, m, c, data.prior, data.points.shape[1])
    for i in range(herd.label.shape[1]):
        move_point(
            herd.known, herd.counts, herd.size, m, herd.label[m, i],
            data.points, data.codes, data.prior, i, work, JOIN
        )  # fmt: skip
    drift = 0.0
    for at in range(herd.clusters[m]):
        c = herd.used[m, at]
        drift = max(drift, abs(before[c] - herd.known[m, c, 0]))
    return drift


@jit
def _keep(herd, m, kept, recorded, every, value):
    """Record the state after a sweep."""
    n = herd.label.shape[1]
    if value > kept.top[0]:
        kept.top[0] = value
        for i in range(n):
            kept.best[i] = herd.label[m, i]
    if recorded < 0:
        return
    kept.sizes[herd.clusters[m]] += 1
    row = (recorded + 1) // every - 1
    if (recorded + 1) % every == 0 and row < len(kept.draws):
        for i in range(n):
            kept.draws[row, m, i] = herd.label[m, i]
