"""Which variables move together: blocks whose joint conditional takes small tables to compute.

A block is what is left when some variables are cut out of the graph, that is, conditioned on.
Variables are eliminated one after another, the smallest cluster first; where even that has too many
entries, a variable is cut: the one that was cut least often so far, of these one with most
neighbours. So several blocks, chosen one after another, are cut in different places, and what stays
as it is in one moves in another.

Hard zeros. Variables of which each decides the other (equal, or opposite) are all in a block or all
cut: beside one that is cut the others could not move. And where a hard factor was cut in every
block, further blocks keep the variables of such factors together, as far as they can be.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.arrays import shuffle
from herded.layouts.factor_arrays import compile_factors
from herded.models.factor_graph import FactorGraph
from herded.system.jit import jit
from herded.system.stream import stream_key

FINE = 2**20  # logarithms of sizes are whole multiples of 1 / FINE
SLACK = 64  # what their rounding may add up to
STREAM = 8  # purpose of the stream that breaks ties
HELD = 2.0**36  # in the order of cuts a held variable comes after all others,
CUT = 2.0**20  # and one that was cut once more after those with more neighbours


class Choice(NamedTuple):
    """Blocks, each in its order of elimination."""

    blocks: list[np.ndarray]
    entries: float  # of all tables of the block that has most


def choose_blocks(graph: FactorGraph, entries: int, count: int) -> Choice:
    """Blocks whose tables have at most `entries` entries.

    As many as `count`, or one where nothing need be cut, or more where variables or hard factors
    would be left out. A variable of more states than `entries` is a table of its own.
    """
    movable = (graph.evidence < 0) & (graph.cardinalities > 1)
    widest = int(graph.cardinalities[movable].max(initial=1))
    chooser = Chooser(graph, movable, max(entries, widest))
    blocks: list[np.ndarray] = []
    for _ in range(count):
        block = chooser.next()
        if len(block) == movable.sum():  # all of it: no need of others
            return Choice([block] if len(block) else [], chooser.most)
        blocks += [block] if len(block) else []
    left = movable.copy()
    for block in blocks:
        left[block] = False
    while left.any():
        blocks.append(chooser.next(left))
        left[blocks[-1]] = False
    ties = _hard_scopes(graph, movable, chooser.entries) if graph.has_hard_zeros else []
    for _ in range(count):
        ties = _torn(ties, blocks, len(movable))
        if not ties:
            break
        held = np.zeros(len(movable), np.int64)
        held[np.concatenate(ties)] = 1
        held[ties[0]] = 2  # these at least are kept together
        blocks.append(chooser.next(held))
    return Choice(blocks, chooser.most)


def order_within(graph: FactorGraph, block: np.ndarray) -> tuple[np.ndarray, float, float]:
    """The order in which a given block is eliminated, and the entries of its largest table and of
    all of them."""
    inside = np.zeros(graph.n_variables, np.bool_)
    inside[block] = True
    chooser = Chooser(graph, inside, np.inf)
    return chooser.next(inside), chooser.largest, chooser.most


class Chooser:
    """Chooses blocks, each of which remembers what the earlier ones have cut."""

    def __init__(self, graph: FactorGraph, movable: np.ndarray, entries: float) -> None:
        factors = compile_factors(graph)
        self.entries, self.movable, self.largest, self.most = entries, movable, 0.0, 0.0
        self.near = factors.neighbour_start, factors.neighbour
        self.logs = np.round(FINE * np.log2(graph.cardinalities)).astype(np.int64)
        self.limit = 2**62 if entries == np.inf else int(FINE * np.log2(entries)) + SLACK
        self.cuts = np.zeros(graph.n_variables, np.int64)
        self.classes = _classes(graph, movable)
        self.number = 0

    def next(self, held: np.ndarray | None = None) -> np.ndarray:
        """One more block; what is `held` (1 or 2) is cut after all else."""
        held = np.zeros(len(self.movable), np.int64) if held is None else held.astype(np.int64)
        order = np.empty(int(self.movable.sum()), np.int64)
        length, largest, total = choose_one(
            *self.near,
            self.logs,
            self.movable,
            self.limit,
            self.cuts,
            held,
            stream_key(self.number, STREAM),
            order,
        )
        order = order[:length]
        self.number += 1
        self.largest, self.most = float(np.exp2(largest / FINE)), max(self.most, total)
        if not held.any():
            torn = np.zeros(len(self.movable), np.bool_)  # classes of which some were cut
            torn[self.classes[self._without(order)]] = True
            order = order[~torn[self.classes[order]]]
        self.cuts += self._without(order)
        return order

    def _without(self, order: np.ndarray) -> np.ndarray:
        """(N,) whether a variable moves, but not in this block."""
        left = self.movable.copy()
        left[order] = False
        return left


def _torn(
    scopes: list[np.ndarray], blocks: list[np.ndarray], variables: int
) -> list[np.ndarray]:
    """Those of the scopes that no block has whole."""
    inside = np.zeros((len(blocks), variables), np.bool_)
    for b, block in enumerate(blocks):
        inside[b, block] = True
    return [scope for scope in scopes if not inside[:, scope].all(axis=1).any()]


def _hard_scopes(graph: FactorGraph, movable: np.ndarray, entries: float) -> list[np.ndarray]:
    """The movable variables of each factor that ties some by hard zeros, if a table holds them."""
    is_hard = np.logical_or.reduceat(np.isneginf(graph.log_tables), graph.table_start[:-1])
    found: dict[bytes, np.ndarray] = {}
    for f in np.flatnonzero(is_hard).tolist():
        scope = graph.factor_variables[graph.factor_start[f] : graph.factor_start[f + 1]]
        scope = np.sort(scope[movable[scope]])
        if len(scope) > 1 and np.prod(graph.cardinalities[scope].astype(float)) <= entries:
            found[scope.tobytes()] = scope
    return list(found.values())


def _classes(graph: FactorGraph, movable: np.ndarray) -> np.ndarray:
    """(N,) the first variable of each one's class: those of which each decides the others."""
    first = np.arange(graph.n_variables)
    if not graph.has_hard_zeros:
        return first

    def find(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = int(first[i])
        return i

    is_hard = np.logical_or.reduceat(np.isneginf(graph.log_tables), graph.table_start[:-1])
    for f in np.flatnonzero(is_hard).tolist():
        scope, table = graph.factor(f)
        free = movable[scope]
        if free.sum() != 2:
            continue
        known = np.maximum(graph.evidence[scope], 0)
        possible = ~np.isneginf(
            table[tuple(slice(None) if a else k for a, k in zip(free, known, strict=True))]
        )
        if (possible.sum(axis=0) <= 1).all() and (possible.sum(axis=1) <= 1).all():
            i, j = sorted(find(int(v)) for v in scope[free])
            first[j] = i
    return np.array([find(i) for i in range(len(first))], np.int64)


@jit
def choose_one(near_start, near, logs, movable, limit, cuts, held, key, order):
    """Write a block's order of elimination into `order`; give its length, the log of the entries of
    its largest table, and the entries of all.

    Neighbours that are left are linked lists of `ends`, to which elimination adds. What is gone
    stays in the lists and is passed over.
    """
    n = len(movable)
    gone = np.empty(n, np.bool_)
    head, degree, size = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    ends, following = np.empty(len(near) + 64, np.int64), np.empty(len(near) + 64, np.int64)
    tie, used, around = np.empty(n), 0, np.arange(n)
    shuffle(around, np.arange(n), key, np.uint64(0))
    for i in range(n):
        gone[i] = not movable[i]
        head[i], degree[i], size[i] = -1, 0, logs[i]
        tie[around[i]] = i / n
    left = 0
    for i in range(n):
        if gone[i]:
            continue
        left += 1
        for e in range(near_start[i], near_start[i + 1]):
            j = np.int64(near[e])
            if movable[j]:
                ends[used], following[used], head[i] = j, head[i], used
                used += 1
                degree[i] += 1
                size[i] += logs[j]
    smallest, small_place, small_key = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    first_cut, cut_place, cut_key = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    at = 0
    for i in range(n):
        if not gone[i]:
            smallest[at], small_place[i], small_key[i] = i, at, size[i] + tie[i]
            first_cut[at], cut_place[i] = i, at
            cut_key[i] = HELD * held[i] + CUT * cuts[i] - degree[i] + tie[i]
            at += 1
    for at in range(left // 2 - 1, -1, -1):
        sift_down(smallest, small_place, small_key, at, left)
        sift_down(first_cut, cut_place, cut_key, at, left)
    length, largest, total = 0, 0, 0.0
    while left > 0:
        i = smallest[0]
        eliminates = size[i] <= limit
        if not eliminates:
            i = first_cut[0]
        remove(smallest, small_place, small_key, i, left)
        remove(first_cut, cut_place, cut_key, i, left)
        left -= 1
        gone[i] = True
        count, e = 0, head[i]
        while e >= 0:
            j = ends[e]
            if not gone[j]:
                around[count] = j
                count += 1
                degree[j] -= 1
                size[j] -= logs[i]
            e = following[e]
        if eliminates:
            order[length] = i
            length += 1
            largest = max(largest, size[i])
            total += 2.0 ** (size[i] / FINE)
            for a in range(count):
                for b in range(a):
                    j, k = around[a], around[b]
                    if degree[j] > degree[k]:
                        j, k = k, j
                    e = head[j]
                    while e >= 0 and ends[e] != k:
                        e = following[e]
                    if e >= 0:
                        continue
                    if used + 2 > len(ends):
                        ends, following = longer(ends), longer(following)
                    ends[used], following[used], head[j] = k, head[j], used
                    ends[used + 1], following[used + 1], head[k] = j, head[k], used + 1
                    used += 2
                    degree[j] += 1
                    degree[k] += 1
                    size[j] += logs[k]
                    size[k] += logs[j]
        for a in range(count):
            j = around[a]
            small_key[j] = size[j] + tie[j]
            cut_key[j] = HELD * held[j] + CUT * cuts[j] - degree[j] + tie[j]
            moved(smallest, small_place, small_key, j, left)
            moved(first_cut, cut_place, cut_key, j, left)
    return length, largest, total


@jit
def longer(array):
    """A copy with room for as much again."""
    copy = np.empty(2 * len(array), np.int64)
    for at in range(len(array)):
        copy[at] = array[at]
    return copy


# -- a heap of variables whose keys may change -----------------------------------------------------


@jit
def sift_down(heap, place, keys, at, length):
    """Let the variable at `at` sink to where it belongs."""
    i = heap[at]
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        if child + 1 < length and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if not keys[heap[child]] < keys[i]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = i
    place[i] = at


@jit
def moved(heap, place, keys, i, length):
    """Put a variable whose key has changed where it belongs."""
    at = place[i]
    while at > 0 and keys[i] < keys[heap[(at - 1) // 2]]:
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    heap[at] = i
    place[i] = at
    sift_down(heap, place, keys, at, length)


@jit
def remove(heap, place, keys, i, length):
    """Take a variable out of a heap of so many."""
    at, last = place[i], heap[length - 1]
    if last != i:
        heap[at] = last
        place[last] = at
        moved(heap, place, keys, last, length - 1)
