"""Estimate the memory of a run, beyond its model, before any of it is allocated.

`Layout.memory` is tables and weights; a run also has the factors laid out, its chains' samples and
counts, and its result. The estimate is meant to be an upper bound, to be shown and compared with a
limit; hashed weights, which grow as contexts are met, count with their largest size.
"""

import math
from typing import Any

import numpy as np

from herded.layouts.choose import layout_memory
from herded.layouts.weights import TABULATED
from herded.methods.belief_propagation import BeliefPropagation
from herded.methods.elimination_order import MAX_AXES, EliminationOrder, elimination_order
from herded.methods.exact import MAX_JOINT, Exact
from herded.methods.protocol import Sampler
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.run.loop import BLOCK, WAVE
from herded.system import memory
from herded.system.memory import Size

SMALL_THINGS = 2.0**20
NUMBER = 8.0
OBJECT = 600.0  # one of Python's, such as a small array in a dict


def footprint(model: Any, method: Any, *, chains: int = 1, max_memory: Size | None = None) -> float:
    """Bytes that `infer(model, method, chains=chains)` takes at most.

    For `Exact` this finds an order of elimination, and raises `MemoryLimitError` where none fits.
    """
    if isinstance(method, Exact):
        return exact_footprint(model, elimination_order(model, memory.limit(max_memory)))
    graph = model.as_factor_graph()
    table, fixed = _table(graph), SMALL_THINGS + _written_out(model, graph)
    if isinstance(method, Sampler):
        weights = _weights(model, method, chains, max_memory)
        return fixed + weights + _factors(graph) + chains * (3 * _block(model, graph) + 8 * table)
    messages = NUMBER * len(graph.factor_variables) * int(graph.cardinalities.max())
    tables = 3 * NUMBER * len(graph.log_tables) + _pairs(graph)
    return (
        fixed
        + _factors(graph)
        + 4 * table
        + (2 * messages + tables if isinstance(method, BeliefPropagation) else 0.0)
    )


def exact_footprint(model: Any, order: EliminationOrder) -> float:
    """Bytes that exact inference takes at most, in this order."""
    graph = model.as_factor_graph()
    fixed = SMALL_THINGS + _written_out(model, graph)
    objects = OBJECT * (graph.n_variables + graph.n_factors)
    found = 2 * _table(graph) + _pairs(graph) + 2 * _joint(graph)
    return fixed + objects + order.memory + found


def _table(graph: FactorGraph) -> float:
    """Bytes of all marginals."""
    return NUMBER * graph.n_variables * int(graph.cardinalities.max())


def tables_memory(
    model: Any, method: Sampler, max_memory: Size | None = None
) -> tuple[str, float, float]:
    """The kind of layout of a sampler, the bytes of its tables with one chain's weights, and those
    of every further chain."""
    weights, vector = getattr(method, "weights", None), getattr(method, "slack", 0.0) > 0.0
    bits = getattr(method, "bits", 32)
    return layout_memory(model, weights=weights, vector=vector, bits=bits, max_memory=max_memory)


def _weights(model: Any, method: Any, chains: int, max_memory: Size | None) -> float:
    """Tables, and the weights of all chains."""
    kind = getattr(method, "weights", None)
    layout, need, each = tables_memory(model, method, max_memory)
    need += (chains - 1) * each
    if kind in TABULATED and layout == "table":
        # Where weight vectors begin, to start them at random: numbers for each row of the tables.
        states = model.cardinalities[model.cardinalities > 1]
        need += 5 * NUMBER * each / (4.0 * int(states.min(initial=2)))
    if kind == "full" or (kind == "lazy" and layout != "table"):
        # Tables that grow have twice the room they need, and are copied from one to the other.
        need += chains * 4.0 * method.max_weights * (8.0 + 4.0 * int(model.cardinalities.max()))
    return need


def _written_out(model: Any, graph: FactorGraph) -> float:
    """The factors of a model that is not made of factors, and what they are made from."""
    if model is graph:
        return 0.0
    return NUMBER * (3 * len(graph.log_tables) + 12 * len(graph.factor_variables))


def _factors(graph: FactorGraph) -> float:
    """`FactorArrays` and the scan, and what they are made from."""
    arity = np.diff(graph.factor_start)
    entries, others = float(arity.sum()), float((arity * (arity - 1)).sum())
    return NUMBER * (24 * graph.n_variables + 16 * entries + 12 * others)


def _block(model: Any, graph: FactorGraph) -> float:
    """Bytes of the block of samples of one chain."""
    width = int(graph.cardinalities.max())
    least = WAVE if isinstance(model, Lattice) else 1
    return max(BLOCK, least * graph.n_variables) * (
        1.0 if width <= 256 else 2.0 if width <= 65536 else 8.0
    )


def _pairs(graph: FactorGraph) -> float:
    """Marginals of all pairs that share a factor, as found and as one array."""
    n = len(graph.adjacency[1]) // 2
    return n * (OBJECT + 2 * NUMBER * float(graph.cardinalities.max()) ** 2)


def _joint(graph: FactorGraph) -> float:
    states = math.prod(graph.cardinalities.tolist())
    return NUMBER * states if states <= MAX_JOINT and len(graph.cardinalities) <= MAX_AXES else 0.0
