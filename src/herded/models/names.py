"""Names of variables and of their states: what a file calls them, and what evidence may say."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from herded.errors import ModelError
from herded.models.checks import shown, whole_number
from herded.models.protocol import Model


def check_names(names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    """`names` as `n` distinct strings, or None."""
    return None if names is None else _distinct(names, n, "names")


def check_state_names(
    state_names: Sequence[Sequence[str]] | None, cardinalities: np.ndarray
) -> tuple[tuple[str, ...], ...] | None:
    """`state_names` as one string for every state of every variable, or None."""
    if state_names is None:
        return None
    n = len(cardinalities)
    if not isinstance(state_names, Sequence) or len(state_names) != n:
        raise ModelError(f"expected the state names of {n} variables, got {shown(state_names)}")
    return tuple(
        _distinct(states, int(k), f"state names of variable {i}")
        for i, (states, k) in enumerate(zip(state_names, cardinalities, strict=True))
    )


def called(model: Model, i: int) -> str:
    """What to call variable `i` in a message: its name, its pixel or its number."""
    if model.names:
        return repr(model.names[i])
    if len(model.shape) > 1:
        return str(tuple(int(p) for p in np.unravel_index(i, model.shape)))
    return str(int(i))


def _distinct(names: object, n: int, what: str) -> tuple[str, ...]:
    if not isinstance(names, Iterable):
        raise ModelError(f"expected {n} {what}, got {shown(names)}")
    result = tuple(str(name) for name in names)
    if len(result) != n:
        raise ModelError(f"expected {n} {what}, got {len(result)}")
    if len(set(result)) != n:
        twice = Counter(result).most_common(1)[0][0]
        raise ModelError(f"expected distinct {what}, got {twice!r} twice")
    return result


def state_index(model: Model, i: int, key: object, value: object) -> int:
    """The state of variable `i` (which the user calls `key`) that `value` means."""
    k = int(model.cardinalities[i])
    states = model.state_names[i] if model.state_names else ()
    expected = f"expected evidence from 0 to {k - 1}"
    expected += f" or one of {shown(states)}" if states else ""
    if states and isinstance(value, str):
        if value not in states:
            raise ModelError(f"{expected} for variable {key!r}, got {value!r}")
        return states.index(value)
    state = whole_number(f"evidence for {key!r}", value)
    if not 0 <= state < k:
        raise ModelError(f"{expected} for variable {key!r}, got {value}")
    return state
