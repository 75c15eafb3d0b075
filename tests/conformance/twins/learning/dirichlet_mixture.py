"""Dirichlet mixtures step by step: every cluster's marginal is computed anew from its points."""

import itertools
import math

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.herds.any_graph import naive_orders

SCANS, OFTEN = 5, 2
NOWHERE = -1


class NaiveData:
    """Points and a prior; `marginal` gives the log density of a set of points as one cluster."""

    def __init__(self, points, *, alpha, kappa=1.0, nu=1.0, scale=1.0, categories=None, pseudo=1.0):
        self.points, self.alpha, self.kappa, self.nu = points, alpha, kappa, nu
        self.scale, self.categories, self.pseudo = scale, categories, pseudo

    def marginal(self, members):
        rows = self.points[sorted(members)]
        return self._gaussian(rows) if self.categories is None else self._categorical(rows)

    def _gaussian(self, rows):
        n, d = rows.shape
        kappa, nu = self.kappa + n, self.nu + n
        mean = rows.mean(axis=0)
        scatter = self.scale * np.eye(d) + (rows - mean).T @ (rows - mean)
        scatter += self.kappa * n / kappa * np.outer(mean, mean)
        found = -n * d / 2 * math.log(math.pi) + d / 2 * math.log(self.kappa / kappa)
        found += self.nu / 2 * d * math.log(self.scale) - nu / 2 * np.linalg.slogdet(scatter)[1]
        for a in range(d):
            found += math.lgamma((nu - a) / 2) - math.lgamma((self.nu - a) / 2)
        return found

    def _categorical(self, rows):
        found = 0.0
        for column, size in zip(rows.T, self.categories, strict=True):
            found += math.lgamma(size * self.pseudo) - math.lgamma(len(rows) + size * self.pseudo)
            for value in range(size):
                found += math.lgamma((column == value).sum() + self.pseudo)
                found -= math.lgamma(self.pseudo)
        return found

    def distance(self, i, j):
        """Squared, or the number of columns that differ."""
        gap = self.points[i] - self.points[j]
        return float((gap**2).sum() if self.categories is None else (gap != 0).sum())

    def cluster(self, members):
        """With its share in the Chinese restaurant."""
        return math.log(self.alpha) + math.lgamma(len(members)) + self.marginal(members)

    def joins(self, i, members):
        """What a cluster says of a point that is not in it."""
        if not members:
            return math.log(self.alpha) + self.marginal({i})
        return math.log(len(members)) + self.marginal(members | {i}) - self.marginal(members)

    def posterior(self, clusters):
        n = len(self.points)
        start = math.lgamma(self.alpha) - math.lgamma(self.alpha + n)
        return start + sum(self.cluster(members) for members in clusters)


