"""pi(x_i | x_N(i)) from log-tables, and in fixed point.

Scalar rule (every variable binary): p = round(pi(X_i = 1 | .) * 2^31), so 0 and 1 are exact.
Vector rule: p_k at scale 2^24, by rounding the cumulated probabilities: the p_k sum to 2^24
exactly, each is within one quantum of its probability, and an impossible state has p_k = 0.
"""

from typing import NamedTuple

import numpy as np

from herded.jit import jit

SCALAR_BITS, VECTOR_BITS = 31, 24
SCALAR_ONE, VECTOR_ONE = float(2**SCALAR_BITS), float(2**VECTOR_BITS)


class FactorArrays(NamedTuple):
    """For each variable, the factors it is in and how to find its slice of their tables."""

    cardinalities: np.ndarray  # (N,)
    entry_start: np.ndarray  # (N+1,) entries (variable, factor) of each variable
    table_base: np.ndarray  # per entry: where the factor's table starts
    own_stride: np.ndarray  # per entry: stride of the variable itself
    other_start: np.ndarray  # per entry (+1): its factor's other variables
    other: np.ndarray  # uint32
    other_ratio: np.ndarray  # stride of the one before, over its own
    last_stride: np.ndarray  # per entry: stride of the last other
    log_tables: np.ndarray
    neighbour_start: np.ndarray  # (N+1,) free variables that share a factor, sorted
    neighbour: np.ndarray  # uint32: an unsigned index costs no check of its sign


@jit
def slice_start(table_base, other_start, other, other_ratio, last_stride, e, x):
    """Where entry e's slice of its factor's table starts, given the other variables.

    By Horner's rule, sum_o x_o * stride_o: each step needs the one before, which keeps the
    compiler from vectorising a loop that nearly always has one or two turns.
    """
    at = 0
    for o in range(other_start[e], other_start[e + 1]):
        at = at * other_ratio[o] + np.int64(x[other[o]])
    return table_base[e] + at * last_stride[e]


@jit
def log_conditional(
    entry_start, table_base, own_stride, other_start, other, other_ratio, last_stride, log_tables,
    states, i, x, logits,
):  # fmt: skip
    """Write log pi(X_i = k | x_N(i)), up to a constant, into `logits`.

    The arrays come one by one because a tuple of them passed in the inmost loop costs more than
    the sum itself: Numba counts references to each.
    """
    for k in range(states):
        logits[k] = 0.0
    for e in range(entry_start[i], entry_start[i + 1]):
        at = slice_start(table_base, other_start, other, other_ratio, last_stride, e, x)
        stride = own_stride[e]
        for k in range(states):
            logits[k] += log_tables[at + k * stride]


@jit
def log_conditional_pair(
    entry_start, table_base, own_stride, other_start, other, other_ratio, last_stride, log_tables,
    i, x,
):  # fmt: skip
    """The same for a binary variable: both logits, kept in registers."""
    zero, one = 0.0, 0.0
    for e in range(entry_start[i], entry_start[i + 1]):
        at = slice_start(table_base, other_start, other, other_ratio, last_stride, e, x)
        zero += log_tables[at]
        one += log_tables[at + own_stride[e]]
    return zero, one


@jit
def fixed_scalar(zero, one, beta):
    """p of the scalar rule from both logits, at inverse temperature `beta`."""
    if zero == one:  # also where both are -inf: an unreachable context
        return np.uint32(2**30)
    return np.uint32(SCALAR_ONE / (1.0 + np.exp(beta * (zero - one))) + 0.5)


@jit
def coarse_scalar(p):
    """p of the scalar rule at scale 2^15, where only what is certain has p = 0 or 1."""
    if p == 0 or p == 2**SCALAR_BITS:
        return p >> 16
    return min(max((p + 2**15) >> 16, 1), 2**15 - 1)


@jit
def fixed_vector(logits, beta, states, p, at):
    """Write p of the vector rule into p[at : at + states] and give its mean state, at scale 2^24.

    `logits` is spoiled.
    """
    top = logits[0]
    for k in range(1, states):
        if logits[k] > top:
            top = logits[k]
    total = 0.0
    for k in range(states):
        gap = logits[k] - top
        if not gap < 0.0:  # the best states, and all of an unreachable context
            total += 1.0
        else:
            total += np.exp(beta * gap)
        logits[k] = total
    before, above = 0, 0  # above: the sum over k of P(X > k), which is the mean
    for k in range(states):
        upto = np.int64(logits[k] / total * VECTOR_ONE + 0.5)
        p[at + k] = upto - before
        above += (1 << VECTOR_BITS) - upto
        before = upto
    return above


def compile_factors(model) -> FactorArrays:
    """Lay out the factors of a `FactorGraph` variable by variable."""
    free = model.evidence < 0
    arity = np.diff(model.factor_start)
    slot_factor = np.repeat(np.arange(model.n_factors), arity)
    slots = np.argsort(model.factor_variables, kind="stable")  # by variable, then by factor
    factor = slot_factor[slots]
    others = arity[factor] - 1
    other_start = np.concatenate([[0], np.cumsum(others)])
    # The other slots of an entry's factor: all of them, its own skipped.
    rank = np.arange(other_start[-1]) - np.repeat(other_start[:-1], others)
    own_rank = slots - model.factor_start[factor]
    rank += rank >= np.repeat(own_rank, others)
    other_slot = np.repeat(model.factor_start[factor], others) + rank
    stride = model.factor_strides[other_slot]
    ratio = np.ones_like(stride)
    ratio[1:] = np.maximum(stride[:-1] // stride[1:], 1)  # meaningless, and unused, for a first
    last_stride = np.ones(len(slots), np.int64)
    last_stride[others > 0] = stride[other_start[1:][others > 0] - 1]
    counts = np.bincount(model.factor_variables, minlength=model.n_variables)
    start, members = model.adjacency
    owner = np.repeat(np.arange(model.n_variables), np.diff(start))
    linked = free[members]
    degree = np.bincount(owner[linked], minlength=model.n_variables)
    arrays = FactorArrays(
        cardinalities=model.cardinalities,
        entry_start=np.concatenate([[0], np.cumsum(counts)]),
        table_base=model.table_start[factor],
        own_stride=model.factor_strides[slots],
        other_start=other_start,
        other=model.factor_variables[other_slot].astype(np.uint32),
        other_ratio=ratio,
        last_stride=last_stride,
        log_tables=model.log_tables,
        neighbour_start=np.concatenate([[0], np.cumsum(degree)]),
        neighbour=members[linked].astype(np.uint32),
    )
    return lock(arrays)


def lock(arrays):
    """The same tuple with contiguous, read-only arrays."""
    kept = []
    for array in arrays:
        array = np.ascontiguousarray(array)
        if array.flags.writeable:
            array.flags.writeable = False
        kept.append(array)
    return type(arrays)(*kept)
