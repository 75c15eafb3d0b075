"""Clusters of a Dirichlet mixture and their statistics; parameters are integrated out.

Gaussian clusters have a normal-inverse-Wishart prior around 0 (data come centred and scaled):
mean ~ N(0, S / kappa), S ~ IW(nu, scale I). A cluster keeps its mean, the inverse of its scatter
matrix and the logarithm of that matrix's determinant; adding or removing a point changes them by
rank one. The density of a point under its own cluster without it follows from that with it, so a
point that stays in place costs no update.

Categorical clusters count the values of each column; every value starts from `pseudo` counts.
"""

from typing import NamedTuple

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import log
from herded.system.numerics.log_gamma import log_gamma

_LOG_PI = 1.1447298858494002


class MixtureData(NamedTuple):
    """Points and the prior; one of the two kinds of points is empty."""

    points: np.ndarray  # (n, d) of Gaussian clusters
    codes: np.ndarray  # (n, d) of categorical ones: where the counts of a value lie
    prior: np.ndarray  # (3,) kappa, nu and scale of Gaussian ones
    tables: np.ndarray  # (5, n + 2) by how many points there are, one more than all: rows below
    alone: np.ndarray  # (n,) log alpha + log density of a point in a cluster of its own
    cells: int  # counts of a cluster


LOG, CROWD, MARGINAL, VALUE, VALUES = range(5)  # rows of `tables`:
# log k; the share of a cluster of k in the Chinese restaurant; the part of a log marginal that
# depends on k alone; log(k + pseudo) and the sum of these up to k


class HerdClusters(NamedTuple):
    """The clusters of all members of a herd: slots, those in `used` having points.

    The statistics of a Gaussian cluster are a row: log|scatter|, mean, lower half of the inverse.
    """

    label: np.ndarray  # (members, n) the slot of a point
    used: np.ndarray  # (members, most) slots in the order in which they were taken
    clusters: np.ndarray  # (members,) how many there are
    size: np.ndarray  # (members, slots)
    known: np.ndarray  # (members, slots, 1 + d + d (d + 1) / 2)
    counts: np.ndarray  # (members, slots, cells)


JOIN, LEAVE, NO_CLUSTER = np.int64(1), np.int64(-1), np.int64(-1)  # numbers of one type: one kernel
_0 = np.int64(0)
SPARE_SLOTS = 2  # slots beyond the most clusters, for moves that are being tried


