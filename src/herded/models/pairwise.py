"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i,j) log_pairwise_ij[x_i, x_j])."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.models.validation import FactorLabel
from herded.system.argument_checks import as_float_array, edge_array, float_array

UNEVEN_REMEDY = "use FactorGraph for variables of different numbers of states"


def pairwise_model(
    log_unary: ArrayLike,
    edges: ArrayLike,
    log_pairwise: ArrayLike,
    *,
    names: Sequence[str] | None = None,
) -> FactorGraph:
    """Build a pairwise model: one table for each variable and one for each edge.

    pi(x) is proportional to exp(sum_i log_unary[i, x_i] + sum_e log_pairwise[e, x_i, x_j]), where
    edge e joins variables i and j.

    Parameters
    ----------
    log_unary : array_like of shape (N, K)
        Log-potentials of each variable alone; -inf forbids a state.
    edges : array_like of shape (E, 2)
        The two variables of each edge. Two edges may join the same variables.
    log_pairwise : array_like of shape (E, K, K) or (K, K)
        The log-table of each edge, or one for all. Rows are states of the edge's first variable.
    names : sequence of str, optional
        A name for each variable.

    Returns
    -------
    FactorGraph

    Raises
    ------
    ModelError
        If shapes do not fit, or a log-potential is NaN or +inf.

    See Also
    --------
    FactorGraph : variables with different numbers of states, factors of any number of variables.

    Examples
    --------
    Three variables in a row that prefer to be equal; the first prefers state 1:

    >>> log_unary = [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    >>> equal = [[1.0, 0.0], [0.0, 1.0]]
    >>> model = hd.pairwise_model(log_unary, [(0, 1), (1, 2)], equal, names=["a", "b", "c"])
    >>> hd.infer(model, hd.Exact()).marginals[:, 1].round(3)
    array([0.731, 0.607, 0.549])
    """
    unary = unary_array(log_unary)
    k = unary.shape[1]
    ends = edge_array("edges", edges)
    tables = as_float_array("log_pairwise", log_pairwise)
    if len(ends) == 0:
        tables = tables.reshape(0, k, k) if tables.size == 0 else tables
    if tables.shape == (k, k):
        tables = np.broadcast_to(tables, (len(ends), k, k))
    if tables.shape != (len(ends), k, k):
        raise ModelError(
            f"expected log_pairwise of shape {(len(ends), k, k)} or {(k, k)} for {len(ends)} edges "
            f"of variables with {k} states, got {tables.shape}"
        )
    return build_pairwise_graph(unary, ends, tables, names, lambda e: f"edge {e}")


def unary_array(log_unary: ArrayLike) -> np.ndarray:
    """Check the log-potentials (N, K) of the variables alone."""
    return float_array("log_unary", log_unary, 2, UNEVEN_REMEDY)


def build_pairwise_graph(
    unary: np.ndarray,
    ends: np.ndarray,
    tables: np.ndarray,
    names: Sequence[str] | None,
    edge_called: FactorLabel,
) -> FactorGraph:
    """Build the model of (N, K) unaries, (E, 2) ends and (E, K, K) tables."""
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
