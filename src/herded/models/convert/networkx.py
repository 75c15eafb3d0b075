"""Models from networkx graphs. networkx itself is not imported; the graph's methods suffice."""

from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.models.validation import check_cardinalities, flatten_factors
from herded.system.argument_checks import as_float, as_float_array, as_integer


def from_networkx(graph: Any) -> FactorGraph:
    """Build a pairwise model from an undirected networkx graph.

    Parameters
    ----------
    graph : networkx.Graph
        Nodes carry `log_unary` (one log-potential per state) or `field` (h of an Ising spin, whose
        log-potentials are -h and h). A node with neither has equal log-potentials for 2 states, or
        for the number in its attribute `states`. Edges carry `log_pairwise` (a table whose rows are
        states of the edge's first node) or `coupling` (J: J where states agree, else -J).

    Returns
    -------
    FactorGraph
        Variables in the order of ``graph.nodes``, with their names.

    Raises
    ------
    ModelError
        If the graph is directed, has an edge from a node to itself, or lacks an edge's potential.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_node("a", field=1.0)
    >>> graph.add_edge("a", "b", coupling=0.5)
    >>> model = hd.from_networkx(graph)
    >>> model.names
    ('a', 'b')
    >>> hd.infer(model, hd.Exact()).marginals[:, 1].round(3)
    array([0.881, 0.676])
    """
    if not hasattr(graph, "is_directed"):
        raise ModelError(f"expected a networkx graph, got {type(graph).__name__}")
    if graph.is_directed():
        raise ModelError(
            "expected an undirected graph, got a directed one: call to_undirected(), or build a "
            "FactorGraph from the conditional tables"
        )
    index = {node: i for i, node in enumerate(graph.nodes)}
    unaries = [_unary(node, data) for node, data in graph.nodes(data=True)]
    scopes, tables = [np.array([i]) for i in index.values()], list(unaries)
    called = [f"node {node!r}" for node in index]
    for a, b, data in graph.edges(data=True):
        if a == b:
            raise ModelError(f"expected no loops, got an edge from {a!r} to itself")
        i, j = index[a], index[b]
        scopes.append(np.array([i, j]))
        tables.append(_table(a, b, data, len(unaries[i]), len(unaries[j])))
        called.append(f"the edge from {a!r} to {b!r}")
    cards = check_cardinalities([len(unary) for unary in unaries])
    return FactorGraph.from_arrays(
        *flatten_factors(cards, scopes, tables, called.__getitem__),
        names=[str(node) for node in graph.nodes],
        called=called.__getitem__,
    )


def _unary(node: object, data: dict[str, Any]) -> np.ndarray:
    if "log_unary" in data:
        return as_float_array(f"log_unary of {node!r}", data["log_unary"]).reshape(-1)
    if "field" in data:
        return np.array([-1.0, 1.0]) * as_float(f"the field of {node!r}", data["field"])
    states = as_integer(f"the states of {node!r}", data.get("states", 2))
    if states < 1:
        raise ModelError(f"expected 1 or more states of {node!r}, got {states}")
    return np.zeros(states)


def _table(a: object, b: object, data: dict[str, Any], rows: int, columns: int) -> np.ndarray:
    if "log_pairwise" in data:
        return as_float_array(f"log_pairwise from {a!r} to {b!r}", data["log_pairwise"])
    if "coupling" not in data:
        raise ModelError(
            f"expected `log_pairwise` or `coupling` on the edge from {a!r} to {b!r}, got neither"
        )
    if rows != columns:
        raise ModelError(
            f"expected equally many states at {a!r} and {b!r} for a `coupling`, got {rows} and "
            f"{columns}: give `log_pairwise`"
        )
    coupling = as_float(f"the coupling from {a!r} to {b!r}", data["coupling"])
    return coupling * np.where(np.eye(rows, dtype=bool), 1.0, -1.0)
