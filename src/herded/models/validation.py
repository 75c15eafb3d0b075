"""Checks of the parts of models: scopes, tables, names and states.

`called` maps f to the name of the factor that the caller knows: "factor 3" of a list of factors,
"edge 0" of a list of edges.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models.data_frames import MISSING, names_its_columns, read_rows
from herded.models.protocol import Model, is_model
from herded.system.argument_checks import (
    as_float_array,
    as_integer_array,
    describe_value,
    short_repr,
    without_masked_entries,
)

if TYPE_CHECKING:
    from herded.models.factor_graph import FactorGraph

# limit of the sum of all factors' largest log-potentials: its last digit is 1e-4
MAX_TOTAL_LOG_POTENTIAL = 1e12


# -- factor graphs: scopes, tables and their shapes ----------------------------------------

FactorLabel = Callable[[int], str]
FactorLike = tuple[ArrayLike, ArrayLike]  # variables, log-table


def factor_label(f: int) -> str:
    """Return the name of factor `f` in a factor graph."""
    return f"factor {f}"


def check_cardinalities(cardinalities: ArrayLike) -> np.ndarray:
    """Check the numbers of states, one for each variable."""
    cards = as_integer_array("cardinalities", cardinalities)
    if cards.ndim != 1 or len(cards) == 0:
        raise ModelError(
            f"expected a list of one or more cardinalities, got {short_repr(cardinalities)}"
        )
    if (cards < 1).any():
        i = int(np.argmax(cards < 1))
        raise ModelError(f"expected a cardinality of 1 or more for variable {i}, got {cards[i]}")
    return cards


def flatten_factors(
    cards: np.ndarray,
    scopes: list[np.ndarray],
    tables: list[np.ndarray],
    called: FactorLabel = factor_label,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Flatten scopes and tables into the arrays that `FactorGraph.from_arrays` takes."""
    _check_shapes(cards, scopes, tables, called)
    return (
        cards,
        np.cumsum([0] + [len(scope) for scope in scopes]),
        np.concatenate([np.empty(0, np.int64), *scopes]),
        np.concatenate([np.empty(0), *(table.ravel() for table in tables)]),
    )


def _check_shapes(
    cards: np.ndarray, scopes: list[np.ndarray], tables: list[np.ndarray], called: FactorLabel
) -> None:
    """Check that a table has as many entries along each axis as that variable has states."""
    n = len(cards)
    for f, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        if ((scope < 0) | (scope >= n)).any():
            continue  # check_scopes reports it better
        expected = tuple(int(k) for k in cards[scope])
        if table.shape != expected:
            raise ModelError(
                f"expected a log-table of shape {expected} for {called(f)} over variables "
                f"{tuple(map(int, scope))}, got shape {table.shape}"
            )


def check_scopes(n: int, starts: np.ndarray, variables: np.ndarray, called: FactorLabel) -> None:
    """Check that the variables of every factor exist and are distinct."""
    arity = np.diff(starts)
    if starts.ndim != 1 or variables.ndim != 1 or not len(starts) or starts[0] != 0:
        raise ModelError(
            "expected factor_start as a flat array from 0, and factor_variables as a flat array, "
            f"got {short_repr(starts)} and {short_repr(variables)}"
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
    cards: np.ndarray, starts: np.ndarray, variables: np.ndarray, called: FactorLabel
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the strides of every variable in its factor's table, and the tables' sizes."""
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


def check_log_tables(
    tables: np.ndarray,
    table_start: np.ndarray,
    scope_of: Callable[[int], np.ndarray],
    called: FactorLabel,
) -> None:
    """Check that log-potentials are numbers or -inf, and that every factor allows some state."""
    wrong = np.isnan(tables) | np.isposinf(tables)
    if wrong.any():
        at = int(np.argmax(wrong))
        f = int(np.searchsorted(table_start, at, side="right")) - 1
        raise ModelError(
            f"expected finite or -inf log-potentials, got {tables[at]} in {called(f)} over "
            f"variables {tuple(map(int, scope_of(f)))}"
        )
    check_magnitude(tables, starts=table_start[:-1])
    finite = np.concatenate([[0], np.cumsum(np.isfinite(tables))])
    empty = finite[table_start[1:]] == finite[table_start[:-1]]
    if empty.any():
        f = int(np.argmax(empty))
        raise ModelError(
            f"expected some possible state in every factor, but {called(f)} over variables "
            f"{tuple(map(int, scope_of(f)))} is -inf everywhere: the support is empty"
        )


def check_magnitude(*tables: np.ndarray, starts: np.ndarray | None = None) -> None:
    """Refuse log-potentials so large that their sums lose significant digits.

    Of the tables that begin at `starts` only the largest entries count; without `starts`, all do.
    """
    ends = [
        (float(t.max(initial=0.0)), -float(t.min(initial=0.0, where=t > -np.inf))) for t in tables
    ]
    largest = max(map(max, ends))
    if largest <= MAX_TOTAL_LOG_POTENTIAL / max(1, sum(table.size for table in tables)):
        return
    sizes = [np.abs(np.where(np.isneginf(table), 0.0, table)).ravel() for table in tables]
    if starts is not None:
        sizes = [np.maximum.reduceat(part, starts) for part in sizes]
    with np.errstate(over="ignore"):
        total = sum(float(part.sum()) for part in sizes)
    if total > MAX_TOTAL_LOG_POTENTIAL:
        raise ModelError(
            f"expected log-potentials whose sizes add up to at most {MAX_TOTAL_LOG_POTENTIAL:.0e}, "
            f"since sums of larger ones lose significant digits, got {largest:.3g}: scale them "
            "down, or write -inf for what is impossible"
        )


def as_factor_list(factors: Iterable[FactorLike]) -> list[FactorLike]:
    """Return the factors that a user passed as a list."""
    try:
        return list(factors)
    except TypeError as error:
        raise ModelError(
            f"expected a list of factors (variables, log_table), got {short_repr(factors)}"
        ) from error


def read_factor(f: int, factor: FactorLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the variables and the log-table of factor `f` as arrays."""
    try:
        variables, table = factor
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"expected factor {f} as (variables, log_table), got {short_repr(factor)}"
        ) from error
    scope = list(variables) if isinstance(variables, (set, range)) else variables
    return (
        as_integer_array(f"the variables of factor {f}", scope).reshape(-1),
        as_float_array(f"the log-table of factor {f}", table),
    )


