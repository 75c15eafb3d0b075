"""Rows of observed states, checked against a model; -1 where a state is unknown."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import HerdedWarning, ModelError
from herded.models.data_frames import names_its_columns, read_rows, refuse_spins
from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.run.execute import users_level
from herded.system.argument_checks import as_float_array, as_integer_array, short_repr

UNKNOWN_STATE = -1
MAX_OBSERVED_STATES = 2**16  # states are kept in 16 bits


def as_integer_rows(
    name: str, data: ArrayLike, remedy: str = "write -1 for unknown states"
) -> np.ndarray:
    """Convert `data` to whole numbers, with an error of its own for NaN."""
    numbers = as_float_array(name, data)
    if np.isnan(numbers).any():
        at = tuple(int(a) for a in np.argwhere(np.isnan(numbers))[0])
        raise ModelError(f"expected whole numbers in {name}, got NaN at {at}: {remedy}")
    return as_integer_array(name, numbers)


def as_observations(model: Model, data: ArrayLike, name: str = "data") -> np.ndarray:
    """Read states (R, N), -1 where unknown: by name where the data have names, else by position.

    Variables of a picture may come in its shape.
    """
    n = model.n_variables
    if names_its_columns(data):
        named = read_rows(model, data, name)
        if named.ignored:
            warnings.warn(
                f"columns {', '.join(map(repr, named.ignored))} of {name} are no variables of the "
                "model and are ignored",
                HerdedWarning,
                stacklevel=users_level(),
            )
        rows = named.as_array(n)
        if len(rows) == 0:
            raise ModelError(f"expected rows in {name}, got none")
        return rows
    if isinstance(data, np.ma.MaskedArray):
        data = np.where(np.ma.getmaskarray(data), UNKNOWN_STATE, data.data)
    rows = as_integer_rows(name, data)
    refuse_spins(model, rows, name)
    if len(model.shape) > 1 and rows.ndim > 1 and rows.shape[1:] == model.shape:
        rows = rows.reshape(len(rows), n)
    if rows.ndim != 2 or rows.shape[1] != n:
        raise ModelError(
            f"expected {name} of shape (rows, {n}), a column for each variable, got {rows.shape}"
        )
    if len(rows) == 0:
        raise ModelError(f"expected rows in {name}, got none")
    wrong = (rows < UNKNOWN_STATE) | (rows >= model.cardinalities)
    if wrong.any():
        r, i = (int(a) for a in np.argwhere(wrong)[0])
        raise ModelError(
            f"expected states from 0 to {model.cardinalities[i] - 1} of variable "
            f"{variable_text(model, i)}, or -1 for an unknown one, got {rows[r, i]} in row {r} of "
            f"{name}"
        )
    return rows


def check_enough(model: Model, rows: np.ndarray) -> None:
    """Raise if there are too few rows, or no variable of two states or more."""
    if len(rows) < 2:
        raise ModelError(f"expected two rows of data or more, got {len(rows)}")
    if (rows == UNKNOWN_STATE).all():
        raise ModelError("expected rows with some known states, got only -1, an unknown state")
    if int(model.cardinalities.max()) < 2:
        raise ModelError("expected a variable of two states or more, got one state for each")
    if int(model.cardinalities.max()) > MAX_OBSERVED_STATES:
        raise ModelError(
            f"expected at most {MAX_OBSERVED_STATES} states of a variable, got "
            f"{model.cardinalities.max()}"
        )


def split_rows(
    model: Model, rows: np.ndarray, held_out: float | ArrayLike | None, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Split rows for learning from those held out: a share in `order`, or other data."""
    if held_out is None:
        return rows, None
    if isinstance(held_out, (int, float)) and not isinstance(held_out, bool):
        count = round(float(held_out) * len(rows)) if 0 < held_out < 1 else 0
        if count < 1 or len(rows) - count < 2:
            raise ModelError(
                "expected held_out as a share between 0 and 1 that leaves one row out and two in, "
                f"or as other rows, got {short_repr(held_out)} of {len(rows)} rows"
            )
        return rows[order[count:]], rows[order[:count]]
    return rows, as_observations(model, held_out, "held_out")
