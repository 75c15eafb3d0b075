"""Moves of one column into or out of a member's model, without refactorising.

A member keeps, for every column j, the part of it that the *other* columns of its model do not
explain: its squared length `left[j]` and its product with the residual of y, `rest[j]`. Column j
adds rest[j]^2 / left[j] to q, so a visit costs two divisions and a logarithm, for any number of
columns in the model. Only a change costs more: with k columns in the model and p in all, k p
multiplications, in vectorised loops. The inverse of the model's products gains or loses a row.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.context_hashing import hash_one
from herded.draws.weight_modes import MAX_BINS
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import log

NOT_IN_MODEL = -1


class RegressionHerd(NamedTuple):
    """The members of a herd: everything that changes in a run except for sums."""

    place: np.ndarray  # (members, p) where in the model a column is, or NOT_IN_MODEL
    column: np.ndarray  # (members, largest) which column is there
    size: np.ndarray  # (members,)
    inverse: np.ndarray  # (members, largest, largest) of the products of columns in the model
    beta: np.ndarray  # (members, largest) coefficients of least squares
    left: np.ndarray  # (members, p)
    rest: np.ndarray  # (members, p)
    q: np.ndarray  # (members,)
    log_det: np.ndarray  # (members,)
    key: np.ndarray  # (members,) a hash of the model
    phases: np.ndarray  # (members, bins * p) pooled weights of herding in time, or (0, 0)


def empty_herd(members: int, p: int, largest: int, in_time: bool = False) -> RegressionHerd:
    """Allocate members, which `clear_model` initialises. With `in_time` each of them herds in
    time.
    """
    return RegressionHerd(
        place=np.full((members, p), NOT_IN_MODEL, np.int32),
        column=np.zeros((members, largest), np.int32),
        size=np.zeros(members, np.int64),
        inverse=np.zeros((members, largest, largest)),
        beta=np.zeros((members, largest)),
        left=np.zeros((members, p)),
        rest=np.zeros((members, p)),
        q=np.zeros(members),
        log_det=np.zeros(members),
        key=np.zeros(members, np.uint64),
        phases=np.zeros((members, MAX_BINS * p) if in_time else (0, 0), np.uint32),
    )


def herd_bytes(members: int, p: int, largest: int) -> int:
    """Return the bytes that a herd takes."""
    return members * ((20 + 4 * MAX_BINS) * p + 12 * largest + 8 * largest * largest + 32)


@jit
def clear_model(herd, m, problem):
    """Set the model of a member to the one without columns."""
    for j in range(len(problem.with_y)):
        herd.place[m, j] = NOT_IN_MODEL
        herd.left[m, j] = problem.products[j, j]
        herd.rest[m, j] = problem.with_y[j]
    herd.size[m], herd.q[m], herd.log_det[m], herd.key[m] = 0, 0.0, 0.0, np.uint64(0)


@jit
def add_column(herd, m, j, problem, work):
    """Add column j to the model of member m; `work` holds two rows of p numbers."""
    k = herd.size[m]
    inverse, column, beta = herd.inverse[m], herd.column[m], herd.beta[m]
    pivot, own = herd.left[m, j], herd.rest[m, j]
    share, partial = work[0], work[1]
    for a in range(k):
        share[a] = 0.0
    for b in range(k):
        product = problem.products[j, column[b]]
        for a in range(k):
            share[a] += inverse[b, a] * product
    _partial_products(k, column, share, problem.products, j, partial)
    step = own / pivot
    _spread(herd, m, partial, pivot, -step, -1.0)
    for a in range(k):
        scaled = share[a] / pivot
        for b in range(k):
            inverse[a, b] += scaled * share[b]
        inverse[a, k] = inverse[k, a] = -scaled
        beta[a] -= share[a] * step
    inverse[k, k] = 1.0 / pivot
    beta[k], column[k] = step, j
    herd.place[m, j] = k
    herd.size[m] = k + 1
    herd.q[m] += own * step
    herd.log_det[m] += log(pivot)
    herd.key[m] ^= hash_one(j, 1)
    _tell_own(herd, m)


@jit
def remove_column(herd, m, j, problem, work):
    """Remove column j from the model of member m; the last column takes its place."""
    last, at = herd.size[m] - 1, herd.place[m, j]
    inverse, column, beta = herd.inverse[m], herd.column[m], herd.beta[m]
    for a in range(last + 1):  # swap the removed column and the last one
        inverse[a, at], inverse[a, last] = inverse[a, last], inverse[a, at]
    for a in range(last + 1):
        inverse[at, a], inverse[last, a] = inverse[last, a], inverse[at, a]
    beta[at], beta[last] = beta[last], beta[at]
    column[at] = column[last]
    herd.place[m, column[at]] = at
    herd.place[m, j] = NOT_IN_MODEL
    corner = inverse[last, last]
    pivot, own = 1.0 / corner, beta[last] / corner
    share, partial = work[0], work[1]
    for a in range(last):
        share[a] = -inverse[last, a] / corner
    for a in range(last):
        scaled = share[a] * corner
        for b in range(last):
            inverse[a, b] -= scaled * share[b]
        beta[a] += share[a] * beta[last]
    _partial_products(last, column, share, problem.products, j, partial)
    _spread(herd, m, partial, pivot, own / pivot, 1.0)
    herd.left[m, j], herd.rest[m, j] = pivot, own
    herd.size[m] = last
    herd.q[m] -= own * own / pivot
    herd.log_det[m] -= log(pivot)
    herd.key[m] ^= hash_one(j, 1)
    _tell_own(herd, m)


@jit
def _partial_products(k, column, share, products, j, partial):
    """Products of all columns with the part of column j that others do not explain."""
    for i in range(len(partial)):
        partial[i] = products[j, i]
    for a in range(k):
        row, part = products[column[a]], share[a]
        for i in range(len(partial)):
            partial[i] -= part * row[i]


@jit
def _spread(herd, m, partial, pivot, step, sign):
    """Update the residuals of columns outside the model; the others become invalid."""
    left, rest, scale = herd.left[m], herd.rest[m], sign / pivot
    for i in range(len(partial)):
        rest[i] += partial[i] * step
        left[i] += partial[i] * partial[i] * scale


@jit
def _tell_own(herd, m):
    """Update the residuals of the columns in the model from the inverse."""
    for a in range(herd.size[m]):
        j, corner = herd.column[m, a], herd.inverse[m, a, a]
        herd.left[m, j] = 1.0 / corner
        herd.rest[m, j] = herd.beta[m, a] / corner


@jit
def refactorise(herd, m, problem, work, order, before):
    """Factorise from scratch; return the drift of the values kept so far."""
    k, p = herd.size[m], len(problem.with_y)
    for a in range(k):
        order[a] = herd.column[m, a]
    for j in range(p):
        before[0, j], before[1, j] = herd.left[m, j], herd.rest[m, j]
    clear_model(herd, m, problem)
    for a in range(k):
        add_column(herd, m, order[a], problem, work)
    drift = 0.0
    for j in range(p):
        drift = max(drift, abs(before[0, j] - herd.left[m, j]))
        drift = max(drift, abs(before[1, j] - herd.rest[m, j]))
    return drift
