"""Arrays for kernels: read-only, contiguous, and aligned to cache lines."""

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

CACHE_LINE_BYTES = 64
ArrayTuple = TypeVar("ArrayTuple", bound=tuple[Any, ...])


def start_offsets(counts: np.ndarray) -> np.ndarray:
    """Return the offsets of consecutive parts of these sizes, and the end of the last."""
    start = np.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=start[1:])
    return start


def make_read_only(arrays: ArrayTuple) -> ArrayTuple:
    """Return the same tuple with contiguous, read-only arrays."""
    kept = []
    for array in arrays:
        array = np.ascontiguousarray(array)
        if array.flags.writeable:
            array.flags.writeable = False
        kept.append(array)
    return type(arrays)(*kept)


def arrays_in(part: object) -> Iterator[np.ndarray]:
    """Yield all arrays within tuples, lists and dicts, at any depth."""
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, (tuple, list)):
        for inner in part:
            yield from arrays_in(inner)
    elif isinstance(part, dict):
        for inner in part.values():
            yield from arrays_in(inner)


def aligned_zeros(shape: tuple[int, ...], kind: DTypeLike) -> np.ndarray:
    """Create zeros aligned to a cache line: a vector that spans two lines loads more slowly."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.zeros(size + CACHE_LINE_BYTES, np.uint8)
    first = -room.ctypes.data % CACHE_LINE_BYTES
    return room[first : first + size].view(kind).reshape(shape)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """Copy an array into memory aligned to a cache line."""
    copy = aligned_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy
