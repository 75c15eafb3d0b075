"""Models from other libraries' objects. Nothing here imports them: duck typing is enough."""

from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph


def from_networkx(graph: Any) -> FactorGraph:
    """A pairwise model from an undirected networkx graph.

    Nodes carry `log_unary` (one log-potential per state) or `field` (h of an Ising spin: -h, +h);
    without either, a fair coin, or a fair die if there is `states`. Edges carry `log_pairwise`
    (a table, the first node's states as rows) or `coupling` (J: +J where states agree, else -J).
    """
    if graph.is_directed():
        raise ModelError(
            "expected an undirected graph, got a directed one: call to_undirected(), or build a "
            "FactorGraph from the conditional tables"
        )
    index = {node: i for i, node in enumerate(graph.nodes)}
    unaries = [_unary(node, data) for node, data in graph.nodes(data=True)]
    factors: list[Any] = [((i,), unary) for i, unary in enumerate(unaries)]
    for a, b, data in graph.edges(data=True):
        if a == b:
            raise ModelError(f"expected no loops, got an edge from {a!r} to itself")
        i, j = index[a], index[b]
        factors.append(((i, j), _table(a, b, data, len(unaries[i]), len(unaries[j]))))
    names = [str(node) for node in graph.nodes]
    return FactorGraph([len(unary) for unary in unaries], factors, names=names)


def _unary(node: Any, data: dict[str, Any]) -> np.ndarray:
    if "log_unary" in data:
        return np.asarray(data["log_unary"], dtype=np.float64).reshape(-1)
    if "field" in data:
        return np.array([-1.0, 1.0]) * float(data["field"])
    return np.zeros(int(data.get("states", 2)))


def _table(a: Any, b: Any, data: dict[str, Any], rows: int, columns: int) -> np.ndarray:
    if "log_pairwise" in data:
        return np.asarray(data["log_pairwise"], dtype=np.float64)
    if "coupling" not in data:
        raise ModelError(
            f"expected `log_pairwise` or `coupling` on the edge from {a!r} to {b!r}, got neither"
        )
    if rows != columns:
        raise ModelError(
            f"expected as many states at {a!r} as at {b!r} for a `coupling`, got {rows} and "
            f"{columns}: give `log_pairwise`"
        )
    return float(data["coupling"]) * np.where(np.eye(rows, dtype=bool), 1.0, -1.0)
