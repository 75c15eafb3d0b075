"""What the arrays of a factor graph must be: whoever builds one can say what a factor is to them.

`called` names factor f where it is to blame: "factor 3" of a list of factors, "edge 0" of edges.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.checks import shown, whole_array

Called = Callable[[int], str]


def by_number(f: int) -> str:
    """As a factor graph calls its factors."""
    return f"factor {f}"


def check_cardinalities(cardinalities: Any) -> np.ndarray:
    """Numbers of states, one for each variable."""
    cards = whole_array("cardinalities", cardinalities)
    if cards.ndim != 1 or len(cards) == 0:
        raise ModelError(
            f"expected a list of one or more cardinalities, got {shown(cardinalities)}"
        )
    if (cards < 1).any():
        i = int(np.argmax(cards < 1))
        raise ModelError(f"expected a cardinality of 1 or more for variable {i}, got {cards[i]}")
    return cards


def laid_out(
    cards: np.ndarray,
    scopes: list[np.ndarray],
    tables: list[np.ndarray],
    called: Called = by_number,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scopes and tables as the flat arrays that `FactorGraph.from_arrays` takes."""
    _check_shapes(cards, scopes, tables, called)
    return (
        cards,
        np.cumsum([0] + [len(scope) for scope in scopes]),
        np.concatenate([np.empty(0, np.int64), *scopes]),
        np.concatenate([np.empty(0), *(table.ravel() for table in tables)]),
    )


def _check_shapes(
    cards: np.ndarray, scopes: list[np.ndarray], tables: list[np.ndarray], called: Called
) -> None:
    """Tables have as many entries along each axis as that variable has states."""
    n = len(cards)
    for f, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        if ((scope < 0) | (scope >= n)).any():
            continue  # told better by check_scopes
        expected = tuple(int(k) for k in cards[scope])
        if table.shape != expected:
            raise ModelError(
                f"expected a log-table of shape {expected} for {called(f)} over variables "
                f"{tuple(map(int, scope))}, got shape {table.shape}"
            )


def check_scopes(n: int, starts: np.ndarray, variables: np.ndarray, called: Called) -> None:
    """Every factor is over variables there are, each once."""
    arity = np.diff(starts)
    if starts.ndim != 1 or variables.ndim != 1 or not len(starts) or starts[0] != 0:
        raise ModelError(
            "expected factor_start as a flat array from 0, and factor_variables as a flat array, "
            f"got {shown(starts)} and {shown(variables)}"
        )
    if (arity < 0).any() or starts[-1] != len(variables):
        raise ModelError(
            f"expected factor_start to rise to {len(variables)}, the number of factor_variables, "
            f"got {starts[-1]} at its end"
        )
    owner = np.repeat(np.arange(len(arity)), arity)
    outside = (variables < 0) | (variables >= n)
    if outside.any():
        at = int(np.argmax(outside))
        raise ModelError(
            f"expected variables from 0 to {n - 1} in {called(int(owner[at]))}, got {variables[at]}"
        )
    keys = np.sort(owner * n + variables)
    twice = np.flatnonzero(np.diff(keys) == 0)
    if len(twice):
        f, i = divmod(int(keys[twice[0]]), n)
        raise ModelError(f"expected each variable once in {called(f)}, got variable {i} twice")


def table_strides(
    cards: np.ndarray, starts: np.ndarray, variables: np.ndarray, called: Called
) -> tuple[np.ndarray, np.ndarray]:
    """Strides of every variable in its factor's table, and the tables' sizes."""
    strides = np.ones(len(variables), np.int64)
    sizes = np.ones(len(starts) - 1, np.int64)
    arity = np.diff(starts)
    for back in range(1, int(arity.max(initial=0)) + 1):
        factors = np.flatnonzero(arity >= back)
        slots = starts[factors + 1] - back
        strides[slots] = sizes[factors]
        sizes[factors] *= cards[variables[slots]]
        if (sizes < 1).any() or (sizes > 2**48).any():
            f = int(np.argmax((sizes < 1) | (sizes > 2**48)))
            raise ModelError(
                f"expected factor tables of at most 2^48 entries, got more for {called(f)}: "
                "split it into smaller factors"
            )
    return strides, sizes


def check_tables(
    tables: np.ndarray, table_start: np.ndarray, scope_of: Any, called: Called
) -> None:
    """Log-potentials are numbers or -inf, and every factor allows something."""
    wrong = np.isnan(tables) | np.isposinf(tables)
    if wrong.any():
        at = int(np.argmax(wrong))
        f = int(np.searchsorted(table_start, at, side="right")) - 1
        raise ModelError(
            f"expected finite or -inf log-potentials, got {tables[at]} in {called(f)} over "
            f"variables {tuple(map(int, scope_of(f)))}"
        )
    finite = np.concatenate([[0], np.cumsum(np.isfinite(tables))])
    empty = finite[table_start[1:]] == finite[table_start[:-1]]
    if empty.any():
        f = int(np.argmax(empty))
        raise ModelError(
            f"expected some possible state in every factor, but {called(f)} over variables "
            f"{tuple(map(int, scope_of(f)))} is -inf everywhere: the support is empty"
        )
