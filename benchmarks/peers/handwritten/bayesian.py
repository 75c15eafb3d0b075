"""Gibbs samplers as an expert would write them in Numba: variable selection, Dirichlet mixtures.

One chain, a fresh random number for every visit, factorisations updated, probabilities summed up
(Rao-Blackwell). Nothing is shared with the package.
"""

import math

import numba
import numpy as np


@numba.njit
def gibbs_selection(products, with_y, odds, half, shrink, sweeps, burn_in, seed):
    """Inclusion probabilities under a g-prior: one column at a time, the inverse updated."""
    np.random.seed(seed)  # noqa: NPY002  # what Numba has
    p = len(with_y)
    inverse, beta = np.zeros((p, p)), np.zeros(p)
    column, place = np.zeros(p, np.int64), np.full(p, -1)
    u, share = np.zeros(p), np.zeros(p)
    total = np.zeros(p)
    k, q = 0, 0.0
    for sweep in range(sweeps):
        for j in range(p):
            at = place[j]
            if at >= 0:
                pivot, own = 1.0 / inverse[at, at], beta[at] / inverse[at, at]
                without, others = q - own * own / pivot, k - 1
            else:
                pivot, own = products[j, j], with_y[j]
                for a in range(k):
                    share[a] = products[j, column[a]]
                for a in range(k):
                    dot = 0.0
                    for b in range(k):
                        dot += inverse[a, b] * share[b]
                    u[a] = dot
                    pivot -= dot * share[a]
                    own -= share[a] * beta[a]
                without, others = q, k
            chance = 0.0
            if pivot > 1e-9:
                gone = 1.0 - shrink * (without + own * own / pivot)
                log_odds = odds[others] - half * math.log(gone / (1.0 - shrink * without))
                chance = 1.0 / (1.0 + math.exp(-log_odds))
            if sweep >= burn_in:
                total[j] += chance
            wanted = np.random.random() < chance  # noqa: NPY002
            if wanted and at < 0:
                for a in range(k):
                    for b in range(k):
                        inverse[a, b] += u[a] * u[b] / pivot
                    inverse[a, k] = inverse[k, a] = -u[a] / pivot
                    beta[a] -= u[a] * own / pivot
                inverse[k, k], beta[k] = 1.0 / pivot, own / pivot
                column[k], place[j] = j, k
                k += 1
                q += own * own / pivot
            elif not wanted and at >= 0:
                k -= 1
                for a in range(k + 1):
                    inverse[a, at], inverse[a, k] = inverse[a, k], inverse[a, at]
                for a in range(k + 1):
                    inverse[at, a], inverse[k, a] = inverse[k, a], inverse[at, a]
                beta[at], beta[k] = beta[k], beta[at]
                column[at] = column[k]
                place[column[at]] = at
                place[j] = -1
                for a in range(k):
                    part = inverse[a, k] / inverse[k, k]
                    for b in range(k):
                        inverse[a, b] -= part * inverse[k, b]
                    beta[a] -= part * beta[k]
                q = without
    return total / (sweeps - burn_in)


@numba.njit
def gibbs_mixture(points, labels, alpha, kappa, nu, scale, table, sweeps, most, seed):
    """The best partition, and the log posterior after every sweep; Cholesky factors updated.

    `table` is what a cluster's log marginal owes to its size alone.
    """
    np.random.seed(seed)  # noqa: NPY002  # what Numba has
    n, d = points.shape
    z, count = labels.copy(), np.zeros(most, np.int64)
    factor, mean, log_det = np.zeros((most, d, d)), np.zeros((most, d)), np.zeros(most)
    work, shares, trace = np.zeros(d), np.zeros(most), np.zeros(sweeps)
    best, top_ever = z.copy(), -np.inf
    gammas, logs = np.zeros(n + 1), np.zeros(n + 1)
    for k in range(n + 1):
        gammas[k] = math.lgamma(0.5 * (nu + k + 1)) - math.lgamma(0.5 * (nu + k + 1 - d))
        gammas[k] += 0.5 * d * math.log((kappa + k) / (kappa + k + 1))
        logs[k] = math.log(k) if k > 0 else math.log(alpha)
    for c in range(most):
        for a in range(d):
            factor[c, a, a] = math.sqrt(scale)
        log_det[c] = d * math.log(scale)
    for i in range(n):
        _move(factor, mean, log_det, count, z[i], points[i], kappa, 1.0, work)
    for sweep in range(sweeps):
        for i in range(n):
            _move(factor, mean, log_det, count, z[i], points[i], kappa, -1.0, work)
            top, is_new = -np.inf, False
            for c in range(most):
                shares[c] = -np.inf
                k = count[c]
                if k == 0 and is_new:
                    continue  # one empty cluster stands for all
                is_new = is_new or k == 0
                square = 0.0
                for a in range(d):
                    left = points[i, a] - mean[c, a]
                    for b in range(a):
                        left -= factor[c, a, b] * work[b]
                    work[a] = left / factor[c, a, a]
                    square += work[a] * work[a]
                spread = math.log(1.0 + (kappa + k) / (kappa + k + 1) * square)
                shares[c] = logs[k] + gammas[k] - 0.5 * (log_det[c] + (nu + k + 1) * spread)
                top = max(top, shares[c])
            total = 0.0
            for c in range(most):
                if shares[c] > -np.inf:
                    shares[c] = math.exp(shares[c] - top)
                    total += shares[c]
                else:
                    shares[c] = 0.0
            left, new = np.random.random() * total, 0  # noqa: NPY002
            while left >= shares[new] and new < most - 1:
                left -= shares[new]
                new += 1
            z[i] = new
            _move(factor, mean, log_det, count, new, points[i], kappa, 1.0, work)
        for c in range(most):
            if count[c] > 0:
                trace[sweep] += table[count[c]] - 0.5 * (nu + count[c]) * log_det[c]
        if trace[sweep] > top_ever:
            top_ever = trace[sweep]
            best[:] = z
    return best, trace


@numba.njit
def _move(factor, mean, log_det, count, c, point, kappa, sign, work):
    """A point joins (sign 1) or leaves (-1) cluster c: a Cholesky update by rotations."""
    d, before = len(point), kappa + count[c]
    step = math.sqrt(before / (before + sign))
    for a in range(d):
        work[a] = (point[a] - mean[c, a]) * step
        mean[c, a] += sign * (point[a] - mean[c, a]) / (before + sign)
    log_det[c] = 0.0
    for a in range(d):
        old = factor[c, a, a]
        new = math.sqrt(old * old + sign * work[a] * work[a])
        cosine, sine = new / old, work[a] / old
        factor[c, a, a] = new
        log_det[c] += 2.0 * math.log(new)
        for b in range(a + 1, d):
            factor[c, b, a] = (factor[c, b, a] + sign * sine * work[b]) / cosine
            work[b] = cosine * work[b] - sine * factor[c, b, a]
    count[c] += 1 if sign > 0 else -1
