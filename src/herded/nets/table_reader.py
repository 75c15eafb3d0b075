"""Read P(child | parents) from an array, a mapping, a data frame, a series or another table.

The labels of a table decide where its numbers belong; only plain arrays are read by position.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from herded.errors import ModelError
from herded.models.naming import find_state
from herded.nets.conditional_table import ConditionalTable, check_rows
from herded.system.argument_checks import as_float_array, short_repr, without_masked_entries
from herded.system.suggestions import did_you_mean


def read_table(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    table: object,
) -> ConditionalTable:
    """Read a table in any of the forms that `BayesNet.add` takes, checked."""
    shape = (*map(len, parent_states), len(states))
    if isinstance(table, ConditionalTable):
        values = _read_conditional(child, states, parents, parent_states, table)
    elif hasattr(table, "columns"):
        values = _read_frame(child, states, parents, parent_states, table)
    elif isinstance(table, Mapping):
        values = _read_mapping(child, states, parents, parent_states, table)
    elif _is_series(table) and parents:
        values = _read_series(child, states, parents, parent_states, table)
    elif _is_series(table):
        values = _read_row(child, states, table)
    else:
        values = _read_numbers(f"the table of {child!r}", table)
    _check_shape(child, parents, shape, values)
    found = ConditionalTable(child, states, parents, parent_states, values)
    check_rows(found)
    return replace(found, probabilities=values / values.sum(axis=-1, keepdims=True))


def _check_shape(
    child: str, parents: Sequence[str], shape: tuple[int, ...], values: np.ndarray
) -> None:
    if values.shape == shape:
        return
    axes = ", ".join([*parents, child])
    remedy = "give it one axis for each parent, in their order, and the child's last"
    if values.shape == (shape[-1], *shape[:-1]):
        remedy = "the child's states belong on the last axis: transpose it"
    elif values.size == math.prod(shape):
        remedy = f"reshape it to {shape} if its rows are in that order"
    raise ModelError(
        f"expected a table of shape {shape} for {child!r}, with axes ({axes}), got shape "
        f"{values.shape}: {remedy}"
    )


def _read_mapping(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    table: Mapping[Any, Any],
) -> np.ndarray:
    """Read a mapping from the parents' states to rows, which may be mappings as well."""
    shape = (*map(len, parent_states), len(states))
    values = np.full(shape, np.nan)
    if not parents:
        values[...] = _read_row(child, states, table)
        return values
    for key, row in table.items():
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) != len(parents):
            raise ModelError(
                f"expected a state for each of the parents {parents} of {child!r} as keys of its "
                f"table, got {key!r}"
            )
        place = []
        for parent, names, part in zip(parents, parent_states, parts, strict=True):
            found = find_state(names, len(names), part)
            if found is None:
                raise ModelError(
                    f"expected a state of {parent!r} ({', '.join(names)}) in the table of "
                    f"{child!r}, got {part!r}{did_you_mean(str(part), names)}"
                )
            place.append(found)
        if not np.isnan(values[tuple(place)]).all():
            raise ModelError(f"expected the row {key!r} of {child!r} once, got it twice")
        values[tuple(place)] = _read_row(child, states, row)
    missing = np.argwhere(np.isnan(values).any(axis=-1))
    if len(missing):
        names = tuple(s[k] for s, k in zip(parent_states, missing[0], strict=True))
        raise ModelError(
            f"expected a row of {child!r} for all {values[..., 0].size:,} combinations of its "
            f"parents' states, got none for {names}"
        )
    return values


def _read_row(child: str, states: tuple[str, ...], row: object) -> np.ndarray:
    """Return the probabilities of the child's states; one that a mapping leaves out is refused."""
    if isinstance(row, Mapping) or _is_series(row):
        found = {find_state(states, len(states), state): p for state, p in row.items()}
        if None in found or len(found) != len(states) or len(found) != len(row):
            raise ModelError(
                f"expected a probability for each state of {child!r} ({', '.join(states)}), got "
                f"{short_repr(dict(row))}"
            )
        return as_float_array(f"a row of {child!r}", [found[k] for k in range(len(states))])
    values = _read_numbers(f"a row of {child!r}", row)
    if values.shape != (len(states),):
        raise ModelError(
            f"expected {len(states)} probabilities in each row of {child!r}, got {short_repr(row)}"
        )
    return values


