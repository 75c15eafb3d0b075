"""Evidence: which variables are clamped, and to what; what messages call them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from herded.errors import ModelError
from herded.models.protocol import Model
from herded.system.argument_checks import shown, whole_number
from herded.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from herded.models.factor_graph import FactorGraph


def merge(model: Model, evidence: Mapping[Any, int | str]) -> np.ndarray:
    """The model's evidence array with `evidence` added; keys are indices, names or pixels."""
    if not isinstance(evidence, Mapping):
        raise ModelError(f"expected evidence as {{variable: value}}, got {shown(evidence)}")
    clamped = np.array(model.evidence)
    flat = clamped.reshape(-1)
    for key, value in evidence.items():
        i = index_of(model, key)
        flat[i] = state_index(model, i, key, value)
    return clamped


def index_of(model: Model, key: object) -> int:
    """The index of a variable given by index, name, or position in a picture."""
    if isinstance(key, str):
        if model.names is None or key not in model.names:
            hint = did_you_mean(key, model.names or ())
            raise ModelError(
                f"expected the name of a variable, got {key!r}, which is unknown here{hint}"
            )
        return int(model.names.index(key))
    shape = model.shape if isinstance(key, tuple) else (model.n_variables,)
    keys = key if isinstance(key, tuple) else (key,)
    position = [whole_number("a variable", p) for p in keys]
    if len(position) != len(shape) or any(
        not 0 <= p < size for p, size in zip(position, shape, strict=True)
    ):
        pixel = f" or a pixel of a {model.shape} picture" if len(model.shape) > 1 else ""
        raise ModelError(
            f"expected a variable from 0 to {model.n_variables - 1}, a name{pixel}, got {key!r}"
        )
    return int(np.ravel_multi_index(position, shape))


def check_possible(model: "FactorGraph") -> None:
    """Raise when the evidence alone makes some factor impossible."""
    if not model.has_hard_zeros:
        return
    clamped = model.evidence >= 0
    touched = clamped[model.factor_variables]
    owners = np.repeat(np.arange(model.n_factors), np.diff(model.factor_start))
    for f in np.unique(owners[touched]):
        variables, table = model.factor(f)
        rest = tuple(
            int(model.evidence[i]) if model.evidence[i] >= 0 else slice(None) for i in variables
        )
        if np.isneginf(table[rest]).all():
            fixed = [_name_and_state(model, int(i)) for i in variables if model.evidence[i] >= 0]
            names = [called(model, int(i)) for i in variables]
            raise ModelError(
                f"expected evidence of positive probability, but {{{', '.join(fixed)}}} is "
                f"impossible in factor {f} over variables ({', '.join(names)}): correct or drop "
                "that evidence"
            )


def _name_and_state(model: Model, i: int) -> str:
    """A variable and its evidence, by their names."""
    value = int(model.evidence[i])
    return (
        f"{called(model, i)}: {repr(model.state_names[i][value]) if model.state_names else value}"
    )


def state_index(model: Model, i: int, key: object, value: object) -> int:
    """The state of variable `i` (which the user calls `key`) that `value` means."""
    k = int(model.cardinalities[i])
    states = model.state_names[i] if model.state_names else ()
    expected = f"expected evidence from 0 to {k - 1}"
    expected += f" or one of {shown(states)}" if states else ""
    if states and isinstance(value, str):
        if value not in states:
            hint = did_you_mean(value, states)
            raise ModelError(f"{expected} for variable {key!r}, got {value!r}{hint}")
        return states.index(value)
    state = whole_number(f"evidence for {key!r}", value)
    if not 0 <= state < k:
        raise ModelError(f"{expected} for variable {key!r}, got {value}")
    return state


def called(model: Model, i: int) -> str:
    """What to call variable `i` in a message: its name, its pixel or its number."""
    if model.names:
        return shown(model.names[i])
    if len(model.shape) > 1:
        return str(tuple(int(p) for p in np.unravel_index(i, model.shape)))
    return str(int(i))
