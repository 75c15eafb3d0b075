"""Data that functions of one's own read: frozen, so that a model never changes."""

from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.system.argument_checks import short_repr

NUMBER_TYPES = (bool, int, float, complex, np.generic)


def frozen_data(data: Any) -> Any:
    """The same with arrays that cannot be written: copies, unless they are read-only already."""
    if isinstance(data, np.ndarray):
        if data.dtype.kind == "O":
            raise ModelError(
                "expected arrays of numbers in data, got one of Python objects: convert it, or put "
                "the objects into a tuple"
            )
        if data.flags.writeable or not data.flags.aligned:
            data = np.array(data, order="K")
            data.flags.writeable = False
        return data
    if isinstance(data, tuple):
        parts = [frozen_data(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
    return data


def is_compilable(data: Any) -> bool:
    """Whether it is made of what compiled functions take: numbers, arrays and tuples of these."""
    if isinstance(data, tuple):
        return all(map(is_compilable, data))
    return isinstance(data, (np.ndarray, *NUMBER_TYPES))


def statistics_parts(found: Any) -> tuple[np.ndarray, ...]:
    """What `statistics` gave as a tuple of arrays."""
    parts = found if isinstance(found, tuple) else (found,)
    for part in parts:
        if not isinstance(part, np.ndarray) or part.ndim == 0 or part.dtype.kind not in "biuf":
            raise ModelError(
                "expected an array of numbers or a tuple of arrays, of one dimension or more, from "
                f"statistics, got {short_repr(found)}"
            )
    return parts
