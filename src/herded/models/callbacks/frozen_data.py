"""Freezing the data that user functions read, so that a model never changes."""

from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.system.argument_checks import short_repr

NUMBER_TYPES = (bool, int, float, complex, np.generic)


def frozen_data(data: Any) -> Any:
    """Return the data with read-only arrays; arrays that can be written are copied."""
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


def is_compilable(data: object) -> bool:
    """Return whether the data is made of numbers, arrays and tuples, which Numba can compile."""
    if isinstance(data, tuple):
        return all(map(is_compilable, data))
    return isinstance(data, (np.ndarray, *NUMBER_TYPES))


def statistics_parts(found: object) -> tuple[np.ndarray, ...]:
    """Return the result of `statistics` as a tuple of arrays."""
    parts = found if isinstance(found, tuple) else (found,)
    for part in parts:
        if not isinstance(part, np.ndarray) or part.ndim == 0 or part.dtype.kind not in "biuf":
            raise ModelError(
                "expected an array of numbers or a tuple of arrays, of one dimension or more, from "
                f"statistics, got {short_repr(found)}"
            )
    return parts
