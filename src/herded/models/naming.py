"""How variables and states are called: by name, by position in a picture, or by number.

`variable_index` and `state_index` read what a user wrote; `variable_text` names a variable in a
message; labels name variables and states in results, plots and files.
"""

from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.protocol import Model
from herded.system.argument_checks import as_integer, short_repr
from herded.system.suggestions import did_you_mean


def variable_index(model: Model, key: object) -> int:
    """Return the index of a variable given by index, name, or position in a picture."""
    if isinstance(key, str):
        if model.names is None or key not in model.names:
            hint = did_you_mean(key, model.names or ())
            raise ModelError(
                f"expected the name of a variable, got {key!r}, which the model does not have{hint}"
            )
        return int(model.names.index(key))
    shape = model.shape if isinstance(key, tuple) else (model.n_variables,)
    keys = key if isinstance(key, tuple) else (key,)
    position = [as_integer("a variable", p) for p in keys]
    if len(position) != len(shape) or any(
        not 0 <= p < size for p, size in zip(position, shape, strict=True)
    ):
        pixel = f" or a pixel of a {model.shape} picture" if len(model.shape) > 1 else ""
        raise ModelError(
            f"expected a variable from 0 to {model.n_variables - 1}, a name{pixel}, got {key!r}"
        )
    return int(np.ravel_multi_index(position, shape))


def state_index(model: Model, i: int, key: object, value: object) -> int:
    """Return the state of variable `i` (called `key` by the user) that `value` denotes."""
    k = int(model.cardinalities[i])
    states = model.state_names[i] if model.state_names else ()
    expected = f"expected evidence from 0 to {k - 1}"
    expected += f" or one of {short_repr(states)}" if states else ""
    if states and isinstance(value, str):
        if value not in states:
            hint = did_you_mean(value, states)
            raise ModelError(f"{expected} for variable {key!r}, got {value!r}{hint}")
        return states.index(value)
    state = as_integer(f"evidence for {key!r}", value)
    if not 0 <= state < k:
        raise ModelError(f"{expected} for variable {key!r}, got {value}")
    return state


def variable_text(model: Model, i: int) -> str:
    """Return what a message calls variable `i`: its name, its pixel or its number."""
    if model.names:
        return short_repr(model.names[i])
    if len(model.shape) > 1:
        return str(tuple(int(p) for p in np.unravel_index(i, model.shape)))
    return str(int(i))


def variable_label(model: Model, i: int) -> Any:
    """Return the name of variable `i`, else its pixel such as (row, column), else its number.

    Evidence may use any of these.
    """
    if model.names is not None:
        return model.names[i]
    if len(model.shape) > 1:
        return tuple(int(p) for p in np.unravel_index(i, model.shape))
    return int(i)


def state_label(model: Model, i: int, k: int) -> Any:
    """Return the name of state `k` of variable `i`, or its number."""
    return int(k) if model.state_names is None else model.state_names[i][k]


def named_state(model: Model, state: np.ndarray) -> dict[Any, Any]:
    """Return every variable with its state, by name."""
    flat = np.asarray(state).reshape(-1).tolist()
    return {variable_label(model, i): state_label(model, i, k) for i, k in enumerate(flat)}


def named_row(model: Model, i: int, row: np.ndarray) -> dict[Any, float]:
    """Return the entries of `row`, one for each state of variable `i`, by name."""
    known = row[: int(model.cardinalities[i])].tolist()
    return {state_label(model, i, k): value for k, value in enumerate(known)}
