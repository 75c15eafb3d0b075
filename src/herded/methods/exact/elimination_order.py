"""The order in which variables are summed out: the cheapest that several heuristics find.

The best order is NP-hard to find. Min-fill is good on most graphs, but ties are many and matter, so
it is run several times with ties broken in other ways; on grids a sweep from one end to the other
is far better. How many are tried depends on what the elimination would take: to look for a better
order takes a small part of it.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np

from herded.errors import MemoryLimitError
from herded.models.constraints.start_states import possible_states
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.system.diagnostics.phrases import HERDED, RAISE_MAX_MEMORY, Phrase, Remedy
from herded.system.memory_limits import size_text

MAX_AXES = 64  # of a numpy array
MAX_JOINT = 2**20  # states of a model whose joint is written out
BYTES_PER_ENTRY = 8  # bytes of a float
MAX_SLICES = 2**12  # of one model: no message may exceed the limit by a larger factor

CHEAP_ENTRIES = 2**17  # entries of all clusters: nothing to gain by another order
DISTINCT_HEURISTICS = 2  # further heuristics are variants that break ties differently
MIN_FILL_TRIES = 16  # of min-fill with other ties
# times as many variables left as in the cluster that is too large: ties gain a few
HOPELESS_RATIO = 2
# entries of clusters that take as long as to find places for a few variables
MIN_ENTRIES_TO_RETRY = 2**15

AdjacencyList = dict[int, set[int]]  # the free neighbours of every free variable


class EliminationOrder(NamedTuple):
    """The free variables in the order they are summed out, and what that costs."""

    clusters: dict[int, frozenset[int]]  # of each variable the later ones that it is tied to then
    states: list[int]  # of all variables, as far as they are possible
    possible: np.ndarray  # (N, K) which states are
    work: int  # entries of all clusters: of each variable and the later ones
    treewidth: int  # variables in the largest cluster, less one
    log2_largest: float  # log2 of its states

    @property
    def order(self) -> np.ndarray:
        """The variables."""
        return np.array(list(self.clusters), np.int64)


OrderCandidates = Callable[["EliminationCosts"], None]  # adds all variables, in its order


def elimination_order(
    model: Model, max_memory: float = math.inf, *, prune: bool = True
) -> EliminationOrder:
    """Return the order, of several, that takes the least work.

    With `prune`, states that hard zeros forbid are left out. Raises `MemoryLimitError` where all
    orders have messages that are too large for `max_memory` bytes even if the elimination is cut
    into slices.
    """
    _refuse_lattice(model, max_memory)
    graph = to_factor_graph(model)
    possible = _possible(graph, prune)
    states = possible.sum(axis=1).tolist()
    around = _free_neighbours(graph, states)
    _refuse_dense(around, states, max_memory)
    best, refusal, hopeless = None, None, False
    for tried, propose in enumerate(_heuristics(around, states)):
        if best is not None and best.work < max(
            CHEAP_ENTRIES, (tried - 1) * MIN_ENTRIES_TO_RETRY * len(around)
        ):
            break
        if best is None and hopeless and tried == DISTINCT_HEURISTICS:
            break
        costs = EliminationCosts(states, max_memory, best.work if best else math.inf)
        try:
            propose(costs)
        except MemoryLimitError as error:
            refusal = refusal or error
            if tried == 0:  # by min-fill: would other ties do?
                hopeless = len(around) - len(costs.clusters) > HOPELESS_RATIO * costs.width
        except _TooMuch:
            continue
        else:
            best = costs
    if best is None:
        assert refusal is not None
        raise refusal
    return best.total(possible)


def cost_of_order(graph: FactorGraph, order: np.ndarray) -> EliminationOrder:
    """Compute the cost of an order of all free variables."""
    possible = _possible(graph, prune=False)
    costs = EliminationCosts(possible.sum(axis=1).tolist(), math.inf, math.inf)
    _add_in_order(_free_neighbours(graph, costs.states), order.tolist(), costs)
    return costs.total(possible)


def _possible(graph: FactorGraph, prune: bool) -> np.ndarray:
    """Return the states (N, K) that can occur, as far as each factor alone can tell."""
    if prune and graph.has_hard_zeros:
        found = possible_states(graph)
        if found.any(axis=1).all():  # else nothing is possible, which elimination will find out
            return found
    states = np.arange(int(graph.cardinalities.max()))
    known, any_ = states == graph.evidence[:, None], states < graph.cardinalities[:, None]
    return np.where(graph.evidence[:, None] >= 0, known, any_)


def _free_neighbours(graph: FactorGraph, states: list[int]) -> AdjacencyList:
    free = np.array(states) > 1
    start, members = graph.adjacency
    owner = np.repeat(np.arange(graph.n_variables), np.diff(start))
    linked = free[owner] & free[members]
    around: AdjacencyList = {i: set() for i in np.flatnonzero(free).tolist()}
    for i, j in zip(owner[linked].tolist(), members[linked].tolist(), strict=True):
        around[i].add(j)
    return around


def _refuse_lattice(model: Model, max_memory: float) -> None:
    """Refuse a large grid without trying orders: its treewidth is its shorter side.

    One of more dimensions has such a grid in it: a path to and fro takes several axes for one.
    """
    is_free = isinstance(model, Lattice) and (model.evidence < 0).all()
    if is_free and model.n_variables > 1 and not model.has_hard_zeros:
        sides, states = sorted(model.shape), int(model.cardinalities[0])
        cuts = range(1, len(sides) + 1)
        width = max(min(math.prod(sides[:n]), math.prod(sides[n:])) for n in cuts)
        check_message(states**width, width + 1, max_memory)


def _refuse_dense(around: AdjacencyList, states: list[int], max_memory: float) -> None:
    """Refuse a dense graph without trying orders: every first variable is too costly."""
    if around:
        size, i = min((_states_of(near, states), i) for i, near in around.items())
        check_message(size, len(around[i]) + 1, max_memory)


def _heuristics(around: AdjacencyList, states: list[int]) -> Iterator[OrderCandidates]:
    """Yield the heuristics in the order of trial; the first is best on most sparse graphs."""
    yield partial(_min_fill, around, range(len(states)))
    yield partial(_add_in_order, around, _bandwidth_order(around))
    for attempt in range(MIN_FILL_TRIES):
        dice = Random(attempt)
        yield partial(_min_fill, around, [dice.random() for _ in states])


def _min_fill(original: AdjacencyList, ties: Sequence[float], costs: "EliminationCosts") -> None:
    """Order greedily: next comes the variable whose removal adds the fewest edges.

    Ties go to the smaller cluster, then to the lower number in `ties`.
    """
    states = costs.states
    around = {i: set(near) for i, near in original.items()}
    size = {i: states[i] * _states_of(near, states) for i, near in around.items()}
    fill = {
        i: len(near) * (len(near) - 1) // 2 - sum(len(near & around[j]) for j in near) // 2
        for i, near in around.items()
    }
    heap = [(fill[i], size[i], ties[i], i) for i in around]
    heapq.heapify(heap)
    while heap:
        key = heapq.heappop(heap)
        i = key[-1]
        if i not in around or key[:2] != (fill[i], size[i]):
            continue  # out of date: a newer entry is in the heap, or was
        costs.add(i, around[i])
        for j in _eliminate(i, around, fill, size, states):
            heapq.heappush(heap, (fill[j], size[j], ties[j], j))


def _eliminate(
    i: int,
    around: AdjacencyList,
    fill: dict[int, int],
    size: dict[int, int],
    states: list[int],
) -> set[int]:
    """Take `i` out of the graph and join its neighbours; the variables whose costs changed."""
    near = around.pop(i)
    changed, rest = set(near), set(near)
    for j in near:
        around[j].discard(i)
        fill[j] -= len(around[j] - near)  # pairs of `i` and a stranger to it
        size[j] //= states[i]
    for a in near:
        rest.discard(a)
        around_a = around[a]
        for b in rest - around_a:
            around_b = around[b]
            both = around_a & around_b
            for c in both:
                fill[c] -= 1
            changed |= both
            fill[a] += len(around_a) - len(both)
            fill[b] += len(around_b) - len(both)
            size[a] *= states[b]
            size[b] *= states[a]
            around_a.add(b)
            around_b.add(a)
    return changed


def _bandwidth_order(around: AdjacencyList) -> list[int]:
    """Order each component from end to end: Cuthill and McKee's order, reversed.

    A wave that goes over a grid is as wide as the grid, and no cluster is much larger.
    """
    swept: list[int] = []
    seen: set[int] = set()
    for i in sorted(around, key=lambda i: (len(around[i]), i)):
        if i not in seen:
            end = _breadth_first_order(around, _breadth_first_order(around, i)[-1])[-1]
            wave = _breadth_first_order(around, end)
            swept += wave
            seen.update(wave)
    return swept[::-1]


def _breadth_first_order(around: AdjacencyList, first: int) -> list[int]:
    """Return the component of `first`, breadth first, those with few neighbours before others."""
    wave, seen = [first], {first}
    for i in wave:
        new = sorted(around[i] - seen, key=lambda j: (len(around[j]), j))
        wave += new
        seen.update(new)
    return wave


def _add_in_order(original: AdjacencyList, order: list[int], costs: "EliminationCosts") -> None:
    """Add variables in a given order."""
    around = {i: set(near) for i, near in original.items()}
    for i in order:
        near = around.pop(i)
        costs.add(i, near)
        for j in near:
            around[j] |= near
            around[j] -= {i, j}


def _states_of(scope: Iterable[int], states: list[int]) -> int:
    """Return the entries of a table over these variables, as a whole number of any size."""
    return math.prod(states[j] for j in scope)


class _TooMuch(Exception):  # noqa: N818
    """An order that costs more than a known one."""


class EliminationCosts:
    """The costs of variables as they are summed out."""

    def __init__(self, states: list[int], max_memory: float, most: float) -> None:
        self.states, self.max_memory, self.most = states, max_memory, most
        self.clusters: dict[int, frozenset[int]] = {}  # the later neighbours of each, in order
        self.work, self.largest, self.width = 0, 1, 0

    def add(self, i: int, near: set[int]) -> None:
        """Add a step; refuse costs above the limit."""
        message = _states_of(near, self.states)
        self.clusters[i] = frozenset(near)
        self.work += self.states[i] * message
        self.largest = max(self.largest, self.states[i] * message)
        self.width = max(self.width, len(near))
        if self.work >= self.most:
            raise _TooMuch
        check_message(message, self.width + 1, self.max_memory)

    def total(self, possible: np.ndarray) -> EliminationOrder:
        """Return the order, once it is whole."""
        largest = math.log2(self.largest)
        return EliminationOrder(
            self.clusters, self.states, possible, self.work, self.width, largest
        )


def check_message(entries: int, width: int, max_memory: float) -> None:
    """Raise where a message is too large, however it is cut."""
    need = BYTES_PER_ENTRY * float(min(entries, 10**300))
    if need > MAX_SLICES * max_memory or width > MAX_AXES:
        raise exact_refusal_error(need, width, max_memory)


def exact_refusal_error(need: float, width: int, max_memory: float) -> MemoryLimitError:
    """Return the error for a model that is too large for exact inference."""
    expected = (
        f"expected clusters of at most {size_text(max_memory)} for exact inference, but this "
        f"model needs {size_text(need)} or more, with {width} variables in a cluster: "
    )
    return MemoryLimitError(Phrase(expected, Remedy(Phrase("use ", HERDED), RAISE_MAX_MEMORY)))
