"""Evidence: which variables are clamped, and to which states."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from herded.errors import ModelError
from herded.models.naming import state_index, variable_index, variable_text
from herded.models.protocol import Model
from herded.system.argument_checks import as_integer, short_repr

if TYPE_CHECKING:
    from herded.models.factor_graph import FactorGraph


class IndexEvidence(dict[int, int]):
    """Evidence by indices of variables and states, whatever the states are called.

    `given` reads a state of a plain mapping by its name: 1 is the state "1" where there is one. A
    file of indices, such as UAI evidence, means the second state.

    Examples
    --------
    >>> from herded.models.evidence import IndexEvidence
    >>> model = hd.FactorGraph([3], [], state_names=[["1", "2", "3"]])
    >>> model.given({0: 1}).evidence, model.given(IndexEvidence({0: 1})).evidence
    (array([0]), array([1]))
    """

    def copy(self) -> "IndexEvidence":
        """A copy, which is by index, too."""
        return IndexEvidence(self)

    def __or__(self, other: Any) -> "IndexEvidence":  # type: ignore[override]
        return IndexEvidence({**self, **other})


def merge_evidence(model: Model, evidence: Mapping[Any, int | str]) -> np.ndarray:
    """Add `evidence` to the model's evidence array; keys are indices, names or pixels."""
    if not isinstance(evidence, Mapping):
        raise ModelError(f"expected evidence as {{variable: value}}, got {short_repr(evidence)}")
    clamped = np.array(model.evidence)
    flat = clamped.reshape(-1)
    read_state = _checked_index if isinstance(evidence, IndexEvidence) else state_index
    seen: dict[int, int] = {}
    for key, value in evidence.items():
        i = variable_index(model, key)
        flat[i] = read_state(model, i, key, value)
        if seen.setdefault(i, int(flat[i])) != flat[i]:
            raise ModelError(
                f"expected one state for variable {variable_text(model, i)}, got two: drop one"
            )
    return clamped


def _checked_index(model: Model, i: int, key: object, value: object) -> int:
    """An index of a state of variable `i`."""
    state, k = as_integer(f"evidence for {key!r}", value), int(model.cardinalities[i])
    if not 0 <= state < k:
        raise ModelError(f"expected evidence from 0 to {k - 1} for variable {key!r}, got {value}")
    return state


def check_possible(model: "FactorGraph") -> None:
    """Raise if the evidence alone makes some factor impossible."""
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
            names = [variable_text(model, int(i)) for i in variables]
            raise ModelError(
                f"expected evidence of positive probability, but {{{', '.join(fixed)}}} is "
                f"impossible in factor {f} over variables ({', '.join(names)}): correct or drop "
                "that evidence"
            )


def _name_and_state(model: Model, i: int) -> str:
    """Return a variable and its evidence by name, for messages."""
    value = int(model.evidence[i])
    return (
        f"{variable_text(model, i)}: "
        f"{repr(model.state_names[i][value]) if model.state_names else value}"
    )
