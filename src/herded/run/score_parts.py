"""Arrays to score each connected component of a sample by itself.

Parts are the components of the free variables. The last part has the clamped variables and the
factors that are over nothing else.
"""

from typing import NamedTuple

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.system.arrays import lock


class PartArrays(NamedTuple):
    """Factors and variables, each sorted by the part they are in."""

    first_factor: np.ndarray  # (P+1,) factors of each part, in the order of the model
    factor_start: np.ndarray  # (F+1,) into the next two
    variable: np.ndarray  # uint32
    radix: np.ndarray  # its cardinality
    table_start: np.ndarray  # (F,) into log_tables
    log_tables: np.ndarray
    first_member: np.ndarray  # (P+1,) variables of each part
    member: np.ndarray


def compile_parts(graph: FactorGraph, part: np.ndarray, n_parts: int) -> PartArrays:
    """Sort a `FactorGraph` by `part` (N,): the number of each variable's part."""
    arity = np.diff(graph.factor_start)
    slot_factor = np.repeat(np.arange(graph.n_factors), arity)
    free = graph.evidence[graph.factor_variables] < 0
    of_factor = np.full(graph.n_factors, n_parts - 1)
    of_factor[slot_factor[free]] = part[graph.factor_variables[free]]
    factors = np.argsort(of_factor, kind="stable")
    slots = np.argsort(of_factor[slot_factor], kind="stable")
    variables = graph.factor_variables[slots]
    return lock(
        PartArrays(
            first_factor=_starts(of_factor, n_parts),
            factor_start=np.concatenate([[0], np.cumsum(arity[factors])]),
            variable=variables.astype(np.uint32),
            radix=graph.cardinalities[variables],
            table_start=graph.table_start[factors],
            log_tables=graph.log_tables,
            first_member=_starts(part, n_parts),
            member=np.argsort(part, kind="stable"),
        )
    )


def _starts(part: np.ndarray, n_parts: int) -> np.ndarray:
    """Where each part's things start once they are sorted by part, and where the last ends."""
    return np.concatenate([[0], np.cumsum(np.bincount(part, minlength=n_parts))])
