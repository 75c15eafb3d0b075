"""The tables of a Bayes net as the arrays of a factor graph, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.nets.conditional_table import ConditionalTable
from herded.system.argument_checks import read_only_copy
from herded.system.numerics.exp_log import exp_array, log_array


class EmptyNetError(ModelError, AttributeError):
    """A Bayes net without variables is no model yet: also an `AttributeError`, for `hasattr`."""

    def __init__(self) -> None:
        super().__init__("expected variables in the Bayes net, got none: add some")


def label_fields(tables: Mapping[str, ConditionalTable]) -> dict[str, Any]:
    """Return the fields of a factor graph that say what a net's variables are."""
    n = len(tables)
    return {
        "cardinalities": read_only_copy([len(t.states) for t in tables.values()], np.int64),
        "evidence": read_only_copy(np.full(n, -1), np.int64),
        "names": tuple(tables),
        "state_names": tuple(t.states for t in tables.values()),
        "shape": (n,),
    }


def tables_as_graph(tables: Mapping[str, ConditionalTable]) -> FactorGraph:
    """Build a factor graph with a factor for each table, in their order, the child last."""
    if not tables:
        raise EmptyNetError
    index = {name: i for i, name in enumerate(tables)}
    scopes = [[index[name] for name in (*t.parents, t.child)] for t in tables.values()]
    return FactorGraph.from_arrays(
        [len(t.states) for t in tables.values()],
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate([np.array(scope) for scope in scopes]),
        log_array(np.concatenate([t.probabilities.ravel() for t in tables.values()])),
        names=tuple(index),
        state_names=tuple(t.states for t in tables.values()),
    )


def table_of_factor(graph: FactorGraph, f: int) -> ConditionalTable:
    """Return the table that a factor of a net with names is: P(its last variable | the others)."""
    variables, log_table = graph.factor(f)
    assert graph.names is not None and graph.state_names is not None
    *parents, child = (graph.names[i] for i in variables)
    *parent_states, states = (graph.state_names[i] for i in variables)
    return ConditionalTable(
        child, states, tuple(parents), tuple(parent_states), exp_array(log_table)
    )
