"""Kernels of bridging: the scores of replicas, and log Z of one rung over the next's.

Bridge sampling (Bennett 1976; Meng and Wong 1996). States of rungs a and b, as many of each, have
log weight ratios u = log(w_b / w_a). With s(z) = 1 / (1 + exp(-z)) and for any c

    Z_b / Z_a = exp(c) mean over a of s(u - c) / mean over b of s(c - u)

and it is most precise where c is the answer itself: there both means are equal.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log

MAX_NEWTON_STEPS = 100
NEWTON_TOLERANCE = 1e-10


@jit
def score_replicas(g, x, lanes, last, members, scores, is_solid):
    """Sum the log-potentials (rows, lanes) of rows of replicas.

    And which members of the rung before the last touch no hard zero, where zeros are melted.
    """
    at, there = np.empty(lanes, np.int64), last - members
    for row in range(len(x)):
        for k in range(lanes):
            scores[row, k] = 0.0
        for k in range(members):
            is_solid[row, k] = 1
        for f in range(len(g.factor_start) - 1):
            for k in range(lanes):
                at[k] = g.table_start[f]
            for s in range(g.factor_start[f], g.factor_start[f + 1]):
                first, stride = g.variable[s] * lanes, g.stride[s]
                for k in range(lanes):
                    at[k] += np.int64(x[row, first + k]) * stride
            for k in range(lanes):
                scores[row, k] += g.log_tables[at[k]]
            if len(g.hard_tables):
                for k in range(members):
                    if g.hard_tables[at[there + k]] == -np.inf:
                        is_solid[row, k] = 0


@jit
def solve_bridge_log_ratio(u, v, batches, up, down):
    """Solve for log Z_b / Z_a by Newton's method, from u (of a) and v (of b).

    `up` and `down` (batches,) become how far each batch of equal length draws the logs of both
    means away; the last states are in no batch.
    """
    c, low, high = 0.5 * (mean(u) + mean(v)), min_of_both(u, v) - 50.0, -min_of_both(-u, -v) + 50.0
    for _ in range(MAX_NEWTON_STEPS):
        a, b, slope = 0.0, 0.0, 0.0
        for i in range(len(u)):
            p, q = sigmoid(u[i] - c), sigmoid(c - v[i])
            a += p
            b += q
            slope += p * (1.0 - p) + q * (1.0 - q)
        if a > b:
            low = c
        else:
            high = c
        new = c + (a - b) / slope if slope > 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        moved, c = abs(new - c), new
        if moved < NEWTON_TOLERANCE:
            break
    a, b, length = 0.0, 0.0, len(u) // batches
    for k in range(batches):
        up[k] = down[k] = 0.0
        for i in range(k * length, (k + 1) * length):
            up[k] += sigmoid(u[i] - c)
            down[k] += sigmoid(c - v[i])
        a += up[k]
        b += down[k]
    for k in range(batches):
        up[k] = up[k] * batches / a - 1.0 if a > 0.0 else 0.0
        down[k] = down[k] * batches / b - 1.0 if b > 0.0 else 0.0
    return c


@jit
def log_mean_exp(u):
    """Return the log of the mean of exp(u)."""
    top = -min_of_both(-u, -u)
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(len(u)):
        total += exp(u[i] - top)
    return top + log(total / len(u))


@jit
def sigmoid(z):
    return 1.0 / (1.0 + exp(-z))


@jit
def mean(values):
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total / len(values)


@jit
def min_of_both(u, v):
    found = u[0]
    for i in range(len(u)):
        found = min(found, u[i], v[i])
    return found
