"""Reading arrays from untrusted .npz files: no pickle, no more memory than the file justifies.

`np.load` allocates the memory that a file declares before it reads the content, and unpacks a
few megabytes to gigabytes.
"""

import io
import math
import warnings
import zipfile
from collections.abc import Callable
from os import PathLike
from typing import IO, Any, BinaryIO

import numpy as np

Place = Callable[[str, tuple[int, ...], "np.dtype[Any]"], np.ndarray | None]

ZIP_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
AT_ONCE = 2**20  # bytes that are read at once into an existing array


def read_arrays(
    source: str | PathLike[str] | BinaryIO,
    check_size: Callable[[int], None],
    *,
    kinds: tuple[int, ...] = ZIP_KINDS,
    place: Place | None = None,
    only: str | None = None,
) -> dict[str, np.ndarray]:
    """Read the arrays of a file, by name.

    Raises errors of many kinds if the file is not a valid one.

    Parameters
    ----------
    source
    check_size
        Called before any array is read, with the bytes of the arrays not covered by `place`.
    kinds
        The accepted kinds of compression.
    place
        Returns the array into which values of a name, a shape and a type are read, or None to
        allocate one.
    only
        The name of the only array to read.
    """
    with zipfile.ZipFile(source) as file:
        members = {member.filename.removesuffix(".npy"): member for member in file.infolist()}
        if any(member.compress_type not in kinds for member in members.values()):
            raise ValueError("packed in another way, which may have no bounds")
        if only is not None:
            members = {only: members[only]}
        places = {}
        if place is not None:
            for name, member in members.items():
                with file.open(member) as stream:
                    found = place(name, *_read_header(stream, member.file_size))
                if found is not None:
                    places[name] = found
        check_size(sum(one.file_size for name, one in members.items() if name not in places))
        for name, room in places.items():
            _read_into(room, file, members[name])
        return {
            name: places[name] if name in places else _array(file, member)
            for name, member in members.items()
        }


def _array(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Read an array whose header declares no more than its bytes hold."""
    with file.open(member) as source:
        data = source.read(member.file_size + 1)  # an upper limit, whatever the real size
    stream = io.BytesIO(data)
    shape, kind = _read_header(stream, len(data))
    return np.frombuffer(data, kind, offset=stream.tell()).reshape(shape)


def _read_into(room: np.ndarray, file: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read the values of an array into one of its shape and type, some rows at a time."""
    with file.open(member) as stream:
        _read_header(stream, member.file_size)
        row = room[:1].nbytes
        rows = max(1, AT_ONCE // max(row, 1))
        for first in range(0, len(room), rows):
            some = room[first : first + rows]
            some[...] = np.frombuffer(stream.read(some.nbytes), room.dtype).reshape(some.shape)
        if stream.read(1):  # this also compares the checksum
            raise ValueError("more than the array it says")


def _read_header(stream: IO[bytes], size: int) -> tuple[tuple[int, ...], "np.dtype[Any]"]:
    """Read the shape and the type of an array that fills the remaining `size` bytes."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("arrays of numbers have headers of version 1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy warns about unsafe headers
        shape, fortran, kind = np.lib.format.read_array_header_1_0(stream)
    if kind.hasobject or fortran or size - stream.tell() != math.prod(shape) * kind.itemsize:
        raise ValueError("not the array it says")
    return shape, kind
