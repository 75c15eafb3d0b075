"""Binary variables with pair interactions: a conditional is a sigmoid of a whole number.

    pi(X_i = 1 | x) = sigmoid(field_i),   field_i = alone_i + sum over neighbours j of J_ij x_j

Fields and couplings are whole numbers at scale 2^24: sums are exact in any order, so the bits do
not depend on how a loop is cut or vectorised. p is read off a table of the sigmoid in steps of 2^-9
and interpolated, which costs less than 2^-24; the rounding of each factor costs less than 2^-26.

A neighbour and its coupling are one word of 64 bits, a link: it is loads that a visit waits for.
A variable's first MAX_NEAR_NEIGHBOURS links lie in a row of one cache line, filled up with idle
ones: a loop without a test runs over them twice as fast as one whose end the processor must guess.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import fixed_scalar
from herded.layouts.general.table_arrays import MAX_NEAR_NEIGHBOURS
from herded.layouts.proposal import Refusal
from herded.layouts.visit_order import ScanArrays
from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import aligned_zeros, make_read_only
from herded.system.compilation.jit import jit

FIELD_BITS, STEP_BITS = 24, 9
FIELD_ONE = float(2**FIELD_BITS)
MAX_ABS_FIELD = 23 << FIELD_BITS  # beyond it p is 0 or 2^31
REST_BITS = FIELD_BITS - STEP_BITS
LINK_BITS = 32  # of the neighbour; its coupling is above them
MAX_INT32_COUPLING = 127.0  # couplings have 32 bits
MAX_LOG_POTENTIAL = 2.0**20  # log-potentials, whose sums have 64


class BinaryPairsArrays(NamedTuple):
    """Links by variable; neighbours are free variables, what is clamped is in `alone`.

    A batch is a range of the scan in which no two variables are neighbours.
    """

    alone: np.ndarray  # (N,) the field where all neighbours are 0
    # (N * MAX_NEAR_NEIGHBOURS,) links, to itself by 0 where there are fewer neighbours
    near: np.ndarray
    far_start: np.ndarray  # (N,) where its links beyond the first MAX_NEAR_NEIGHBOURS start
    far: np.ndarray  # links, a 0 behind the last of each variable
    sigmoid: np.ndarray  # uint32 at scale 2^31, from -23 to 23
    batch_start: np.ndarray  # where in the scan batches begin, and the last one ends
    first_batch: np.ndarray  # of each segment of the scan, and the number of all


class Couplings(NamedTuple):
    """The rounded form of a pairwise model."""

    alone: np.ndarray  # (N,) int64
    first: np.ndarray  # (E,) variables, sorted
    second: np.ndarray  # (E,) a neighbour of each, sorted
    coupling: np.ndarray  # (E,) int64, none of them 0

    @property
    def bytes(self) -> float:
        """Memory of `BinaryPairsArrays`, and of the fields while they are kept."""
        return 8.0 * (MAX_NEAR_NEIGHBOURS + 7) * len(self.alone) + 8.0 * len(self.first) + 2.0**17


def find_couplings(graph: FactorGraph) -> Couplings | Refusal:
    """Return the couplings of a model of binary variables and pair interactions."""
    free = graph.evidence < 0
    if not (graph.cardinalities[free] == 2).all():
        return Refusal("its variables are not binary")
    if np.diff(graph.factor_start).max(initial=0) > 2:
        return Refusal("it has factors of more than two variables")
    if not np.abs(graph.log_tables).max(initial=0.0) <= MAX_LOG_POTENTIAL:
        return Refusal(f"it has log-potentials beyond {MAX_LOG_POTENTIAL:.0f}")
    couplings = round_couplings(graph)
    if np.abs(couplings.coupling).max(initial=0) > MAX_INT32_COUPLING * FIELD_ONE:
        return Refusal(f"it has couplings beyond {MAX_INT32_COUPLING:.0f}")
    return couplings


def round_couplings(graph: FactorGraph) -> Couplings:
    """Round the parts of fields one log-potential at a time, then sum them."""
    n, free, tables = graph.n_variables, graph.evidence < 0, graph.log_tables
    alone, pairs, strengths = np.zeros(n, np.int64), [np.empty(0, np.int64)], [np.empty(0)]
    for factors, variables, strides in graph.by_arity():
        arity, at = variables.shape[1], graph.table_start[factors]
        for own in range(arity):
            mine = free[variables[:, own]]
            i, here, stride = variables[mine, own], at[mine], strides[mine, own]
            if arity == 2:
                j, step = variables[mine, 1 - own], strides[mine, 1 - own]
                zero = here + step * np.maximum(graph.evidence[j], 0)
                np.add.at(alone, i, _to_fixed_point(tables[zero + stride] - tables[zero]))
                open_end = free[j]
                i, j, zero = i[open_end], j[open_end], zero[open_end]
                stride, one = stride[open_end], zero + step[open_end]
                change = tables[one + stride] - tables[one] - (tables[zero + stride] - tables[zero])
                pairs.append(i * n + j)
                strengths.append(_to_fixed_point(change))
            else:
                np.add.at(alone, i, _to_fixed_point(tables[here + stride] - tables[here]))
    keys, place = np.unique(np.concatenate(pairs), return_inverse=True)
    coupling = np.zeros(len(keys), np.int64)
    np.add.at(coupling, place, np.concatenate(strengths).astype(np.int64))
    keys, coupling = keys[coupling != 0], coupling[coupling != 0]
    return Couplings(alone, keys // max(n, 1), keys % max(n, 1), coupling)


def _to_fixed_point(log_potential: np.ndarray) -> np.ndarray:
    return np.rint(log_potential * FIELD_ONE).astype(np.int64)


def compile_binary_pairs(c: Couplings, scan: ScanArrays) -> BinaryPairsArrays:
    """Lay the couplings out: the first MAX_NEAR_NEIGHBOURS of each variable in rows, the others
    behind.
    """
    n = len(c.alone)
    links = (c.coupling << LINK_BITS) | c.second
    start = np.searchsorted(c.first, np.arange(n + 1))
    rank = np.arange(len(c.first)) - start[c.first]
    is_near = rank < MAX_NEAR_NEIGHBOURS
    near = aligned_zeros((n * MAX_NEAR_NEIGHBOURS,), np.int64)
    near[:] = np.repeat(np.arange(n), MAX_NEAR_NEIGHBOURS)
    near[c.first[is_near] * MAX_NEAR_NEIGHBOURS + rank[is_near]] = links[is_near]
    # with a 0 behind each
    ends = np.cumsum(np.maximum(np.diff(start) - MAX_NEAR_NEIGHBOURS, 0) + 1)
    far_start = np.concatenate([[0], ends])[:n]
    place = far_start[c.first[~is_near]] + rank[~is_near] - MAX_NEAR_NEIGHBOURS
    far = np.zeros(n + len(place), np.int64)
    far[place] = links[~is_near]
    batches = find_batches(scan.order, scan.segment_start, start, c.second)
    return make_read_only(
        BinaryPairsArrays(c.alone, near, far_start, far, sigmoid_table(), *batches)
    )


@jit
def find_batches(order, segment_start, start, neighbour):
    """Return batches that are as long as possible; none is in two segments."""
    batch_of = np.full(len(start) - 1, -1)
    batch_start, first_batch = np.empty(len(order) + 1, np.int64), np.empty_like(segment_start)
    batches = 0
    for g in range(len(segment_start) - 1):
        first_batch[g] = batches
        for o in range(segment_start[g], segment_start[g + 1]):
            meets = o == segment_start[g]
            for e in range(start[order[o]], start[order[o] + 1]):
                meets |= batch_of[neighbour[e]] == batches - 1
            if meets:
                batch_start[batches] = o
                batches += 1
            batch_of[order[o]] = batches - 1
    first_batch[-1], batch_start[batches] = batches, len(order)
    return batch_start[: batches + 1].copy(), first_batch


@cache
def sigmoid_table() -> np.ndarray:
    """Return round(2^31 / (1 + exp(-a))) for a = -23, -23 + 2^-9, .. 23."""
    table = np.empty(2 * (MAX_ABS_FIELD >> REST_BITS) + 1, np.uint32)
    _fill_sigmoid(table)
    table.flags.writeable = False
    return table


@jit
def _fill_sigmoid(table):
    for step in range(len(table)):
        a = (step - (MAX_ABS_FIELD >> REST_BITS)) / 2.0**STEP_BITS
        table[step] = fixed_scalar(0.0, a, 1.0)


@jit
def neighbour_of(link):
    """Return the variable at the other end; unsigned, which costs no check of a sign."""
    return np.uint32(link & 0xFFFFFFFF)


@jit
def coupling_of(link):
    return link >> LINK_BITS


@jit
def near_row(i):
    """Return where the near links of variable `i` start."""
    return np.uint64(i) * np.uint64(MAX_NEAR_NEIGHBOURS)


@jit
def field_of(alone, near, far_start, far, i, x):
    """Return the field of variable `i` in the state `x`.

    The second loop looks for its end: the compiler would vectorise one that counts, which takes
    three times as long for the few neighbours there are.
    """
    field = alone[i]
    row = near_row(i)
    for e in range(MAX_NEAR_NEIGHBOURS):
        link = near[row + np.uint64(e)]
        field += coupling_of(link) * np.int64(x[neighbour_of(link)])
    e = np.uint64(far_start[i])
    while far[e]:
        field += coupling_of(far[e]) * np.int64(x[neighbour_of(far[e])])
        e += np.uint64(1)
    return field


@jit
def fixed_sigmoid(field, sigmoid):
    """Return p of the scalar rule, interpolated between two entries of the table."""
    place = np.uint64(min(max(field, -MAX_ABS_FIELD), MAX_ABS_FIELD - 1) + MAX_ABS_FIELD)
    step = place >> np.uint64(REST_BITS)
    rest = np.int64(place & np.uint64((1 << REST_BITS) - 1))
    low, high = np.int64(sigmoid[step]), np.int64(sigmoid[step + np.uint64(1)])
    return np.uint32(low + (((high - low) * rest) >> REST_BITS))
