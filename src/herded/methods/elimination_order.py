"""Choose the order in which variables are summed out: the cheapest that several heuristics find.

The best order is NP-hard to find. Min-fill is good on most graphs, but ties are many and matter, so
it is run several times with ties broken in other ways; on grids a sweep from one end to the other
is far better. If the first order is cheap, no others are tried.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np

from herded.errors import MemoryLimitError
from herded.models.factor_graph import FactorGraph, as_graph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.system.memory import readable

MAX_AXES = 64  # of a numpy array
ENTRY = 8  # bytes of a float

CHEAP = 2**20  # bytes: nothing to gain by another order
TRIES = 16  # of min-fill with other ties, as long as
TRIED_VARIABLES = 10_000  # are not exceeded by all tries together

Graph = dict[int, set[int]]  # the free neighbours of every free variable


class EliminationOrder(NamedTuple):
    """The free variables in the order they are summed out, and what that costs."""

    order: np.ndarray
    treewidth: int  # variables in the largest cluster, less one
    log2_largest: float  # log2 of its states
    memory: float  # bytes of all clusters, with room to build the largest


Proposal = Callable[[float | None], EliminationOrder]  # within a number of bytes


def fixed_states(graph: FactorGraph | Lattice) -> np.ndarray:
    """The state of every variable that has no choice: by evidence, or by having one state."""
    return np.where(graph.cardinalities == 1, 0, graph.evidence)


def elimination_order(model: Model, max_memory: float | None = None) -> EliminationOrder:
    """The order, of several, whose clusters take the least memory.

    With a `max_memory` in bytes, raises `MemoryLimitError` where all exceed it: each is given up
    as soon as it does.
    """
    _refuse_lattice(model, max_memory)
    graph = as_graph(model)
    around, states = _free_neighbours(graph), graph.cardinalities.tolist()
    _refuse_dense(around, states, max_memory)
    best, refusal = None, None
    for propose in _heuristics(around, states):
        try:
            found = propose(best.memory if best else max_memory)
        except MemoryLimitError as error:
            refusal = refusal or error
            continue
        if best is None or found.memory < best.memory:
            best = found
        if best.memory <= CHEAP:
            break
    if best is None:
        assert refusal is not None
        raise refusal
    return best


def _free_neighbours(graph: FactorGraph) -> Graph:
    free = fixed_states(graph) < 0
    start, members = graph.adjacency
    owner = np.repeat(np.arange(graph.n_variables), np.diff(start))
    linked = free[owner] & free[members]
    around: Graph = {i: set() for i in np.flatnonzero(free).tolist()}
    for i, j in zip(owner[linked].tolist(), members[linked].tolist(), strict=True):
        around[i].add(j)
    return around


def _refuse_lattice(model: Model, max_memory: float | None) -> None:
    """The treewidth of a grid is its shorter side, so no order of a large one need be tried.

    One of more dimensions has such a grid in it: a path to and fro takes several axes for one.
    """
    if isinstance(model, Lattice) and (fixed_states(model) < 0).all():
        sides, states = sorted(model.shape), int(model.cardinalities[0])
        cuts = range(1, len(sides) + 1)
        width = max(min(math.prod(sides[:n]), math.prod(sides[n:])) for n in cuts)
        if model.n_variables > 1:
            _memory(_making(states ** (width + 1)), width + 1, max_memory)


def _refuse_dense(around: Graph, states: list[int], max_memory: float | None) -> None:
    """Every order begins with some variable: where none is cheap, no order need be tried."""
    if around:
        size, i = min((_size(i, near, states), i) for i, near in around.items())
        _memory(_making(size), len(around[i]) + 1, max_memory)


def _heuristics(around: Graph, states: list[int]) -> Iterator[Proposal]:
    """In the order they are tried; the first is the best on most sparse graphs."""
    yield partial(_min_fill, around, states, range(len(states)))
    yield partial(_measured, around, states, _sweep(around))
    for attempt in range(min(TRIES, TRIED_VARIABLES // max(1, len(around)))):
        dice = Random(attempt)
        yield partial(_min_fill, around, states, [dice.random() for _ in states])


def _min_fill(
    original: Graph, states: list[int], ties: Sequence[float], max_memory: float | None
) -> EliminationOrder:
    """Greedy: next comes the variable that joins the fewest strangers.

    Ties go to the smaller cluster, then to the lower number in `ties`.
    """
    around = {i: set(near) for i, near in original.items()}
    size = {i: _size(i, near, states) for i, near in around.items()}
    fill = {
        i: len(near) * (len(near) - 1) // 2 - sum(len(near & around[j]) for j in near) // 2
        for i, near in around.items()
    }
    heap = [(fill[i], size[i], ties[i], i) for i in around]
    heapq.heapify(heap)
    costs = Costs(states, max_memory)
    while heap:
        key = heapq.heappop(heap)
        i = key[-1]
        if i not in around or key[:2] != (fill[i], size[i]):
            continue  # out of date: a newer entry is in the heap, or was
        costs.add(i, around[i])
        for j in _eliminate(i, around, fill, size, states):
            heapq.heappush(heap, (fill[j], size[j], ties[j], j))
    return costs.total()


def _eliminate(
    i: int,
    around: Graph,
    fill: dict[int, int],
    size: dict[int, int],
    states: list[int],
) -> set[int]:
    """Take `i` out of the graph and join its neighbours; the variables whose costs changed."""
    near = around.pop(i)
    changed = set(near)
    for j in near:
        around[j].discard(i)
        fill[j] -= len(around[j] - near)  # pairs of `i` and a stranger to it
        size[j] //= states[i]
    for a, b in combinations(near, 2):
        if b in around[a]:
            continue
        both = around[a] & around[b]
        for c in both:
            fill[c] -= 1
        changed |= both
        fill[a] += len(around[a]) - len(both)
        fill[b] += len(around[b]) - len(both)
        size[a] *= states[b]
        size[b] *= states[a]
        around[a].add(b)
        around[b].add(a)
    return changed


def _sweep(around: Graph) -> list[int]:
    """From one end of each component to the other, in waves: Cuthill and McKee's order, reversed.

    A wave that goes over a grid is as wide as the grid, and no cluster is much larger.
    """
    swept: list[int] = []
    seen: set[int] = set()
    for i in sorted(around, key=lambda i: (len(around[i]), i)):
        if i not in seen:
            end = _wave(around, _wave(around, i)[-1])[-1]
            wave = _wave(around, end)
            swept += wave
            seen.update(wave)
    return swept[::-1]


def _wave(around: Graph, first: int) -> list[int]:
    """The component of `first`, breadth first, those with few neighbours before others."""
    wave, seen = [first], {first}
    for i in wave:
        new = sorted(around[i] - seen, key=lambda j: (len(around[j]), j))
        wave += new
        seen.update(new)
    return wave


def _measured(
    original: Graph, states: list[int], order: list[int], max_memory: float | None
) -> EliminationOrder:
    """What a given order costs."""
    around = {i: set(near) for i, near in original.items()}
    costs = Costs(states, max_memory)
    for i in order:
        near = around.pop(i)
        costs.add(i, near)
        for j in near:
            around[j] |= near
            around[j] -= {i, j}
    return costs.total()


def _size(i: int, near: Iterable[int], states: list[int]) -> int:
    """Entries of the cluster of a variable and its neighbours."""
    return states[i] * math.prod(states[j] for j in near)


def _making(size: int) -> int:
    """Entries that are there while a cluster is made: itself, and three messages at most.

    Whole numbers, since those of dense models are beyond any float.
    """
    return size + 3 * size // 2


class Costs:
    """Variables as they are summed out, and what their clusters take."""

    def __init__(self, states: list[int], max_memory: float | None) -> None:
        self.states, self.max_memory = states, max_memory
        self.clusters: dict[int, frozenset[int]] = {}  # the neighbours of each, in order
        self.entries, self.largest, self.width = 0, 0, 0

    def add(self, i: int, near: set[int]) -> None:
        """Refuses what is above the limit."""
        size = _size(i, near, self.states)
        self.clusters[i] = frozenset(near)
        self.entries, self.largest = self.entries + size, max(self.largest, size)
        self.width = max(self.width, len(near))
        self._checked(self._least())

    def total(self) -> EliminationOrder:
        """The order, once it is whole."""
        memory = self._checked(max(self._least(), self._peak()))
        order = np.array(list(self.clusters), np.int64)
        return EliminationOrder(order, self.width, math.log2(max(1, self.largest)), memory)

    def _least(self) -> int:
        return self.entries - self.largest + _making(self.largest)

    def _peak(self) -> int:
        """Entries at the worst moment: clusters so far, messages that wait, and room to work."""
        place = {i: k for k, i in enumerate(self.clusters)}
        waiting: dict[int, set[frozenset[int]]] = {}  # messages of one scope are added up
        kept = messages = peak = 0
        for i, near in self.clusters.items():
            size = _size(i, near, self.states)
            peak = max(peak, kept + messages + _making(size))
            kept += size
            messages -= sum(self._states_of(scope) for scope in waiting.pop(i, ()))
            if near:
                scopes = waiting.setdefault(min(near, key=place.__getitem__), set())
                messages += 0 if near in scopes else self._states_of(near)
                scopes.add(near)
        return peak

    def _states_of(self, scope: frozenset[int]) -> int:
        return math.prod(self.states[j] for j in scope)

    def _checked(self, entries: int) -> float:
        return _memory(entries, self.width + 1, self.max_memory)


def _memory(entries: int, width: int, max_memory: float | None) -> float:
    """Bytes of so many entries; refused above the limit."""
    memory = ENTRY * float(min(entries, 10**300))
    if max_memory is not None and (memory > max_memory or width > MAX_AXES):
        raise MemoryLimitError(
            f"expected clusters of at most {readable(max_memory)} for exact inference, but this "
            f"model needs {readable(memory)} or more, with {width} variables in a cluster: use "
            "HerdedGibbs, or raise max_memory="
        )
    return memory
