"""Predictions from kept partitions: densities and clusters of new points, pairs of points."""

import numpy as np

from herded.learn.mixture.clusters import (
    JOIN,
    NO_CLUSTER,
    HerdClusters,
    MixtureData,
    clear_cluster,
    log_shares,
    move_point,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log

_0 = np.int64(0)


@jit
def fill_clusters(herd, data, labels):
    """Fill the clusters of member 0 with points by their labels, 0, 1, ... in order."""
    n, d = len(labels), data.points.shape[1]
    work, clusters = np.empty(2 * d + 1), 0
    for i in range(n):
        clusters = max(clusters, labels[i] + 1)
    herd.clusters[0] = clusters
    for c in range(clusters):
        herd.used[0, c] = c
        clear_cluster(herd.known, herd.counts, herd.size, _0, c, data.prior, d)
    for i in range(n):
        move_point(
            herd.known, herd.counts, herd.size, _0, labels[i],
            data.points, data.codes, data.prior, i, work, JOIN
        )  # fmt: skip


@jit
def log_densities(herd, data, new, first, total):
    """Add the density of each new point under the clusters of member 0 to `total`, scaled.

    total[i] is a pair: the largest exponent so far, and the sum relative to it.
    """
    d = data.points.shape[1]
    many = herd.clusters[0]
    work, shares = np.empty(2 * d + 1), np.empty(many)
    for i in range(len(new.alone)):
        log_shares(
            herd.known, herd.counts, herd.size, herd.used, _0, many,
            new.points, new.codes, data.prior, data.tables, _0, i, NO_CLUSTER, work, shares
        )  # fmt: skip
        for at in range(many + 1):
            value = shares[at] if at < many else new.alone[i]
            if first and at == 0:
                total[i, 0], total[i, 1] = value, 1.0
            elif value > total[i, 0]:
                total[i, 1] = total[i, 1] * exp(total[i, 0] - value) + 1.0
                total[i, 0] = value
            else:
                total[i, 1] += exp(value - total[i, 0])


@jit
def finish_densities(total, draws, log_total, out):
    """Take the log of the mean over draws; `log_total` is log(n + alpha)."""
    for i in range(len(out)):
        out[i] = total[i, 0] + log(total[i, 1]) - log(np.float64(draws)) - log_total


@jit
def nearest_clusters(herd, data, new, out):
    """Find the cluster of member 0 that each new point most probably belongs to."""
    d, many = data.points.shape[1], herd.clusters[0]
    work, shares = np.empty(2 * d + 1), np.empty(many)
    for i in range(len(out)):
        log_shares(
            herd.known, herd.counts, herd.size, herd.used, _0, many,
            new.points, new.codes, data.prior, data.tables, _0, i, NO_CLUSTER, work, shares
        )  # fmt: skip
        out[i] = 0
        for at in range(1, many):
            if shares[at] > shares[out[i]]:
                out[i] = at


@jit
def count_shared_clusters(draws, rows, out):
    """Count how often the points of each pair share a cluster in draws (kept, n)."""
    for t in range(len(draws)):
        for a in range(len(rows)):
            for b in range(a + 1):
                out[a, b] += draws[t, rows[a]] == draws[t, rows[b]]
    for a in range(len(rows)):
        for b in range(a):
            out[b, a] = out[a, b]


def relabel_compactly(labels: np.ndarray) -> np.ndarray:
    """Relabel clusters as 0, 1, ... in the order in which they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    found: np.ndarray = rank[inverse.reshape(-1)]
    return found


def clusters_of_partition(
    data: MixtureData, labels: np.ndarray, herd: HerdClusters
) -> HerdClusters:
    """Return the clusters of one partition."""
    fill_clusters(herd, data, relabel_compactly(labels))
    return herd