def check_unaries(model: "FactorGraph") -> None:
    """Check that the unary factors of each variable leave it a state."""
    if not model.has_hard_zeros:
        return
    possible: dict[int, np.ndarray] = {}
    zeros = np.flatnonzero(np.isneginf(model.log_tables))
    hard = np.unique(np.searchsorted(model.table_start, zeros, side="right") - 1)
    for f in hard[np.diff(model.factor_start)[hard] == 1].tolist():
        (i,), table = model.factor(f)
        possible[int(i)] = np.isfinite(table) & possible.get(int(i), True)
    stuck = [i for i, states in possible.items() if not states.any()]
    if stuck:
        raise ModelError(
            f"expected a possible state for every variable, but the unary factors of variable "
            f"{min(stuck)} forbid all of its states: the support is empty"
        )


def check_names(names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    """Return `names` as `n` distinct strings, or None."""
    return None if names is None else _distinct(names, n, "names")


def check_state_names(
    state_names: Sequence[Sequence[str]] | None, cardinalities: np.ndarray
) -> tuple[tuple[str, ...], ...] | None:
    """Return `state_names` as one string for every state of every variable, or None."""
    if state_names is None:
        return None
    n = len(cardinalities)
    if not isinstance(state_names, Sequence) or len(state_names) != n:
        raise ModelError(
            f"expected the state names of {n} variables, got {short_repr(state_names)}"
        )
    return tuple(
        _distinct(states, int(k), f"state names of variable {i}")
        for i, (states, k) in enumerate(zip(state_names, cardinalities, strict=True))
    )


def _distinct(names: object, n: int, what: str) -> tuple[str, ...]:
    if not isinstance(names, Iterable):
        raise ModelError(f"expected {n} {what}, got {short_repr(names)}")
    result = tuple(str(name) for name in names)
    if len(result) != n:
        raise ModelError(f"expected {n} {what}, got {len(result)}")
    if len(set(result)) != n:
        twice = Counter(result).most_common(1)[0][0]
        raise ModelError(f"expected distinct {what}, got {twice!r} twice")
    return result


# -- models and their states ---------------------------------------------------------------


def check_model(model: object) -> None:
    """Raise a `ModelError` that says how to get a model unless `model` is one."""
    if is_model(model):
        return
    if isinstance(model, (str, os.PathLike)):
        raise ModelError(
            f"expected a model, got {short_repr(model)}: read it first, with read_model"
        )
    raise ModelError(
        f"expected a model, got {describe_value(model)}: build one, such as FactorGraph(...) or "
        "ising_grid(field)"
    )


def check_states(model: Model, states: ArrayLike) -> np.ndarray:
    """Check states against the cardinalities and return them as integers (..., N)."""
    n = model.n_variables
    if names_its_columns(states):
        x: np.ndarray = read_rows(model, states, "states").as_array(n)
        if (x == MISSING).any():
            r, i = (int(a) for a in np.argwhere(x == MISSING)[0])
            raise ModelError(
                f"expected a state of every variable, got none of variable {i} in row {r}: "
                'hd.query(model, rows, "log_probability") sums over missing states'
            )
        return x
    x = as_integer_array("states", without_masked_entries("states", states))
    if _has_model_shape(model, x):
        x = x.reshape(*x.shape[: x.ndim - len(model.shape)], n)
    if x.ndim == 0 or x.shape[-1] != n:
        raise ModelError(f"expected states of {n} variables, got an array of shape {x.shape}")
    bad = (x < 0) | (x >= model.cardinalities)
    if bad.any():
        i = int(np.argwhere(bad)[0][-1])
        raise ModelError(
            f"expected states of variable {i} from 0 to {model.cardinalities[i] - 1}, "
            f"got {x[..., i][bad[..., i]].flat[0]}"
        )
    return x


def _has_model_shape(model: Model, x: np.ndarray) -> bool:
    dims = len(model.shape)
    return dims > 1 and x.ndim >= dims and x.shape[x.ndim - dims :] == model.shape
