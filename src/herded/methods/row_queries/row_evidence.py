"""The evidence of rows and their targets, checked against the model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.methods.row_queries.row_elimination import Target
from herded.models.data_frames import MISSING, DataRows, column_variable, read_rows
from herded.models.evidence import IndexEvidence, merge_evidence
from herded.models.naming import (
    find_state,
    state_label,
    variable_index,
    variable_label,
    variable_text,
)
from herded.models.protocol import Model
from herded.system.argument_checks import (
    as_float,
    as_float_array,
    short_repr,
    without_masked_entries,
)

BEST_STATE, LOG_PROBABILITY = "map", "log_probability"  # targets that are no variables


@dataclass(frozen=True, eq=False)
class RowEvidence:
    """The evidence of rows: states of variables, and likelihoods of their states."""

    n_rows: int
    columns: dict[int, np.ndarray]  # `MISSING` where a row does not know the state
    likelihoods: dict[int, np.ndarray]  # (R or 1, K) logarithms
    labels: Any = None
    ignored: tuple[str, ...] = ()  # columns that are no variables of the model


def read_row_evidence(model: Model, given: object) -> RowEvidence:
    """Hard and soft evidence of rows, checked against the model and its own evidence."""
    if given is None:
        return RowEvidence(1, {}, {})
    soft: dict[int, np.ndarray] = {}
    if isinstance(given, IndexEvidence):
        merged = merge_evidence(model, given).reshape(-1)
        known = [variable_index(model, key) for key in given]
        rows = DataRows(1, {i: merged[[i]] for i in known})
    elif isinstance(given, Mapping):
        hard = {}
        for key, value in given.items():
            if _is_soft(value):
                i = column_variable(model, key)
                if i is None:
                    i = variable_index(model, key)  # which says what is known
                soft[i] = _read_likelihood(model, i, key, value)
            else:
                hard[key] = value
        sizes = {len(likelihood) for likelihood in soft.values()} - {1}
        rows = read_rows(model, hard, "given") if hard else DataRows(max(sizes, default=1), {})
        n_rows = rows.n_rows if rows.n_rows > 1 else max(sizes, default=rows.n_rows)
        if sizes - {n_rows} or rows.n_rows not in (1, n_rows):
            raise ModelError(
                f"expected soft evidence of {rows.n_rows} rows in given, got {max(sizes)}"
            )
        if n_rows > rows.n_rows:
            whole = {i: np.repeat(column, n_rows) for i, column in rows.columns.items()}
            rows = DataRows(n_rows, whole, None, rows.ignored)
    else:
        rows = read_rows(model, given, "given")
    both = [variable_text(model, i) for i in soft if i in rows.columns]
    if both:
        raise ModelError(f"expected one column for variable {both[0]} in given, got two")
    columns = without_known(model, rows)
    return RowEvidence(rows.n_rows, columns, soft, rows.labels, rows.ignored)


def _is_soft(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, np.ndarray) and value.ndim == 2)


def _read_likelihood(model: Model, i: int, key: object, value: object) -> np.ndarray:
    """Read logarithms of likelihoods, (R or 1, K)."""
    k = int(model.cardinalities[i])
    name = f"the likelihoods of {key!r}"
    if isinstance(value, Mapping):
        states = tuple(model.state_names[i]) if model.state_names else ()
        table = np.zeros((1, k))
        for state, likelihood in value.items():
            found = find_state(states, k, state)
            if found is None:
                raise ModelError(
                    f"expected states of variable {key!r} in its likelihoods, got {state!r}"
                )
            if table[0, found]:
                raise ModelError(f"expected each state of {key!r} once in its likelihoods")
            table[0, found] = as_float(name, likelihood)
    else:
        table = as_float_array(name, without_masked_entries(name, value))
    if table.shape[1] != k or not (table >= 0).all() or not np.isfinite(table).all():
        raise ModelError(
            f"expected {name} as numbers of 0 or more, one for each of its {k} states, got "
            f"{short_repr(value)}"
        )
    with np.errstate(divide="ignore"):
        logs: np.ndarray = np.log(table)
    return logs


def without_known(model: Model, rows: DataRows) -> dict[int, np.ndarray]:
    """Remove columns that the model's own evidence fixes; refuse those that disagree."""
    found = {}
    for i, column in rows.columns.items():
        state = int(model.evidence.reshape(-1)[i])
        if state < 0:
            if (column != MISSING).any():
                found[i] = column
            continue
        differs = (column != MISSING) & (column != state)
        if differs.any():
            raise ModelError(
                f"expected {variable_text(model, i)} as the model's evidence has it, "
                f"{state_label(model, i, state)!r}, got "
                f"{state_label(model, i, int(column[differs][0]))!r} in row "
                f"{int(np.argmax(differs))}: drop one of them"
            )
    return found


@dataclass(frozen=True)
class RowTargets:
    """The targets of each row."""

    variables: dict[Any, Target]  # by label
    asks_best_state: bool
    asks_log_probability: bool


def read_targets(model: Model, targets: Any, evidence: RowEvidence) -> RowTargets:
    if targets is None:
        free = [
            i
            for i in np.flatnonzero(np.asarray(model.evidence).reshape(-1) < 0).tolist()
            if i not in evidence.columns
        ]
        return RowTargets({variable_label(model, i): (i,) for i in free}, False, False)
    is_one = isinstance(targets, (str, tuple)) or not isinstance(targets, Iterable)
    found: dict[Any, Target] = {}
    words = set()
    for target in [targets] if is_one else list(targets):
        is_word = isinstance(target, str) and target in (BEST_STATE, LOG_PROBABILITY)
        if is_word and (model.names is None or target not in model.names):
            words.add(target)
            continue
        label, variables = read_target(model, target)
        if len(set(variables)) < len(variables):
            raise ModelError(f"expected distinct variables in a target, got {short_repr(target)}")
        found[label] = variables
    return RowTargets(found, BEST_STATE in words, LOG_PROBABILITY in words)


def read_target(model: Model, target: object) -> tuple[Any, Target]:
    """Return a variable, or a tuple or set of variables whose joint distribution is asked for."""
    is_pixel = isinstance(target, tuple) and not any(isinstance(p, (tuple, str)) for p in target)
    is_pixel &= len(model.shape) > 1
    if is_pixel or not isinstance(target, Iterable) or isinstance(target, str):
        i = variable_index(model, target)
        return variable_label(model, i), (i,)
    if not target:
        raise ModelError("expected variables in a target, got an empty one")
    parts = list(target) if not isinstance(target, (set, frozenset)) else sorted(target, key=str)
    variables = tuple(variable_index(model, part) for part in parts)
    return tuple(variable_label(model, i) for i in variables), variables
