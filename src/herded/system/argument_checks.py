"""Checks of arguments: convert them to numbers and arrays, or say what was expected.

Nothing here depends on models. Every function takes the name by which the user knows the argument,
and raises an error that says what was expected and what was given.
"""

import operator
from numbers import Real
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from herded.errors import ModelError


def short_repr(value: object) -> str:
    """Return the beginning of a value's repr, on one line."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return f"a very long {type(value).__name__}"
    return " ".join(text.split())[:80]


def describe_value(value: object) -> str:
    """Describe a value of an unexpected kind by its type, and its shape if it has one."""
    shape = getattr(value, "shape", None)
    return (
        f"{type(value).__name__} of shape {shape}"
        if isinstance(shape, tuple)
        else short_repr(value)
    )


def as_integer_array(name: str, values: object) -> np.ndarray:
    """Convert `values` to int64, of any shape: 2.0 is a whole number, 2.5 and "2" are not."""
    expected = f"expected whole numbers as {name}"
    array = _array(expected, values)
    try:
        if array.dtype.kind not in "biuf":
            if array.size:
                raise TypeError
            array = array.astype(np.float64)
        with np.errstate(invalid="ignore"):  # NaN and infinity are rejected below
            whole = array.astype(np.int64, copy=False)
        if array.dtype.kind in "uf" and not np.array_equal(whole, array):
            raise ValueError
    except (TypeError, ValueError) as error:
        raise ModelError(f"{expected}, got {short_repr(values)}") from error
    return whole


def _array(expected: str, values: object, uneven: str = "") -> np.ndarray:
    """Convert `values` to an array; `uneven` is the remedy for rows of different lengths."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        rows = " in rows of one length" if isinstance(error, ValueError) else ""
        remedy = f": {uneven}" if rows and uneven else ""
        raise ModelError(f"{expected}{rows}, got {short_repr(values)}{remedy}") from error


def without_masked_entries(name: str, values: object) -> object:
    """Return `values`, unless some of them are masked, which plain arrays would forget."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ModelError(f"expected {name} without masked entries, got some")
    return values


def as_integer(name: str, value: object) -> int:
    """Convert `value` to one whole number."""
    array = as_integer_array(name, value)
    if array.ndim:
        raise ModelError(f"expected one whole number as {name}, got {short_repr(value)}")
    return int(array)


def edge_array(name: str, edges: ArrayLike) -> np.ndarray:
    """Convert `edges` to whole numbers of shape (E, 2)."""
    ends = as_integer_array(name, edges)
    if ends.size == 0:
        return ends.reshape(0, 2)
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise ModelError(f"expected {name} as whole numbers of shape (E, 2), got {ends.shape}")
    return ends


def as_float_array(name: str, values: object, uneven: str = "") -> np.ndarray:
    """Convert `values` to floats, of any shape; `uneven` is the remedy for uneven rows."""
    expected = f"expected numbers in {name}"
    array = _array(expected, values, uneven)
    try:
        if array.dtype.kind not in "biufO" and array.size:
            raise TypeError
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{expected}, got {short_repr(values)}") from error


def as_float(name: str, value: object) -> float:
    """Convert `value` to one float."""
    array = as_float_array(name, value)
    if array.ndim:
        raise ModelError(f"expected one number as {name}, got {short_repr(value)}")
    return float(array)


def float_array(name: str, values: ArrayLike, dims: int, uneven: str = "") -> np.ndarray:
    """Convert `values` to floats with `dims` non-empty dimensions."""
    array = as_float_array(name, values, uneven)
    if array.ndim != dims or 0 in array.shape:
        raise ModelError(f"expected a non-empty {dims}-D array as {name}, got shape {array.shape}")
    return array


def read_only_copy(array: ArrayLike, kind: DTypeLike) -> np.ndarray:
    """Make a read-only, contiguous copy, since models never change."""
    copy = np.array(array, dtype=kind, order="C")
    copy.flags.writeable = False
    return copy


def is_whole_number(value: object, least: int) -> bool:
    """Return whether `value` is a whole number of `least` or more."""
    if type(value) is int:  # a protocol check takes longer than a small run
        return value >= least
    try:
        return (
            isinstance(value, SupportsIndex)
            and not isinstance(value, bool)
            and operator.index(value) >= least
        )
    except TypeError:
        return False


def is_number_between(value: object, low: float, high: float) -> bool:
    """Return whether `value` is a number from `low` to `high`."""
    return isinstance(value, Real) and not isinstance(value, bool) and low <= float(value) <= high
