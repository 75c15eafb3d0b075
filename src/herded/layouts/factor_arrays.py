"""pi(x_i | x_N(i)), summed from the log-tables of the factors of variable i."""

from typing import NamedTuple

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import make_read_only
from herded.system.compilation.jit import jit
from herded.system.last_value_cache import cache_last


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
    """Return where entry e's slice of its factor's table starts, given the other variables.

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
    """Return the same for a binary variable: both logits, kept in registers."""
    zero, one = 0.0, 0.0
    for e in range(entry_start[i], entry_start[i + 1]):
        at = slice_start(table_base, other_start, other, other_ratio, last_stride, e, x)
        zero += log_tables[at]
        one += log_tables[at + own_stride[e]]
    return zero, one


@cache_last
def compile_factors(model: FactorGraph) -> FactorArrays:
    """Lay out the factors of a `FactorGraph` variable by variable."""
    free = model.evidence < 0
    entry_start, table_base, own_stride, other_start, other, other_ratio, last_stride = (
        _factor_entries(
            model.n_variables,
            model.factor_start,
            model.factor_variables,
            model.factor_strides,
            model.table_start,
        )
    )
    neighbour_start, neighbour = _neighbours(entry_start, other_start, other, free)
    return make_read_only(
        FactorArrays(
            cardinalities=model.cardinalities,
            entry_start=entry_start,
            table_base=table_base,
            own_stride=own_stride,
            other_start=other_start,
            other=other,
            other_ratio=other_ratio,
            last_stride=last_stride,
            log_tables=model.log_tables,
            neighbour_start=neighbour_start,
            neighbour=neighbour,
        )
    )


def count_table_rows(factors: FactorArrays, free: np.ndarray) -> np.ndarray:
    """Count rows per variable, none if clamped; as floats, since they may be huge."""
    logs = np.log2(factors.cardinalities[factors.neighbour])
    total = np.concatenate([[0.0], np.cumsum(logs)])
    bits = total[factors.neighbour_start[1:]] - total[factors.neighbour_start[:-1]]
    return np.where(free, np.round(np.exp2(np.minimum(bits, 1000.0))), 0.0)


@jit
def _factor_entries(n, factor_start, variables, strides, table_start):
    """Return where the entries of each variable start; they are in the order of their factors.

    And of each entry the start of its table, its own stride, where its others start, these, the
    ratios of their strides (1 for a first) and the stride of the last.
    """
    entries = len(variables)
    entry_start = np.zeros(n + 1, np.int64)
    for i in variables:
        entry_start[i + 1] += 1
    for i in range(n):
        entry_start[i + 1] += entry_start[i]
    factor, slot = np.empty(entries, np.int64), np.empty(entries, np.int64)
    place, pairs = entry_start.copy(), 0
    for f in range(len(factor_start) - 1):
        arity = factor_start[f + 1] - factor_start[f]
        pairs += arity * (arity - 1)
        for s in range(factor_start[f], factor_start[f + 1]):
            e = place[variables[s]]
            place[variables[s]] += 1
            factor[e], slot[e] = f, s
    base, own = np.empty(entries, np.int64), np.empty(entries, np.int64)
    other_start, other = np.zeros(entries + 1, np.int64), np.empty(pairs, np.uint32)
    ratio, last = np.ones(pairs, np.int64), np.ones(entries, np.int64)
    at = 0
    for e in range(entries):
        base[e], own[e] = table_start[factor[e]], strides[slot[e]]
        for s in range(factor_start[factor[e]], factor_start[factor[e] + 1]):
            if s != slot[e]:
                if at > other_start[e]:
                    ratio[at] = last[e] // strides[s]
                other[at], last[e] = variables[s], strides[s]
                at += 1
        other_start[e + 1] = at
    return entry_start, base, own, other_start, other, ratio, last


@jit
def _neighbours(entry_start, other_start, other, free):
    """Return the free variables that share a factor with each: where they start, and they, sorted.

    Every free variable, in order, joins the lists of all its others: each list comes out sorted,
    and who is in it already is its last. There is room for as many as a variable has others.
    """
    n = len(free)
    length, found = np.zeros(n, np.int64), np.empty(len(other), np.uint32)
    for j in range(n):
        if free[j]:
            for o in range(other_start[entry_start[j]], other_start[entry_start[j + 1]]):
                i = other[o]
                end = other_start[entry_start[i]] + length[i]
                if length[i] == 0 or found[end - 1] != j:
                    found[end] = j
                    length[i] += 1
    start = np.zeros(n + 1, np.int64)
    for i in range(n):  # without the gaps
        start[i + 1] = start[i] + length[i]
        for k in range(length[i]):
            found[start[i] + k] = found[other_start[entry_start[i]] + k]
    return start, found[: start[n]].copy()
