"""What variables and states are called: by their names, their place in a picture, or by number."""

from typing import Any

import numpy as np

from herded.models.protocol import Model


def variable_label(model: Model, i: int) -> Any:
    """The name of variable `i`, else its pixel such as (row, column), else its number.

    Evidence may use any of them.
    """
    if model.names is not None:
        return model.names[i]
    if len(model.shape) > 1:
        return tuple(int(p) for p in np.unravel_index(i, model.shape))
    return int(i)


def state_label(model: Model, i: int, k: int) -> Any:
    """The name of state `k` of variable `i`, or its number."""
    return int(k) if model.state_names is None else model.state_names[i][k]


def named_state(model: Model, state: np.ndarray) -> dict[Any, Any]:
    """Every variable and the state it is in."""
    flat = np.asarray(state).reshape(-1).tolist()
    return {variable_label(model, i): state_label(model, i, k) for i, k in enumerate(flat)}


def named_row(model: Model, i: int, row: np.ndarray) -> dict[Any, float]:
    """The states of variable `i` and their numbers in `row`."""
    known = row[: int(model.cardinalities[i])].tolist()
    return {state_label(model, i, k): value for k, value in enumerate(known)}
