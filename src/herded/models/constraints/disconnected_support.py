"""Classes of states that moves cannot pass between, under hard zeros.

Let S be a set of variables that hard factors tie, and consider the states x_S that the hard
factors within S allow. A move of one variable leaves x_S as it is or moves it along one axis. A
move of a block moves x_S along the axes of the block's variables in S. If the graph of these moves
falls apart into classes, no chain leaves the class of its x_S, even if every single state of every
variable occurs in each class. Other factors can only split the classes further.

If S is a whole component, no other factor forbids its states, so all of its classes are
possible: components with few joint states are searched exactly. In a larger component, clusters
of factors are examined; that another class of a cluster is possible is then proved by finding a
state in it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from herded.errors import HerdedError
from herded.models.constraints.start_states import MAX_DEAD_ENDS, possible_states, start_state
from herded.models.evidence import IndexEvidence
from herded.models.factor_graph import FactorGraph
from herded.models.structure_queries import count_joint_states
from herded.system.last_value_cache import cache_last
from herded.system.numerics.counter_rng import stream_key

MAX_COMPONENT_STATES = 2**16  # joint states of a component that is searched exactly
MAX_CLUSTER_STATES = 2**12  # joint states of a cluster within a larger component
MAX_CLUSTERS = 64
MAX_TOTAL_STATES = 2**20  # joint states examined in all
MAX_CLASS_SEARCHES = 8  # searches for states of other classes


class OpenHardFactor(NamedTuple):
    """The undecided variables of a hard factor, and the states of these that it allows."""

    variables: tuple[int, ...]
    possible: np.ndarray  # one axis per variable, over the remaining states


class StateSplit(NamedTuple):
    """Variables whose possible states fall apart into classes, and a state in each of two."""

    variables: np.ndarray
    here: np.ndarray  # the states of `variables` in a chain
    there: np.ndarray  # states that the chain cannot reach


class DisconnectedCluster(NamedTuple):
    """Variables whose states fall apart into classes, as far as the factors within them tell."""

    variables: np.ndarray
    classes: np.ndarray  # the class of every joint state, one axis per variable; -1 if impossible
    whole: bool  # whether no other hard factor contains one of the variables


def find_split(
    graph: FactorGraph, states: np.ndarray, blocks: Sequence[np.ndarray] | None = None
) -> StateSplit | None:
    """Return the first split that confines chains at the possible `states` (C, N), or None.

    Moves change one variable, or the variables of one of `blocks`. No chain leaves its class, so
    all of them are confined. `graph` is a factor graph with hard zeros.
    """
    left, searches = possible_states(graph), MAX_CLASS_SEARCHES
    for variables, classes, whole in (
        _cached_disconnected_clusters(graph)
        if blocks is None
        else _find_disconnected_clusters(graph, blocks)
    ):
        found = np.unique(classes[classes >= 0])
        rank = np.cumsum(left[variables], axis=1) - 1  # of a state among the remaining ones
        places = rank[np.arange(len(variables)), states[:, variables]]
        of_chain = classes[tuple(places.T)]
        if whole or len(np.unique(of_chain)) > 1:
            there = next(c for c in found if c != of_chain[0])
            other = _states_of(classes, there, variables, left)[0]
            return StateSplit(variables, states[0, variables], other)
        for c in found[found != of_chain[0]]:
            for other in _states_of(classes, c, variables, left):
                if searches and _is_possible(graph, variables, other):
                    return StateSplit(variables, states[0, variables], other)
                searches = max(0, searches - 1)
    return None


@cache_last
def _cached_disconnected_clusters(graph: FactorGraph) -> list[DisconnectedCluster]:
    """Return the clusters of hard factors that fall apart under moves of one variable."""
    return _find_disconnected_clusters(graph, None)


def _find_disconnected_clusters(
    graph: FactorGraph, blocks: Sequence[np.ndarray] | None
) -> list[DisconnectedCluster]:
    """Return the clusters that fall apart, among those examined."""
    left, found, looked_at, inside = possible_states(graph), [], 0, None
    if blocks is not None:
        inside = np.zeros((len(blocks), graph.n_variables), np.bool_)
        for b, block in enumerate(blocks):
            inside[b, block] = True
    for factors, whole in _clusters(list(_open_factors(graph, left)), left.sum(axis=1)):
        variables = np.unique(np.concatenate([f.variables for f in factors]))
        sizes = left[variables].sum(axis=1)
        looked_at += int(np.prod(sizes))
        if looked_at > MAX_TOTAL_STATES:
            break
        moves = _axes(variables, inside)
        if any(len(axes) == len(variables) for axes in moves):
            continue  # a block that holds all of them joins all classes
        classes = _classes(factors, variables, sizes, moves)
        if len(np.unique(classes[classes >= 0])) > 1:
            found.append(DisconnectedCluster(variables, classes, whole))
    return found


def _open_factors(graph: FactorGraph, left: np.ndarray) -> Iterator[OpenHardFactor]:
    """Yield what the hard factors still forbid, given the remaining states of each variable."""
    is_hard = np.logical_or.reduceat(np.isneginf(graph.log_tables), graph.table_start[:-1])
    for f in np.flatnonzero(is_hard).tolist():
        scope, table = graph.factor(f)
        states = [np.flatnonzero(left[i]) for i in scope]
        possible = np.isfinite(table[np.ix_(*states)])
        undecided = [a for a, k in enumerate(states) if len(k) > 1]
        if len(undecided) > 1 and not possible.all():
            shape = [len(states[a]) for a in undecided]
            yield OpenHardFactor(tuple(int(scope[a]) for a in undecided), possible.reshape(shape))


def _clusters(
    hard: list[OpenHardFactor], sizes: np.ndarray
) -> Iterator[tuple[list[OpenHardFactor], bool]]:
    """Yield small components, then clusters of the larger ones, and whether each is a whole one."""
    components = _components(hard)
    large = []
    for factors in components:
        variables = sorted({i for f in factors for i in f.variables})
        if count_joint_states(sizes[variables], MAX_COMPONENT_STATES) is not None:
            yield factors, True
        else:
            large.append(factors)
    for factors in large:
        for first in factors[:: -(-len(factors) // MAX_CLUSTERS)]:
            yield _grow_cluster(first, factors, sizes), False


def _components(hard: list[OpenHardFactor]) -> list[list[OpenHardFactor]]:
    """Return groups of factors that share variables, directly or through others."""
    root: dict[int, int] = {}

    def find(i: int) -> int:
        while root.setdefault(i, i) != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for f in hard:
        for j in f.variables[1:]:
            root[find(f.variables[0])] = find(j)
    parts: dict[int, list[OpenHardFactor]] = {}
    for f in hard:
        parts.setdefault(find(f.variables[0]), []).append(f)
    return list(parts.values())


def _grow_cluster(
    first: OpenHardFactor, factors: list[OpenHardFactor], sizes: np.ndarray
) -> list[OpenHardFactor]:
    """Grow a cluster of factors around `first`, preferring those that share most variables."""
    cluster, inside = [first], set(first.variables)
    states = int(np.prod(sizes[list(inside)]))
    waiting = [f for f in factors if f is not first and inside & set(f.variables)]
    waiting.sort(key=lambda f: len(set(f.variables) - inside))
    for f in waiting:
        new = [i for i in f.variables if i not in inside]
        more = int(np.prod(sizes[new]))
        if states * more <= MAX_CLUSTER_STATES:
            cluster.append(f)
            inside.update(new)
            states *= more
    within = [f for f in factors if inside.issuperset(f.variables)]
    return within if len(cluster) > 1 else cluster


def _axes(variables: np.ndarray, inside: np.ndarray | None) -> list[tuple[int, ...]]:
    """Return the axes that each move may change at once, if any; `inside` (blocks, N) says which
    variables a block has."""
    if inside is None:
        return [(axis,) for axis in range(len(variables))]
    kinds = np.unique(inside[:, variables], axis=0)
    found = (tuple(np.flatnonzero(kind).tolist()) for kind in kinds)
    return [axes for axes in found if axes]


def _classes(
    factors: list[OpenHardFactor],
    variables: np.ndarray,
    sizes: np.ndarray,
    moves: Sequence[tuple[int, ...]],
) -> np.ndarray:
    """Return the class of every joint state, one axis per variable; -1 where it is impossible.

    A move changes some axes at once. A class is named by one of its states. Names spread along
    axes, to the lowest one. A state whose name now has another name takes that one, so that few
    rounds are enough.
    """
    place = {int(i): a for a, i in enumerate(variables)}
    possible = np.ones(sizes, np.bool_)
    for f in factors:
        order = np.argsort([place[i] for i in f.variables])
        shape = np.ones(len(variables), np.int64)
        shape[[place[i] for i in f.variables]] = f.possible.shape
        possible &= f.possible.transpose(order).reshape(shape)
    nobody = possible.size
    name = np.where(possible, np.arange(nobody).reshape(possible.shape), nobody)
    where = np.flatnonzero(possible)
    while True:
        before = name.ravel()[where].copy()
        for axes in moves:
            np.copyto(name, name.min(axis=axes, keepdims=True), where=possible)
        flat = name.reshape(-1)
        np.minimum.at(flat, before, flat[where])  # the state that named a class follows its members
        flat[where] = flat[flat[where]]
        if np.array_equal(flat[where], before):
            break
    return np.where(possible, name, -1)


def _states_of(
    classes: np.ndarray, c: int, variables: np.ndarray, left: np.ndarray
) -> list[np.ndarray]:
    """Return a few states of a class (first, middle and last) as states of the variables."""
    places = np.argwhere(classes == c)
    chosen = places[np.unique([0, len(places) // 2, len(places) - 1])]
    remaining = [np.flatnonzero(left[i]) for i in variables]
    return [np.array([remaining[a][p] for a, p in enumerate(place)]) for place in chosen]


def _is_possible(graph: FactorGraph, variables: np.ndarray, states: np.ndarray) -> bool:
    """Return whether a short search finds a state of the model that extends `states`."""
    known = IndexEvidence(zip(variables.tolist(), states.tolist(), strict=True))
    try:
        start_state(graph.given(known), stream_key(0), tries=MAX_DEAD_ENDS)
    except HerdedError:  # impossible, or not found: nothing is proved
        return False
    return True
