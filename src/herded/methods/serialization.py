"""Methods as JSON: `to_dict` writes one, and `method_from_dict` reads it again.

A method of this package is its class ("type") and all of its options; checkpoints, plans and the
command line keep it in this form. Nothing that a file says is imported or evaluated.

An object of another package can be told from others, but not made again. If it has a method
`to_dict` this decides what is written; else dataclasses are written as their class and fields,
functions as their names, and other objects as their `repr` if their class defines one. A run that
was started with such a method is resumed by passing the same method again.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from herded.errors import HerdedError, MethodError
from herded.system.argument_checks import is_whole_number, short_repr
from herded.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from herded.methods.protocol import Method


@runtime_checkable
class SupportsToDict(Protocol):
    """An object with a `to_dict` of its own."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can write."""


# -- write -----------------------------------------------------------------------------------------


def method_to_dict(method: object) -> dict[str, Any]:
    """Return what names a method, of this package or another, as JSON can write it."""
    found = to_json(method)
    return found if isinstance(found, dict) else {"text": found}


def to_json(value: object) -> Any:
    """Return an option of a method as JSON can write it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return to_json(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [to_json(part) for part in value]
    if isinstance(value, type):
        return {"class": value.__qualname__}
    if isinstance(value, SupportsToDict):
        return value.to_dict()
    name = type(value).__qualname__
    if is_dataclass(value):
        own = vars(value)
        return {"class": name, **{f.name: to_json(own.get(f.name)) for f in fields(value)}}
    if isinstance(value, partial):
        arguments = to_json(value.args)
        options = {key: to_json(option) for key, option in value.keywords.items()}
        return {"class": name, "of": to_json(value.func), "args": arguments, "options": options}
    function = getattr(value, "__qualname__", None)  # also of functions compiled by Numba
    if function is not None:
        return {"function": f"{value.__module__}.{function}"}
    has_own_repr = repr(value) != object.__repr__(value)  # which has an address in it
    return {"class": name, "text": repr(value)} if has_own_repr else {"class": name}


def record_text(record: object) -> str:
    """Return a record of `to_json` as Python writes the object, for error messages."""
    if isinstance(record, list):
        return f"({', '.join(map(record_text, record))})"
    if not isinstance(record, dict):
        return repr(record)
    if "text" in record or "function" in record:
        return str(record.get("text", record.get("function")))
    name = record.get("type", record.get("class"))
    options = (f"{k}={record_text(v)}" for k, v in record.items() if k not in ("type", "class"))
    return f"{name}({', '.join(options)})"


# -- read ------------------------------------------------------------------------------------------


def method_from_dict(data: object) -> "Method":
    """Return the method that `to_dict` has written.

    Raises
    ------
    MethodError
        If it is no method of this package, or if its class does not have or take the options.

    Examples
    --------
    >>> from herded.methods.serialization import method_from_dict
    >>> hd.BeliefPropagation(damping=0.5).to_dict()
    {'type': 'BeliefPropagation', 'damping': 0.5, 'updates': 'sequential', 'tolerance': 1e-09}
    >>> method_from_dict({"type": "Gibbs", "herd": 64})
    Gibbs(herd=64)
    """
    from herded.methods.belief_propagation.solver import BeliefPropagation
    from herded.methods.exact.solver import Exact
    from herded.methods.gibbs import Gibbs
    from herded.methods.herded_gibbs import HerdedGibbs
    from herded.methods.mean_field.solver import MeanField
    from herded.methods.tempered import Tempered
    from herded.methods.viterbi.solver import Viterbi

    known = (Gibbs, HerdedGibbs, Tempered, Exact, BeliefPropagation, MeanField, Viterbi)
    found: Method = _read("a method", data, *known)
    return found


def _read(what: str, data: object, *classes: type) -> Any:
    """Make the object of one of `classes` that a record describes."""
    known = {made.__name__: made for made in classes}
    if not isinstance(data, dict):
        raise MethodError(f'expected {what} as a JSON object with a "type", got {short_repr(data)}')
    name = data.get("type")
    if not isinstance(name, str) or name not in known:
        if data.keys() & {"class", "function"}:
            raise MethodError(
                f"expected {what} of this package, got {short_repr(record_text(data))}, which "
                "cannot be made from JSON: pass the method itself"
            )
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        raise MethodError(
            f'expected the "type" of {what} out of {", ".join(known)}, got {short_repr(name)}{hint}'
        )
    made: Any = known[name]
    names = [field.name for field in fields(made)]
    options = {key: value for key, value in data.items() if key != "type"}
    for key in options:
        if key not in names:
            hint = did_you_mean(key, names) if isinstance(key, str) else ""
            raise MethodError(
                f"expected options of {name} out of {', '.join(names) or 'none'}, got "
                f"{short_repr(key)}{hint}"
            )
    try:
        return made(**{k: READERS[k](v) if k in READERS else v for k, v in options.items()})
    except HerdedError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise MethodError(
            f"expected options that {name} takes, got {short_repr(options)}: {error}"
        ) from error


def _read_schedule(value: object) -> Any:
    from herded.methods.schedule import LinearCooling

    return (
        value
        if value is None or isinstance(value, str)
        else _read("a schedule", value, LinearCooling)
    )


def _read_moves(value: object) -> Any:
    from herded.moves.blocks.move import Blocks

    return None if value is None else _read("moves", value, Blocks)


def _read_tempered_method(value: object) -> Any:
    from herded.methods.gibbs import Gibbs

    return _read("the method to temper", value, Gibbs)


def _read_scan(value: object) -> Any:
    if isinstance(value, str) or (
        isinstance(value, list) and all(is_whole_number(part, 0) for part in value)
    ):
        return value
    raise MethodError(f"expected a scan by name or as a list of variables, got {short_repr(value)}")


def _read_blocks(value: object) -> Any:
    if value is None or (isinstance(value, list) and all(map(_is_block, value))):
        return value
    raise MethodError(f"expected blocks as lists of variables, got {short_repr(value)}")


def _is_block(value: object) -> bool:
    """Return whether this is a list of variables: numbers, names, and pixels, which are lists."""
    if not isinstance(value, list):
        return False
    pixels = (key if isinstance(key, list) else [key] for key in value)
    return all(isinstance(part, str) or is_whole_number(part, 0) for key in pixels for part in key)


READERS: Mapping[str, Callable[[object], Any]] = {
    "schedule": _read_schedule,
    "moves": _read_moves,
    "method": _read_tempered_method,
    "scan": _read_scan,
    "blocks": _read_blocks,
}
