"""Read arrays from .npz files that may be anybody's: no pickle, and no more than a file holds.

`np.load` takes the memory that a file declares before it looks at what is there, and unpacks a
few megabytes to gigabytes.
"""

import io
import math
import warnings
import zipfile
from collections.abc import Callable
from os import PathLike
from typing import BinaryIO

import numpy as np

PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_arrays(
    source: str | PathLike[str] | BinaryIO,
    check_size: Callable[[int], None],
    *,
    kinds: tuple[int, ...] = PACKED,
) -> dict[str, np.ndarray]:
    """The arrays of a file, by name; `check_size` is called with their bytes before any is read.

    Raises errors of many kinds where it is no such file.
    """
    with zipfile.ZipFile(source) as file:
        members = file.infolist()
        if any(member.compress_type not in kinds for member in members):
            raise ValueError("packed in another way, which may have no bounds")
        check_size(sum(member.file_size for member in members))
        return {member.filename.removesuffix(".npy"): _array(file, member) for member in members}


def _array(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """An array whose header says no more than its bytes hold."""
    with file.open(member) as source:
        data = source.read(member.file_size + 1)  # at most that, whatever the real size is
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("arrays of numbers have headers of version 1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy warns of headers that it should not read
        shape, fortran, kind = np.lib.format.read_array_header_1_0(stream)
    begin = stream.tell()
    if kind.hasobject or fortran or len(data) - begin != math.prod(shape) * kind.itemsize:
        raise ValueError("not the array it says")
    return np.frombuffer(data, kind, offset=begin).reshape(shape)
