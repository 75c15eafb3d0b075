"""How variables and states are called: by name, by position in a picture, or by number.

`variable_index` and `state_index` read what a user wrote; `variable_text` names a variable in a
message; labels name variables and states in results, plots and files.
"""

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.protocol import Model
from herded.system.argument_checks import as_integer, is_whole_number, short_repr
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
    states = tuple(model.state_names[i]) if model.state_names else ()
    found = find_state(states, k, value)
    if found is None:
        hint = did_you_mean(value, states) if isinstance(value, str) else ""
        raise ModelError(
            f"expected {expected_states(states, k)} for variable {key!r}, got "
            f"{short_repr(value)}{hint}"
        )
    return found


def expected_states(states: Sequence[str], k: int) -> str:
    """Describe the values that `find_state` accepts, for a message."""
    if not states:
        return f"evidence from 0 to {k - 1}"
    names = f"one of {short_repr(tuple(states))}"
    return names if are_values(states) else f"evidence from 0 to {k - 1} or {names}"


def find_state(states: Sequence[str], k: int, value: object) -> int | None:
    """Return the index of the state that `value` denotes, or None.

    A value means the state whose name it spells, up to upper and lower case: `True` is "TRUE", 2
    and 2.0 are "2". A whole number is an index only where no name reads as a number or as a truth
    value, since 1 would then mean one state by its name and another by its place.

    Examples
    --------
    >>> from herded.models.naming import find_state
    >>> find_state(["TRUE", "FALSE"], 2, True), find_state(["1", "2", "3"], 3, 1)
    (0, 0)
    >>> find_state(["low", "high"], 2, 1), find_state(["TRUE", "FALSE"], 2, 1)
    (1, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, (int, float)) and not abs(value) < MAX_STATE_NUMBER):
        return None  # missing, NaN, or no number of a state
    whole = as_whole_number(value)
    if states:
        is_number = whole is not None and not isinstance(value, bool)
        texts = [str(value), str(whole)] if is_number else [str(value)]  # 1.0 is "1", too
        for text in texts:
            if text in states:
                return states.index(text)
        folded = [state.casefold() for state in states]
        if folded.count(texts[0].casefold()) == 1:
            return folded.index(texts[0].casefold())
        if isinstance(value, bool) or are_values(states):
            return None
    return whole if whole is not None and 0 <= whole < k else None


MAX_STATE_NUMBER = 2**53  # numbers from here on are no states, nor exact as floats


def as_whole_number(value: object) -> int | None:
    """Return `value` as a whole number if it is one; a text is not."""
    if isinstance(value, (int, float)):
        return int(value) if value == int(value) else None
    return operator.index(value) if is_whole_number(value, 0) else None  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _is_value(name: str) -> bool:
    """Whether a name reads as a number or as a truth value."""
    try:
        float(name)
    except ValueError:
        return name.casefold() in ("true", "false")
    return True


def are_values(states: Sequence[str]) -> bool:
    """Return whether the name of some state reads as a number or a truth value."""
    return any(map(_is_value, states))


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
