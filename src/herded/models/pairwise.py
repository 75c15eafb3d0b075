"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i,j) log_pairwise_ij[x_i, x_j])."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.checks import edge_array, float_array, number_array
from herded.models.factor_checks import Called
from herded.models.factor_graph import FactorGraph

UNEVEN = "use FactorGraph for variables of different numbers of states"


def pairwise(
    log_unary: Any, edges: Any, log_pairwise: Any, *, names: Sequence[str] | None = None
) -> FactorGraph:
    """A pairwise model from (N, K) unaries, (E, 2) edges and (E, K, K) or (K, K) tables."""
    unary = unary_array(log_unary)
    k = unary.shape[1]
    ends = edge_array("edges", edges)
    tables = number_array("log_pairwise", log_pairwise)
    if len(ends) == 0:
        tables = tables.reshape(0, k, k) if tables.size == 0 else tables
    if tables.shape == (k, k):
        tables = np.broadcast_to(tables, (len(ends), k, k))
    if tables.shape != (len(ends), k, k):
        raise ModelError(
            f"expected log_pairwise of shape {(len(ends), k, k)} or {(k, k)} for {len(ends)} edges "
            f"of variables with {k} states, got {tables.shape}"
        )
    return join(unary, ends, tables, names, lambda e: f"edge {e}")


def unary_array(log_unary: Any) -> np.ndarray:
    """(N, K) log-potentials of the variables alone."""
    return float_array("log_unary", log_unary, 2, UNEVEN)


def join(
    unary: np.ndarray,
    ends: np.ndarray,
    tables: np.ndarray,
    names: Sequence[str] | None,
    edge_called: Called,
) -> FactorGraph:
    """The model of (N, K) unaries, (E, 2) ends and (E, K, K) tables."""
    n, k = unary.shape
    starts = np.concatenate([np.arange(n), n + 2 * np.arange(len(ends) + 1)])
    return FactorGraph.from_arrays(
        np.full(n, k),
        starts,
        np.concatenate([np.arange(n), ends.ravel()]),
        np.concatenate([unary.ravel(), tables.ravel()]),
        names=names,
        called=lambda f: f"row {f} of log_unary" if f < n else edge_called(f - n),
    )
