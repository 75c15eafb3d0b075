"""Any cardinalities, pair interactions: a conditional is a product of tabulated rows.

    pi(X_i = k | x) is proportional to alone_i[k] * product over neighbours j of row_(i,j,x_j)[k]

A row holds exp(log-potential - the largest of the row), so a visit takes no exponentials.
Logarithms are whole numbers at scale 2^24 before they are summed, as in
`layouts.binary_pairs.layout`: the bits do not depend on the order of a model's factors. Rows are
rounded to 32 bits, since it is memory that a visit waits for, and multiplied in 64. All of this
costs p less than 2^-25 for each factor.

Equal tables are kept once: one table for all edges stays in the nearest cache.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.binary_pairs.arrays import FIELD_ONE, LINK_BITS, MAX_LOG_POTENTIAL
from herded.layouts.proposal import Refusal
from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import aligned_copy, aligned_zeros
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import mix64
from herded.system.numerics.exp_log import exp

MAX_COMMON_STATES = 16  # models whose variables all have as many get a kernel for that number
FOUR_ROW_STATES = (3, 4)  # and these one that works in registers, on rows of four
MAX_REGISTER_STATES = 8  # up to as many are multiplied in registers, on rows of eight
MAX_ROW_LOG_RANGE = 80.0  # logarithms of a row: the exp of less has no 32 bits
MAX_PRODUCT_LOG_RANGE = 600.0  # of a product: the exp of less has no 64


class PairArrays(NamedTuple):
    """Links by variable; neighbours are free variables, what is clamped is in `alone`."""

    states: tuple[int, ...]  # its length is the cardinality of all free variables, 0 if they differ
    cardinalities: np.ndarray  # (N,)
    alone: np.ndarray  # (N * width,) float64, 0 behind the last state
    start: np.ndarray  # (N+1,) links of each variable
    links: np.ndarray  # number of the row for x_j = 0, and below it j
    rows: np.ndarray  # (rows * width,) float32, 0 behind the last state


class PairEntries(NamedTuple):
    """A free variable in a factor of two: the place of its rows, sorted by pair."""

    pair_start: np.ndarray  # (P+1,) entries of each pair
    owner: np.ndarray  # (P,) variables, sorted
    other: np.ndarray  # (P,) a neighbour of each, sorted
    base: np.ndarray  # where the factor's table starts
    own_stride: np.ndarray
    other_stride: np.ndarray


class PairInteractions(NamedTuple):
    """A pairwise model before its rows are written."""

    graph: FactorGraph
    entries: PairEntries
    width: int  # of a row
    deepest: float  # how far the logarithms of products may be apart

    @property
    def bytes(self) -> float:
        """Memory of the arrays and of what they are made from, if no two tables are equal."""
        rows = float(self.graph.cardinalities[self.entries.other].sum())
        links, n = float(len(self.entries.owner)), float(self.graph.n_variables)
        return self.width * (8.0 * rows + 24.0 * n) + 72.0 * len(self.entries.base) + 48.0 * links


def find_pair_interactions(graph: FactorGraph) -> PairInteractions | Refusal:
    """Return the pair interactions of a model."""
    free = graph.evidence < 0
    if (graph.cardinalities[free] <= 2).all():
        return Refusal("it has no variable of more than two states")
    if np.diff(graph.factor_start).max(initial=0) > 2:
        return Refusal("it has factors of more than two variables")
    finite = np.isfinite(graph.log_tables)
    if np.abs(graph.log_tables[finite]).max(initial=0.0) > MAX_LOG_POTENTIAL:
        return Refusal(f"it has log-potentials beyond {MAX_LOG_POTENTIAL:.0f}")
    entries, steep, deep = _pair_entries(graph, _spans(graph.log_tables, graph.table_start))
    if steep > MAX_ROW_LOG_RANGE:
        return Refusal(f"log-potentials of a pair differ by more than {MAX_ROW_LOG_RANGE:.0f}")
    if deep > MAX_PRODUCT_LOG_RANGE:
        return Refusal(
            f"log-potentials around a variable differ by more than {MAX_PRODUCT_LOG_RANGE:.0f}"
        )
    return PairInteractions(graph, entries, _row_width(graph.cardinalities[free]), deep)


def _row_width(cardinalities: np.ndarray) -> int:
    """Return the entries of a row: the number of states, or of registers."""
    widest = int(cardinalities.max())
    if widest in FOUR_ROW_STATES:
        return max(FOUR_ROW_STATES)
    return (
        MAX_REGISTER_STATES
        if widest <= MAX_REGISTER_STATES and (cardinalities == widest).all()
        else widest
    )


def _spans(log_tables: np.ndarray, table_start: np.ndarray) -> np.ndarray:
    """Return how far the finite logarithms of each factor are apart."""
    starts = table_start[:-1]
    if len(starts) == 0:
        return np.empty(0)
    possible = np.isfinite(log_tables)
    top = np.maximum.reduceat(log_tables, starts)
    return top - np.minimum.reduceat(np.where(possible, log_tables, np.inf), starts)


def _pair_entries(graph: FactorGraph, spans: np.ndarray) -> tuple[PairEntries, float, float]:
    """Return the pairs' entries, and the most that rows and whole products may spread."""
    n, free = graph.n_variables, graph.evidence < 0
    around = np.bincount(
        graph.factor_variables, np.repeat(spans, np.diff(graph.factor_start)), minlength=n
    )
    parts = [np.empty((6, 0), np.int64)]
    for factors, variables, strides in graph.by_arity():
        if variables.shape[1] != 2:
            continue
        for own in (0, 1):
            i, j = variables[:, own], variables[:, 1 - own]
            both = np.flatnonzero(free[i] & free[j])
            base, mine, other = graph.table_start[factors], strides[:, own], strides[:, 1 - own]
            parts.append(np.stack([i, j, base, mine, other, factors])[:, both])
    i, j, base, mine, other, factor = np.concatenate(parts, axis=1)
    order = np.lexsort((j, i))
    keys, start = np.unique((i * n + j)[order], return_index=True)
    steep = np.zeros(len(keys))
    np.add.at(steep, np.searchsorted(keys, i * n + j), spans[factor])
    first = order[start]
    entries = PairEntries(
        np.append(start, len(order)), i[first], j[first], base[order], mine[order], other[order]
    )
    return entries, float(steep.max(initial=0.0)), float(around.max(initial=0.0))


