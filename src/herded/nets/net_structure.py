"""What makes a factor graph a Bayes net: one factor for each variable, named last, and no cycle."""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.system.numerics.exp_log import exp_array

ROW_SUM_TOLERANCE = 0.01  # how far the sum of a row may be from 1: files round probabilities

T = TypeVar("T")


def find_cycle(parents: Mapping[T, Iterable[T]]) -> list[T]:
    """Return the names on a cycle of parents, if there is one."""
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


def sort_by_parents(parents: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the names with parents first, otherwise in their order; unknown parents are left out.

    Raises a `ModelError` if there is a cycle.
    """
    known = {name: [p for p in of_one if p in parents] for name, of_one in parents.items()}
    loop = find_cycle(known)
    if loop:
        path = " -> ".join([*reversed(loop), loop[-1]])
        raise ModelError(f"expected no cycle of parents, got {path}: drop one of them")
    sorter = TopologicalSorter(known)
    sorter.prepare()
    place = {name: k for k, name in enumerate(parents)}
    found: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=place.__getitem__)
        found += ready
        sorter.done(*ready)
    return found


def find_wrong_row(rows: np.ndarray) -> int | None:
    """Return the first row that does not hold probabilities, if there is one."""
    outside = ~((rows >= 0) & (rows <= 1 + ROW_SUM_TOLERANCE)).all(axis=1)
    with np.errstate(over="ignore"):  # an overflowing sum is wrong, too
        wrong = outside | ~(np.abs(rows.sum(axis=1) - 1) <= ROW_SUM_TOLERANCE)
    return int(np.argmax(wrong)) if wrong.any() else None


def find_net_factors(model: object, remedy: str) -> tuple[FactorGraph, list[int]]:
    """Return a model that is a Bayes net, and the factor P(variable | parents) of each variable.

    Raises a `ModelError` with the remedy if the model is no Bayes net.
    """
    if not isinstance(model, FactorGraph):
        raise ModelError(f"expected a Bayes net as a FactorGraph, got {type(model).__name__}")
    scopes = [model.factor(f)[0].tolist() for f in range(model.n_factors)]
    factor_of = {scope[-1]: f for f, scope in enumerate(scopes) if scope}
    if len(factor_of) != model.n_variables or len(scopes) != model.n_variables:
        raise _no_net_error("a number of factors other than one for each variable", remedy)
    probabilities = exp_array(model.log_tables)
    for f, scope in enumerate(scopes):
        rows = probabilities[model.table_start[f] : model.table_start[f + 1]]
        if find_wrong_row(rows.reshape(-1, model.cardinalities[scope[-1]])) is not None:
            raise _no_net_error(f"other numbers in factor {f}", remedy)
    if find_cycle({scope[-1]: scope[:-1] for scope in scopes}):
        raise _no_net_error("a cycle of parents", remedy)
    return model, [factor_of[i] for i in range(model.n_variables)]


def _no_net_error(got: str, remedy: str) -> ModelError:
    return ModelError(
        "expected a Bayes net, whose factors are the probabilities of a variable, named last, "
        f"given its parents, got {got}: {remedy}"
    )
