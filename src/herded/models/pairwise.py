"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i,j) log_pairwise_ij[x_i, x_j])."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph


def pairwise(
    log_unary: Any, edges: Any, log_pairwise: Any, *, names: Sequence[str] | None = None
) -> FactorGraph:
    """A pairwise model from (N, K) unaries, (E, 2) edges and (E, K, K) or (K, K) tables."""
    unary = float_array("log_unary", log_unary, 2)
    n, k = unary.shape
    ends = np.asarray(edges)
    if ends.size == 0:
        ends = ends.reshape(0, 2)
    if ends.ndim != 2 or ends.shape[1] != 2 or (ends.size and ends.dtype.kind not in "iu"):
        raise ModelError(f"expected edges as whole numbers of shape (E, 2), got {ends.shape}")
    tables = np.asarray(log_pairwise, dtype=np.float64)
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
        np.concatenate([np.arange(n), ends.astype(np.int64).ravel()]),
        np.concatenate([unary.ravel(), tables.ravel()]),
        names=names,
    )


def float_array(name: str, values: Any, dims: int) -> np.ndarray:
    """`values` as floats with `dims` non-empty dimensions, or a clear error."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"expected numbers in {name}, got {type(values).__name__}") from error
    if array.ndim != dims or 0 in array.shape:
        raise ModelError(f"expected a non-empty {dims}-D array as {name}, got shape {array.shape}")
    return array