def naive_mixture(data, *, members, sweeps, burn_in, seed, most, chain=0):
    """The partitions of all members after each sweep, and their log posteriors."""
    n = len(data.points)
    phases, orders, moves = (naive_key(seed, chain, part) for part in (4, 5, 6))
    table, states = naive_orders(members), naive_starts(data, members, seed, chain, most)
    partitions, trace = [], []
    for sweep in range(sweeps):
        for i in range(n):
            clock = sweep * n + i
            phase, bits = naive_draw(phases, clock), naive_draw(orders, clock)
            first, second = table[bits % len(table)], table[(bits >> 32) % len(table)]
            for r in range(members):
                uniform = ((phase + (2**64 - 1) // members * r) % 2**64 >> 11) / 2**53
                place(data, states[first[second[r]]], i, uniform, most)
        for m, clusters in enumerate(states):
            if sweep % (OFTEN if sweep < burn_in else 10) == 0:
                key = naive_draw(moves, sweep * members + m)
                split_or_merge(data, clusters, key, most)
        partitions.append([sorted(sorted(one) for one in clusters) for clusters in states])
        trace.append([data.posterior(clusters) for clusters in states])
    return partitions, np.array(trace).T


def naive_starts(data, members, seed, chain, most):
    """Founders far from each other; all points join the nearest, the first of equals."""
    n, key, states = len(data.points), naive_key(seed, chain, 3), []
    for m in range(members):
        clock = m * 17
        wanted = min(4 + (naive_draw(key, clock) >> 11) % 13, most)
        founders = []
        for c in range(wanted):
            gap = [min([data.distance(i, f) for f in founders], default=1.0) for i in range(n)]
            uniform = (naive_draw(key, clock + c + 1) >> 11) / 2**53
            upto = list(itertools.accumulate(gap))
            founders.append(next((i for i in range(n) if uniform * upto[-1] < upto[i]), n - 1))
        nearest = [
            min(range(wanted), key=lambda c, i=i: data.distance(i, founders[c])) for i in range(n)
        ]
        order = sorted(set(nearest), key=nearest.index)
        states.append([{i for i in range(n) if nearest[i] == c} for c in order])
    return states


def place(data, clusters, i, uniform, most):
    """Point i goes on: first the cluster it is in, then the others in their order, then its own."""
    old = next((c for c, members in enumerate(clusters) if i in members), None)
    is_alone = old is not None and clusters[old] == {i}
    logs = {
        c: data.joins(i, members - {i})
        for c, members in enumerate(clusters)
        if not (c == old and is_alone)
    }
    if is_alone or len(clusters) < most:
        logs[NOWHERE] = data.joins(i, set())
    top = max(logs.values())
    order = [c for c in (old,) if c in logs] + [c for c in logs if c not in (old, NOWHERE)]
    order += [NOWHERE] * (NOWHERE in logs)
    wanted = uniform * sum(math.exp(value - top) for value in logs.values())
    passed = 0.0
    for chosen in order:
        passed += math.exp(logs[chosen] - top)
        if wanted < passed:
            break
    if chosen == old or (chosen == NOWHERE and is_alone):
        return
    target = set() if chosen == NOWHERE else clusters[chosen]
    if chosen == NOWHERE:
        clusters.append(target)
    if old is not None:
        clusters[old].discard(i)
    target.add(i)
    clusters[:] = [members for members in clusters if members]


def split_or_merge(data, clusters, key, most):
    """Jain and Neal's move, with anchors that first take what is nearer to them."""
    n = len(data.points)
    i = (naive_draw(key, 0) >> 11) % n
    j = (naive_draw(key, 1) >> 11) % (n - 1)
    j += j >= i
    first = next(members for members in clusters if i in members)
    second = next(members for members in clusters if j in members)
    is_split = first is second
    if is_split and len(clusters) == most:
        return
    order = sorted((first | second) - {i, j})
    for last in range(len(order) - 1, 0, -1):
        other = (naive_draw(key, 3 + last) >> 11) % (last + 1)
        order[last], order[other] = order[other], order[last]
    a, b = {i}, {j}
    side = {}
    for at, k in enumerate(order):
        by_a, by_b = data.joins(k, {i}), data.joins(k, {j})
        side[k] = a if by_a > by_b or (by_a == by_b and at % 2 == 0) else b
    for k in order:
        side[k].add(k)
    for scan in range(SCANS + 1):
        log_q, start = 0.0, 3 + n * (1 + scan)
        for at, k in enumerate(order):
            gap = data.joins(k, b - {k}) - data.joins(k, a - {k})
            if scan == SCANS and not is_split:
                to_a = k in first
            else:
                uniform = (naive_draw(key, start + at) >> 11) / 2**53
                to_a = uniform < 1 / (1 + math.exp(min(gap, 700.0)))
            log_q -= np.logaddexp(0.0, gap if to_a else -gap)
            a.discard(k)
            b.discard(k)
            (a if to_a else b).add(k)
    apart, whole = data.cluster(a) + data.cluster(b), data.cluster(first | second)
    ratio = apart - whole - log_q if is_split else whole - apart + log_q
    if not (naive_draw(key, 2) >> 11) / 2**53 < math.exp(min(0.0, ratio)):
        return
    at = next(c for c, members in enumerate(clusters) if members is first)
    if is_split:
        clusters[at] = a
        clusters.append(b)
    else:
        clusters[at] = first | second
        clusters[:] = [members for members in clusters if members is not second]
