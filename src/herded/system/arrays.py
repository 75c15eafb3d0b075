"""Arrays as kernels like them: read-only, contiguous, and beginning at a cache line."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

CACHE_LINE = 64  # bytes
Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def starts(counts: np.ndarray) -> np.ndarray:
    """Where parts of so many entries start, one after another; and the end of the last."""
    start = np.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=start[1:])
    return start


def lock(arrays: Arrays) -> Arrays:
    """The same tuple with contiguous, read-only arrays."""
    kept = []
    for array in arrays:
        array = np.ascontiguousarray(array)
        if array.flags.writeable:
            array.flags.writeable = False
        kept.append(array)
    return type(arrays)(*kept)


def aligned(shape: tuple[int, ...], kind: DTypeLike) -> np.ndarray:
    """Zeros that begin where a cache line does: a vector that lies in two costs twice."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + size].view(kind).reshape(shape)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """One that begins where a cache line does, too."""
    copy = aligned(array.shape, array.dtype)
    copy[...] = array
    return copy
