"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i,j) log_pairwise_ij[x_i, x_j])."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.arrays import edge_array, float_array, number_array
from herded.models.factor_graph import FactorGraph


def pairwise(
    log_unary: Any, edges: Any, log_pairwise: Any, *, names: Sequence[str] | None = None
) -> FactorGraph:
    """A pairwise model from (N, K) unaries, (E, 2) edges and (E, K, K) or (K, K) tables."""
    unary = float_array("log_unary", log_unary, 2)
    n, k = unary.shape
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
    starts = np.concatenate([np.arange(n), n + 2 * np.arange(len(ends) + 1)])
    return FactorGraph.from_arrays(
        np.full(n, k),
        starts,
        np.concatenate([np.arange(n), ends.ravel()]),
        np.concatenate([unary.ravel(), tables.ravel()]),
        names=names,
    )
