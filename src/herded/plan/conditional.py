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
    other: np.ndarray
    other_stride: np.ndarray
    log_tables: np.ndarray
    neighbour_start: np.ndarray  # (N+1,) free variables that share a factor, sorted
    neighbour: np.ndarray


@jit
def log_conditional(f, i, x, logits):
    """Write log pi(X_i = k | x_N(i)), up to a constant, into `logits`."""
    states = f.cardinalities[i]
    for k in range(states):
        logits[k] = 0.0
    for e in range(f.entry_start[i], f.entry_start[i + 1]):
        at = f.table_base[e]
        for o in range(f.other_start[e], f.other_start[e + 1]):
            at += np.int64(x[f.other[o]]) * f.other_stride[o]
        stride = f.own_stride[e]
        for k in range(states):
            logits[k] += f.log_tables[at + k * stride]


@jit
def fixed_scalar(logits, beta):
    """p of the scalar rule at inverse temperature `beta`."""
    a, b = logits[0], logits[1]
    if a == b:  # also where both are -inf: an unreachable context
        return np.uint32(2**30)
    return np.uint32(SCALAR_ONE / (1.0 + np.exp(beta * (a - b))) + 0.5)


@jit
def fixed_vector(logits, beta, states, p, at):
    """p of the vector rule into p[at : at + states]; `logits` is spoiled."""
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
    before = 0
    for k in range(states):
        upto = np.int64(logits[k] / total * VECTOR_ONE + 0.5)
        p[at + k] = upto - before
        before = upto


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
        other=model.factor_variables[other_slot],
        other_stride=model.factor_strides[other_slot],
        log_tables=model.log_tables,
        neighbour_start=np.concatenate([[0], np.cumsum(degree)]),
        neighbour=members[linked],
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