def compile_pairs(pairs: PairInteractions) -> PairArrays:
    """Write the rows out."""
    graph, entries, width, _ = pairs
    cards, n = graph.cardinalities, graph.n_variables
    alone = aligned_zeros((n * width,), np.float64)
    _fill_unary_rows(*_sum_unary_terms(graph, width), cards, graph.evidence, width, alone)
    # Pages of zeros that are never written to take no memory: there is room for all rows.
    rows = aligned_zeros((int(cards[entries.other].sum()) * width,), np.float32)
    first = np.empty(len(entries.owner), np.int64)
    seen = np.full(2 ** (2 * len(first)).bit_length(), -1)
    used = _fill_rows(entries, graph.log_tables, cards, width, seen, rows, first)
    if used * width < len(rows):
        rows = aligned_copy(rows[: used * width])
    states = np.unique(cards[graph.evidence < 0])
    common = int(states[0]) if len(states) == 1 and states[0] <= MAX_COMMON_STATES else 0
    start = np.searchsorted(entries.owner, np.arange(n + 1))
    links = (first << LINK_BITS) | entries.other
    for array in (cards, alone, start, links, rows):
        array.flags.writeable = False
    return PairArrays((0,) * common, cards, alone, start, links, rows)


def _sum_unary_terms(graph: FactorGraph, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum the terms without a free neighbour, (N, width) at scale 2^24; count hard zeros."""
    free, tables = graph.evidence < 0, graph.log_tables
    fixed = np.zeros((graph.n_variables, width), np.int64)
    impossible = np.zeros((graph.n_variables, width), np.int64)
    for factors, variables, strides in graph.by_arity():
        for own in range(variables.shape[1]):
            i, at, stride = variables[:, own], graph.table_start[factors], strides[:, own]
            mine = free[i]
            if variables.shape[1] == 2:
                value = graph.evidence[variables[:, 1 - own]]
                mine, at = mine & (value >= 0), at + strides[:, 1 - own] * value
            for k in range(width):
                these = np.flatnonzero(mine & (k < graph.cardinalities[i]))
                logs = tables[at[these] + k * stride[these]]
                possible = np.isfinite(logs)
                np.add.at(impossible[:, k], i[these], ~possible)
                rounded = np.rint(np.where(possible, logs, 0.0) * FIELD_ONE).astype(np.int64)
                np.add.at(fixed[:, k], i[these], rounded)
    return fixed, impossible


@jit
def _fill_unary_rows(fixed, impossible, cards, evidence, width, alone):
    for i in range(len(cards)):
        if evidence[i] < 0:
            write_row(fixed[i], impossible[i], cards[i], alone, i * width)


@jit
def _fill_rows(entries, log_tables, cards, width, seen, rows, first):
    """Write every pair's table behind the others unless it is there; gives how many rows there are.

    first[e] becomes the first row of pair e. `seen` is a hash table of pairs, of a size 2^k.
    """
    bits, used, last = rows.view(np.uint32), 0, np.uint64(len(seen) - 1)
    for e in range(len(first)):
        count = cards[entries.other[e]]
        table = bits[used * width : (used + count) * width]
        table[:] = 0  # of what was there already
        _write_table(entries, log_tables, cards, e, width, rows, used)
        slot = np.int64(_hash(table) & last)
        while seen[slot] >= 0:
            twin = first[seen[slot]] * width
            same = cards[entries.other[seen[slot]]] == count
            if same and _equal(bits[twin : twin + count * width], table):
                break
            slot = np.int64(np.uint64(slot + 1) & last)
        if seen[slot] < 0:
            seen[slot], first[e] = e, used
            used += count
        else:
            first[e] = first[seen[slot]]
    return used


@jit
def _equal(one, other):
    """Return whether two rows of one length are the same."""
    for k in range(len(one)):  # noqa: SIM110  generators take long to compile
        if one[k] != other[k]:
            return False
    return True


@jit
def _hash(table):
    found = np.uint64(len(table))
    for bits in table:
        found = mix64(found ^ np.uint64(bits))
    return found


@jit
def _write_table(entries, log_tables, cards, e, width, rows, first):
    """Write the rows of pair e, from row number `first` on."""
    fixed, impossible = np.zeros(width, np.int64), np.zeros(width, np.int64)
    pair_start, base = entries.pair_start, entries.base
    own_stride, other_stride = entries.own_stride, entries.other_stride
    states = cards[entries.owner[e]]
    for value in range(cards[entries.other[e]]):
        fixed[:] = 0
        impossible[:] = 0
        for f in range(pair_start[e], pair_start[e + 1]):
            at = base[f] + value * other_stride[f]
            for k in range(states):
                log = log_tables[at + k * own_stride[f]]
                if np.isfinite(log):
                    fixed[k] += np.int64(np.rint(log * FIELD_ONE))
                else:
                    impossible[k] += 1
        write_row(fixed, impossible, states, rows, (first + value) * width)


@jit
def write_row(fixed, impossible, states, rows, at):
    """Write exp of logarithms at scale 2^24, scaled by the largest; all 0 if all are impossible."""
    top, found = np.int64(0), False
    for k in range(states):
        if impossible[k] == 0 and (not found or fixed[k] > top):
            top, found = fixed[k], True
    for k in range(states):
        if impossible[k] == 0:
            rows[at + k] = exp((fixed[k] - top) / FIELD_ONE)
