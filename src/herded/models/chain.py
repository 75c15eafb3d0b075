"""Chain and skip-chain models: section 4.3 of Bornn et al. (2013), figure 4.

pi(y) = 1/Z exp(sum_t log_unary[t, y_t] + sum_t log_pairwise[y_t, y_(t+1)]
                + sum_((s,t) in skips) log_skip[y_s, y_t])
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.checks import edge_array, number_array, whole_array
from herded.models.factor_checks import Called
from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import join, unary_array


def chain(
    log_unary: Any,
    log_pairwise: Any,
    *,
    lengths: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> FactorGraph:
    """One chain over the (N, K) unaries, or several laid end to end with `lengths`.

    `log_pairwise` is (K, K), or one table for each position but the first: (N-1, K, K), where
    tables that would join two chains are ignored.
    """
    unary = unary_array(log_unary)
    left = _left_ends(len(unary), lengths)
    edges = np.stack([left, left + 1], axis=1)
    return join(unary, edges, _transitions(unary, log_pairwise, left), names, _link(left))


def skip_chain(
    log_unary: Any,
    log_pairwise: Any,
    skip_edges: Any,
    log_skip: Any,
    *,
    lengths: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> FactorGraph:
    """Chains as in `chain`, and (S, 2) `skip_edges` with `log_skip` (K, K) or (S, K, K)."""
    unary = unary_array(log_unary)
    left = _left_ends(len(unary), lengths)
    skips = edge_array("skip_edges", skip_edges)
    k = unary.shape[1]
    tables = number_array("log_skip", log_skip)
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

    return join(unary, edges, both, names, called)


def _link(left: np.ndarray) -> Called:
    """How to call the edges along the chains."""
    return lambda e: f"the link from {left[e]} to {left[e] + 1}"


def _left_ends(n: int, lengths: Sequence[int] | None) -> np.ndarray:
    """The positions that have a right neighbour in their chain."""
    sizes = whole_array("chain lengths", [n] if lengths is None else lengths)
    if sizes.ndim != 1 or (sizes < 1).any() or sizes.sum() != n:
        raise ModelError(
            f"expected chain lengths of 1 or more that add up to {n}, got {sizes.tolist()!r:.80}"
        )
    return np.setdiff1d(np.arange(n), np.cumsum(sizes) - 1)


def _transitions(unary: np.ndarray, log_pairwise: Any, left: np.ndarray) -> np.ndarray:
    n, k = unary.shape
    tables = number_array("log_pairwise", log_pairwise)
    if tables.shape == (k, k):
        return np.broadcast_to(tables, (len(left), k, k))
    if tables.shape != (n - 1, k, k):
        raise ModelError(
            f"expected log_pairwise of shape {(k, k)} or {(n - 1, k, k)}, got {tables.shape}"
        )
    return tables[left]
