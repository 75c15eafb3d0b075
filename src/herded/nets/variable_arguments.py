"""Read what a user gives for one variable of a Bayes net: its states, parents and table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from herded.errors import ModelError
from herded.system.argument_checks import short_repr


def read_arguments(name: object, given: object) -> dict[str, Any]:
    """Return the arguments of `BayesNet.add` that a mapping of variables holds for one of them."""
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in ("states", "parents", "table")]
        if unknown or not {"states", "table"} <= given.keys():
            raise ModelError(
                f"expected states, table and perhaps parents of {name!r}, got {short_repr(given)}"
            )
        found = dict(given)
    elif isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 3:
        found = dict(zip(("states", "parents", "table"), given, strict=True))
    else:
        raise ModelError(
            f"expected (states, parents, table) of {name!r}, or a mapping of them, got "
            f"{short_repr(given)}"
        )
    return {**found, "parents": read_parents(str(name), found.get("parents"))}


def read_states(name: str, states: object) -> tuple[str, ...]:
    """Read the names of the states of a variable: one or more."""
    found = _read_names(states, f"states of {name!r}")
    if not found:
        raise ModelError(f"expected one or more distinct states of {name!r}, got none")
    return found


def read_parents(name: str, parents: object) -> tuple[str, ...]:
    """Read the names of the parents of a variable, perhaps none."""
    return () if parents is None else _read_names(parents, f"parents of {name!r}")


def _read_names(names: object, what: str) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ModelError(f"expected a list of the {what}, got {short_repr(names)}")
    if isinstance(names, (set, frozenset)):
        raise ModelError(
            f"expected a list of the {what}, got a set, which has no order: the order decides "
            "what the numbers of the table mean"
        )
    found = tuple(map(str, names))
    if len(set(found)) < len(found) or "" in found:
        raise ModelError(f"expected one or more distinct {what}, got {short_repr(found)}")
    return found