def _read_numbers(what: str, values: object) -> np.ndarray:
    """Read numbers by position; refuse arrays with labels, which could belong in other places."""
    if _has_labels(values):
        raise ModelError(
            f"expected {what} without labels, got {short_repr(values)}: pass an array with one "
            "axis for each parent, in their order, and the child's last, or a mapping from the "
            "parents' states to rows"
        )
    return as_float_array(what, without_masked_entries(what, values))


def _has_labels(values: object) -> bool:
    """Return whether an array has labels that are not read here, or a list holds such arrays."""
    if isinstance(values, (list, tuple)):
        return any(map(_has_labels, values))
    return hasattr(values, "coords") or hasattr(values, "columns") or _is_series(values)


def _is_series(values: object) -> TypeGuard[Any]:
    """Return whether this is a pandas series with labels: an index of 0, 1, 2, ... says nothing."""
    index = getattr(values, "index", None)
    is_series = hasattr(values, "items") and index is not None and not callable(index)
    return is_series and type(index).__name__ != "RangeIndex"


def _read_series(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    series: Any,
) -> np.ndarray:
    """Read a series whose index has a level for each parent and one for the child."""
    levels = [str(name) for name in series.index.names]
    if sorted(levels) != sorted((*parents, child)):
        raise ModelError(
            f"expected an index with the levels {(*parents, child)} of the table of {child!r}, "
            f"got {tuple(levels)}"
        )
    rows: dict[tuple[Any, ...], dict[Any, Any]] = {}
    for key, probability in series.items():
        state_of = dict(zip(levels, key, strict=True))
        row = rows.setdefault(tuple(state_of[parent] for parent in parents), {})
        if state_of[child] in row:
            raise ModelError(f"expected {key!r} once in the table of {child!r}, got it twice")
        row[state_of[child]] = probability
    return _read_mapping(child, states, parents, parent_states, rows)


def _read_conditional(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    table: ConditionalTable,
) -> np.ndarray:
    """Read a table of the same variables and states, which may be in another order."""
    wanted = dict(zip((*parents, child), (*parent_states, states), strict=True))
    names = (*table.parents, table.child)
    found = dict(zip(names, (*table.parent_states, table.states), strict=True))
    if (
        table.child != child
        or found.keys() != wanted.keys()
        or any(sorted(found[name]) != sorted(wanted[name]) for name in wanted)
    ):
        raise ModelError(
            f"expected a table of {child!r} given {parents}, with the same states, got "
            f"{table.title}: pass its probabilities to match them by position"
        )
    values = table.probabilities.transpose([names.index(name) for name in wanted])
    places = ([found[name].index(s) for s in of_one] for name, of_one in wanted.items())
    return np.ascontiguousarray(values[np.ix_(*places)])


def _read_frame(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    frame: Any,
) -> np.ndarray:
    """Read a data frame with a column for each state, and the parents as index or as columns."""
    if hasattr(frame, "index") and not set(parents) <= set(map(str, frame.columns)):
        levels = [str(name) for name in frame.index.names]
        if set(parents) <= set(levels):
            frame = frame.reset_index()
    columns = {str(name): name for name in frame.columns}
    names = list(map(str, frame.columns))
    twice = [name for name in (*parents, *states) if names.count(name) > 1]
    if twice:
        raise ModelError(f"expected one column {twice[0]!r} in the table of {child!r}, got two")
    missing = [name for name in (*parents, *states) if name not in columns]
    if missing:
        raise ModelError(
            f"expected columns for the parents {parents} and the states {states} of {child!r} in "
            f"its table, got none for {missing[0]!r}"
        )
    keys = list(zip(*(list(frame[columns[p]]) for p in parents), strict=True)) or [()]
    what = f"the table of {child!r}"
    rows = np.stack([as_float_array(what, frame[columns[s]]) for s in states], axis=1)
    if not parents:
        if len(rows) != 1:
            raise ModelError(
                f"expected one row for {child!r}, which has no parents, got {len(rows)}"
            )
        return np.array(rows[0])
    if len(set(keys)) < len(keys):
        raise ModelError(f"expected each combination of parents once in the table of {child!r}")
    return _read_mapping(child, states, parents, parent_states, dict(zip(keys, rows, strict=True)))
