"""A lattice whose fields and couplings lie on disk, read one rectangle at a time."""

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX

from herded.errors import FileError, ModelError, missing
from herded.models.arrays import number, shown
from herded.models.lattice import Lattice, ising_grid

EXPECTED = "expected a .npy file or a .zarr folder with one array"
BEGIN = 20  # bytes of another file, to be shown
LOOKED_AT = 64  # rows that name the content of an array


@dataclass(frozen=True)
class StoredLattice:
    """An open Ising grid, as `ising_grid(field, coupling)`, of any size.

    field     h of shape (H, W): the name of a .npy file or of a .zarr folder, or an array
    coupling  J: one number, or a pair (right, down) of shapes (H, W-1) and (H-1, W), each as field
    """

    field: Any
    coupling: Any = 1.0

    def __post_init__(self) -> None:
        shape = self.shape
        if len(shape) != 2 or 0 in shape:
            raise ModelError(f"expected a field of shape (H, W), got one of shape {shape}")
        if self.is_uniform:
            value = number("the coupling", self.coupling)
            if not np.isfinite(value):
                raise ModelError(f"expected a finite coupling, got {value}")
            return
        h, w = shape
        for name, part, wanted in zip(
            ("right", "down"), self.coupling, ((h, w - 1), (h - 1, w)), strict=True
        ):
            if (got := _shape(part)) != wanted:
                raise ModelError(f"expected couplings {name} of shape {wanted}, got {got}")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return _shape(self.field)

    @property
    def is_uniform(self) -> bool:
        """Whether all couplings are one number."""
        return not (isinstance(self.coupling, (tuple, list)) and len(self.coupling) == 2)

    def patch(self, top: int, left: int, bottom: int, right: int) -> Lattice:
        """Rows top..bottom-1 and columns left..right-1 as a lattice of their own."""
        field = read(self.field, slice(top, bottom), slice(left, right))
        coupling = self.coupling
        if not self.is_uniform:
            across, along = self.coupling
            coupling = (
                read(across, slice(top, bottom), slice(left, right - 1)),
                read(along, slice(top, bottom - 1), slice(left, right)),
            )
        try:
            return ising_grid(field, coupling)
        except ModelError as error:
            raise ModelError(f"{error}, counted from row {top} and column {left}") from error

    @cached_property
    def name(self) -> str:
        """Names the content by its shape and by rows spread over it, to tell runs apart."""
        digest = hashlib.sha256(f"stored lattice {self.shape}".encode())
        parts = (self.field,) if self.is_uniform else (self.field, *self.coupling)
        for part in parts:
            height, width = _shape(part)
            for r in np.unique(np.linspace(0, height - 1, LOOKED_AT).astype(int)).tolist():
                row = read(part, slice(r, r + 1), slice(0, width))
                digest.update(np.ascontiguousarray(row, np.float64).tobytes())
        if self.is_uniform:
            digest.update(np.float64(self.coupling).tobytes())
        return digest.hexdigest()[:16]


def read(source: Any, rows: slice, columns: slice) -> np.ndarray:
    """A rectangle of a stored array. A file is closed again: what is mapped counts as memory."""
    return np.array(open_array(source)[rows, columns])


def _shape(source: Any) -> tuple[int, ...]:
    return tuple(int(side) for side in open_array(source).shape)


def open_array(source: Any) -> Any:
    """Something with a shape, of which rectangles can be read."""
    if not isinstance(source, (str, os.PathLike)):
        return source if hasattr(source, "shape") else np.asarray(source)
    path = Path(source)
    try:
        if path.is_dir():
            return open_zarr(path, mode="r")
        _check_npy(path)
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileError:
        raise
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise FileError(f"{EXPECTED} at {path}, but: {reason}") from error


def _check_npy(path: Path) -> None:
    """NumPy takes what does not begin as it should for something that only `pickle` reads."""
    with path.open("rb") as file:
        begin = file.read(BEGIN)
    if not begin.startswith(MAGIC_PREFIX):
        got = f"a file that begins {shown(begin)}" if begin else "an empty file"
        raise FileError(f"{EXPECTED} at {path}, got {got}: store it with numpy.save")


def open_zarr(path: Path, **options: Any) -> Any:
    """A Zarr array on disk."""
    try:
        import zarr
    except ImportError as error:
        raise missing("zarr", "arrays in .zarr folders", "scale") from error
    return zarr.open_array(store=str(path), **options)