def empty_clusters(members: int, most: int, data: MixtureData) -> HerdClusters:
    """Build clusters without points."""
    n, d = data.points.shape
    slots = most + SPARE_SLOTS
    return HerdClusters(
        label=np.zeros((members, n), np.int64),
        used=np.zeros((members, most), np.int64),
        clusters=np.zeros(members, np.int64),
        size=np.zeros((members, slots), np.int64),
        known=np.zeros((members, slots, 1 + d + d * (d + 1) // 2)),
        counts=np.zeros((members, slots, data.cells), np.int32),
    )


def clusters_bytes(members: int, most: int, n: int, d: int, cells: int) -> int:
    """Return the bytes that clusters take."""
    return members * (8 * n + (most + SPARE_SLOTS) * (4 * d * d + 12 * d + 4 * cells + 24))


def gaussian_data(
    points: np.ndarray, alpha: float, kappa: float, nu: float, scale: float
) -> MixtureData:
    """Prepare points, centred and scaled, with the tables of their prior."""
    n, d = points.shape
    tables = _chinese_restaurant_tables(n, alpha)
    for k in range(n + 2):
        tables[MARGINAL, k] = _gaussian_marginal(k, d, kappa, nu, scale)
    data = MixtureData(
        points=np.ascontiguousarray(points, np.float64),
        codes=np.zeros((n, 0), np.int64),
        prior=np.array([kappa, nu, scale], np.float64),
        tables=tables,
        alone=np.empty(n),
        cells=0,
    )
    return _with_singleton_densities(data)


def categorical_data(
    values: np.ndarray, categories: np.ndarray, alpha: float, pseudo: float
) -> MixtureData:
    """Prepare values from 0 to categories[j] - 1 in column j, with the tables of their prior."""
    n = len(values)
    starts = np.concatenate([[0], np.cumsum(categories)])
    tables = _chinese_restaurant_tables(n, alpha)
    for size in categories.tolist():
        first = log_gamma(size * pseudo)
        for k in range(n + 2):
            tables[MARGINAL, k] += first - log_gamma(k + size * pseudo)
    for k in range(n + 2):
        tables[VALUE, k] = log(k + pseudo)
        tables[VALUES, k] = log_gamma(k + pseudo) - log_gamma(pseudo)
    data = MixtureData(
        points=np.zeros((n, 0)),
        codes=np.ascontiguousarray(values + starts[:-1], np.int64),
        prior=np.ones(3),
        tables=tables,
        alone=np.empty(n),
        cells=int(starts[-1]),
    )
    return _with_singleton_densities(data)


def _chinese_restaurant_tables(n: int, alpha: float) -> np.ndarray:
    """Tables with what the Chinese restaurant process says of clusters of every size."""
    tables = np.zeros((5, n + 2))
    tables[LOG] = [log(k) for k in range(n + 2)]
    tables[CROWD, 1:] = [log(alpha) + log_gamma(k) for k in range(1, n + 2)]
    return tables


def _gaussian_marginal(k: int, d: int, kappa: float, nu: float, scale: float) -> float:
    """All of a cluster's log marginal but -(nu + k) / 2 log|scatter|."""
    total = -0.5 * k * d * _LOG_PI + 0.5 * d * (log(kappa) - log(kappa + k))
    total += 0.5 * nu * d * log(scale)
    for a in range(d):
        total += log_gamma(0.5 * (nu + k - a)) - log_gamma(0.5 * (nu - a))
    return float(total)


def _with_singleton_densities(data: MixtureData) -> MixtureData:
    """With the densities of points in clusters of their own, which never change."""
    _fill_alone(empty_clusters(1, 1, data), data)
    return data


@jit
def _fill_alone(herd, data):
    known, counts, size = herd.known, herd.counts, herd.size
    work, d = np.empty(2 * data.points.shape[1] + 1), data.points.shape[1]
    for i in range(len(data.alone)):
        clear_cluster(known, counts, size, _0, _0, data.prior, d)
        move_point(known, counts, size, _0, _0, data.points, data.codes, data.prior, i, work, JOIN)
        data.alone[i] = log_marginal(known, counts, _0, _0, JOIN, d, data.prior, data.tables)


@jit
def clear_cluster(known, counts, size, m, c, prior, d):
    """Reset cluster c of member m to the prior, without points."""
    size[m, c] = 0
    for a in range(known.shape[2]):
        known[m, c, a] = 0.0
    at = 1 + d
    for a in range(d):
        at += a
        known[m, c, at] = 1.0 / prior[2]
        at += 1
    known[m, c, 0] = d * log(prior[2])
    for cell in range(counts.shape[2]):
        counts[m, c, cell] = 0


@jit
def log_shares(
    known, counts, size, slots, row, many, points, codes, prior, tables, m, i, own, work, shares
):
    """Compute each cluster's log share of point i: log size plus log density, without the point.

    They are in the first `many` slots of a row. `own` is the slot of the point, from which it is
    removed in the computation. One loop handles all clusters, since a call for each would take
    longer than its work.
    """
    d = points.shape[1]
    for at in range(many):
        c = slots[row, at]
        k, less = size[m, c], 1 if c == own else 0
        found = tables[LOG, k - less]
        found += tables[MARGINAL, k - less + 1] - tables[MARGINAL, k - less]
        for j in range(codes.shape[1]):
            found += tables[VALUE, counts[m, c, codes[i, j]] - less]
        if d > 0:
            h, cell = 0.0, 1 + d  # (x - mean)' inverse (x - mean)
            for a in range(d):
                work[a] = points[i, a] - known[m, c, 1 + a]
                cross = 0.0
                for b in range(a):
                    cross += known[m, c, cell + b] * work[b]
                h += work[a] * (2.0 * cross + known[m, c, cell + a] * work[a])
                cell += a + 1
            kappa, nu = prior[0] + k, prior[1] + k
            if less:
                nu = 1.0 - nu
                h = log(1.0 - kappa / (kappa - 1.0) * h)
            else:
                nu = nu + 1.0
                h = log(1.0 + kappa / (kappa + 1.0) * h)
            found -= 0.5 * (known[m, c, 0] + nu * h)
        shares[at] = found


@jit
def move_point(known, counts, size, m, c, points, codes, prior, i, work, sign):
    """Add point i to cluster c (`sign` JOIN) or remove it (LEAVE)."""
    kappa = prior[0] + size[m, c]
    size[m, c] += sign
    for j in range(codes.shape[1]):
        counts[m, c, codes[i, j]] += sign
    d = points.shape[1]
    if d == 0:
        return
    at, h = 1 + d, 0.0
    for a in range(d):  # work[d:] = inverse (x - mean)
        work[a] = points[i, a] - known[m, c, 1 + a]
        row = 0.0
        for b in range(a):
            row += known[m, c, at + b] * work[b]
            work[d + b] += known[m, c, at + b] * work[a]
        work[d + a] = row + known[m, c, at + a] * work[a]
        at += a + 1
    for a in range(d):
        h += work[a] * work[d + a]
    share = kappa / (kappa + sign) * sign
    grown = 1.0 + share * h
    at = 1 + d
    for a in range(d):
        scaled = work[d + a] * (share / grown)
        for b in range(a + 1):
            known[m, c, at + b] -= scaled * work[d + b]
        at += a + 1
        known[m, c, 1 + a] += sign * work[a] / (kappa + sign)
    known[m, c, 0] += log(grown)


@jit
def log_marginal(known, counts, m, c, k, d, prior, tables):
    """Compute log share in the restaurant plus log density, of a cluster of k points."""
    found = tables[CROWD, k] + tables[MARGINAL, k]
    for cell in range(counts.shape[2]):
        found += tables[VALUES, counts[m, c, cell]]
    return found if d == 0 else found - 0.5 * (prior[1] + k) * known[m, c, 0]
