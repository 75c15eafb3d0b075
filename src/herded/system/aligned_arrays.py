"""Arrays for kernels: read-only, contiguous, and aligned to cache lines."""

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

CACHE_LINE_BYTES = 64  # bytes
ArrayTuple = TypeVar("ArrayTuple", bound=tuple[Any, ...])


def start_offsets(counts: np.ndarray) -> np.ndarray:
    """The offsets of consecutive parts with these sizes, and the end of the last."""
    start = np.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=start[1:])
    return start


def make_read_only(arrays: ArrayTuple) -> ArrayTuple:
    """The same tuple with contiguous, read-only arrays."""
    kept = []
    for array in arrays:
        array = np.ascontiguousarray(array)
        if array.flags.writeable:
            array.flags.writeable = False
        kept.append(array)
    return type(arrays)(*kept)


def arrays_in(part: object) -> Iterator[np.ndarray]:
    """All arrays of tuples, lists and dicts, however deep."""
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, (tuple, list)):
        for inner in part:
            yield from arrays_in(inner)
    elif isinstance(part, dict):
        for inner in part.values():
            yield from arrays_in(inner)


def aligned_zeros(shape: tuple[int, ...], kind: DTypeLike) -> np.ndarray:
    """Zeros aligned to a cache line: a vector that lies in two lines takes longer to load."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.zeros(size + CACHE_LINE_BYTES, np.uint8)
    first = -room.ctypes.data % CACHE_LINE_BYTES
    return room[first : first + size].view(kind).reshape(shape)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A copy that is aligned to a cache line."""
    copy = aligned_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy
