"""Chain and skip-chain models: section 4.3 of Bornn et al. (2013), figure 4.

pi(y) = 1/Z exp(sum_t log_unary[t, y_t] + sum_t log_pairwise[y_t, y_(t+1)]
                + sum_((s,t) in skips) log_skip[y_s, y_t])
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import build_pairwise_graph, unary_array
from herded.models.validation import FactorLabel
from herded.system.argument_checks import as_float_array, as_integer_array, edge_array


def chain_model(
    log_unary: ArrayLike,
    log_pairwise: ArrayLike,
    *,
    lengths: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> FactorGraph:
    """Build a model of one chain of variables, or of several.

    Parameters
    ----------
    log_unary : array_like of shape (N, K)
        Log-potentials of each position by itself.
    log_pairwise : array_like of shape (K, K) or (N-1, K, K)
        Log-potentials of neighbours: one table for all pairs, or one per position except the last.
        Rows are states of the left neighbour. With `lengths`, tables that would join two chains are
        ignored.
    lengths : sequence of int, optional
        The lengths of several chains, which lie end to end in `log_unary`. One chain by default.
    names : sequence of str, optional
        A name for each variable.

    Returns
    -------
    FactorGraph

    Raises
    ------
    ModelError
        If shapes do not fit, or the lengths do not add up to N.

    Examples
    --------
    >>> sticky = [[1.0, 0.0], [0.0, 1.0]]
    >>> model = hd.chain_model([[2.0, 0.0], [0.0, 0.5], [0.0, 0.0]], sticky)
    >>> hd.infer(model, hd.Viterbi()).best.state
    array([0, 0, 0])

    Two chains, of 2 and of 1 variables:

    >>> model = hd.chain_model([[2.0, 0.0], [0.0, 0.5], [0.0, 0.0]], sticky, lengths=[2, 1])
    >>> model.neighbours(1)
    array([0])
    """
    unary = unary_array(log_unary)
    left = _left_ends(len(unary), lengths)
    edges = np.stack([left, left + 1], axis=1)
    return build_pairwise_graph(
        unary, edges, _transitions(unary, log_pairwise, left), names, _link(left)
    )


def skip_chain_model(
    log_unary: ArrayLike,
    log_pairwise: ArrayLike,
    skip_edges: ArrayLike,
    log_skip: ArrayLike,
    *,
    lengths: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> FactorGraph:
    """Build chains with extra edges between distant positions, as in section 4.3 of the paper.

    The graph has loops, so `Viterbi` cannot solve it. `Exact` can if the model is small; samplers
    with a schedule search for the best state of a large one.

    Parameters
    ----------
    log_unary, log_pairwise, lengths, names
        As in `chain_model`.
    skip_edges : array_like of shape (S, 2)
        The positions that each skip edge joins.
    log_skip : array_like of shape (K, K) or (S, K, K)
        Log-potentials of the skip edges: one table for all, or one for each.

    Returns
    -------
    FactorGraph

    Raises
    ------
    ModelError
        If shapes do not fit.

    Examples
    --------
    The last position is tied to the first, far away, and takes its state:

    >>> log_unary = np.array([[0.0, 3.0], [3.0, 0.0], [0.5, 0.0]])
    >>> tie = np.diag([2.0, 2.0])
    >>> model = hd.skip_chain_model(log_unary, np.zeros((2, 2)), [(0, 2)], tie)
    >>> hd.infer(model, hd.Exact()).best.state
    array([1, 0, 1])
    """
    unary = unary_array(log_unary)
    left = _left_ends(len(unary), lengths)
    skips = edge_array("skip_edges", skip_edges)
    k = unary.shape[1]
    tables = as_float_array("log_skip", log_skip)
    if tables.shape == (k, k):
        tables = np.broadcast_to(tables, (len(skips), k, k))
    if tables.shape != (len(skips), k, k):
        raise ModelError(
            f"expected log_skip of shape {(len(skips), k, k)} or {(k, k)} for {len(skips)} skip "
            f"edges, got {tables.shape}"
        )
    edges = np.concatenate([np.stack([left, left + 1], axis=1), skips])
    both = np.concatenate([_transitions(unary, log_pairwise, left), tables])
    link = _link(left)

    def called(e: int) -> str:
        return link(e) if e < len(left) else f"skip edge {e - len(left)}"

    return build_pairwise_graph(unary, edges, both, names, called)


def _link(left: np.ndarray) -> FactorLabel:
    """Return how to name the edges along the chains."""
    return lambda e: f"the link from {left[e]} to {left[e] + 1}"


def _left_ends(n: int, lengths: Sequence[int] | None) -> np.ndarray:
    """Return the positions that have a right neighbour in their chain."""
    sizes = as_integer_array("chain lengths", [n] if lengths is None else lengths)
    if sizes.ndim != 1 or (sizes < 1).any() or sizes.sum() != n:
        raise ModelError(
            f"expected chain lengths of 1 or more that add up to {n}, got {sizes.tolist()!r:.80}"
        )
    return np.setdiff1d(np.arange(n), np.cumsum(sizes) - 1)


def _transitions(unary: np.ndarray, log_pairwise: ArrayLike, left: np.ndarray) -> np.ndarray:
    n, k = unary.shape
    tables = as_float_array("log_pairwise", log_pairwise)
    if tables.shape == (k, k):
        return np.broadcast_to(tables, (len(left), k, k))
    if tables.shape != (n - 1, k, k):
        raise ModelError(
            f"expected log_pairwise of shape {(k, k)} or {(n - 1, k, k)}, got {tables.shape}"
        )
    found: np.ndarray = tables[left]
    return found
