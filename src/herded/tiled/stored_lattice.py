"""A lattice whose fields, couplings and evidence are on disk, read one rectangle at a time."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX
from numpy.typing import ArrayLike

from herded.errors import FileError, ModelError, missing_extra_error
from herded.models.lattice import Lattice
from herded.models.lattice_builders import ising_grid
from herded.system.argument_checks import as_float, short_repr
from herded.system.atomic_files import FilePath

EXPECTED_FILE_TEXT = "expected a .npy file or a .zarr folder with one array"
SHOWN_FILE_BYTES = 20  # bytes of a wrong file shown in an error
Source = FilePath | ArrayLike  # a file, or the array itself
HASHED_ROWS = 64  # rows of an array that are hashed


@dataclass(frozen=True)
class StoredLattice:
    """An Ising grid on disk, of any size: the model of `infer_tiled`.

    The model is that of `ising_grid(field, coupling, periodic=periodic)` with its evidence.

    Parameters
    ----------
    field : path-like or array_like of shape (H, W)
        h: the name of a .npy file or of a .zarr folder, or an array.
    coupling : float or pair
        J: one number, or (right, down) of shapes (H, W-1) and (H-1, W), both (H, W) when periodic,
        each in the same form as `field`.
    clamped : path-like or array_like of shape (H, W), optional
        Evidence: 0 or 1 for observed sites, -1 for others.
    periodic : bool
        Whether borders are joined; then rows and columns must be even numbers of 4 or more.

    Raises
    ------
    ModelError
        If shapes do not fit.
    FileError
        If a file cannot be read.

    Examples
    --------
    >>> np.save("field.npy", np.zeros((64, 64), np.float32))
    >>> lattice = hd.StoredLattice("field.npy", coupling=0.3)
    >>> lattice.shape
    (64, 64)
    >>> lattice.patch(0, 0, 2, 3).n_variables
    6
    """

    field: Source
    coupling: Any = 1.0
    clamped: Source | None = None
    periodic: bool = False

    def __post_init__(self) -> None:
        shape = self.shape
        if len(shape) != 2 or 0 in shape:
            raise ModelError(f"expected a field of shape (H, W), got one of shape {shape}")
        if self.periodic and (shape[0] % 2 or shape[1] % 2 or min(shape) < 4):
            raise ModelError(
                "expected an even number of rows and columns, of 4 or more, on a periodic stored "
                f"lattice, so that its two colours alternate, got {shape[0]} x {shape[1]}"
            )
        if self.clamped is not None and (got := _shape(self.clamped)) != shape:
            raise ModelError(f"expected clamped of shape {shape}, like the field, got {got}")
        if self.is_uniform:
            value = as_float("the coupling", self.coupling)
            if not np.isfinite(value):
                raise ModelError(f"expected a finite coupling, got {value}")
            return
        h, w = shape
        shapes = (shape, shape) if self.periodic else ((h, w - 1), (h - 1, w))
        for name, part, wanted in zip(("right", "down"), self.coupling, shapes, strict=True):
            if (got := _shape(part)) != wanted:
                raise ModelError(f"expected couplings {name} of shape {wanted}, got {got}")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the lattice, (H, W)."""
        return _shape(self.field)

    @property
    def is_uniform(self) -> bool:
        """Whether all couplings are one number."""
        return not (isinstance(self.coupling, (tuple, list)) and len(self.coupling) == 2)

    def patch(self, top: int, left: int, bottom: int, right: int) -> Lattice:
        """Return rows top..bottom-1 and columns left..right-1 as an open lattice.

        On a periodic lattice they may extend beyond the borders.
        """
        field = read_rectangle(self.field, (top, bottom), (left, right))
        coupling = self.coupling
        if not self.is_uniform:
            across, along = self.coupling
            coupling = (
                read_rectangle(across, (top, bottom), (left, right - 1)),
                read_rectangle(along, (top, bottom - 1), (left, right)),
            )
        try:
            model = ising_grid(field, coupling)
        except ModelError as error:
            height, width = self.shape
            raise ModelError(
                f"{error}, counting from row {top % height} and column {left % width}"
            ) from error
        return replace(model, clamped=self.evidence(top, left, bottom, right))

    def evidence(self, top: int, left: int, bottom: int, right: int) -> np.ndarray:
        """Return the evidence of the same rectangle, -1 where nothing is observed."""
        if self.clamped is None:
            return np.full((bottom - top, right - left), -1)
        known = read_rectangle(self.clamped, (top, bottom), (left, right))
        if known.dtype == bool:
            raise ModelError(
                "expected 0, 1 or -1 (unknown) in clamped, got True and False: write the observed "
                "state where a mask is True, and -1 elsewhere"
            )
        wrong = np.argwhere(~np.isin(known, (-1, 0, 1)))
        if len(wrong):
            r, c = wrong[0]
            height, width = self.shape
            raise ModelError(
                f"expected 0, 1 or -1 (unknown) in clamped, got {known[r, c]} at "
                f"{(int(top + r) % height, int(left + c) % width)}"
            )
        return known.astype(np.int64)

    @cached_property
    def name(self) -> str:
        """A hash of the shape and of rows throughout the arrays, which tells runs apart."""
        digest = hashlib.sha256(f"stored lattice {self.shape} {self.periodic}".encode())
        parts = [self.field] if self.is_uniform else [self.field, *self.coupling]
        for part in parts if self.clamped is None else [*parts, self.clamped]:
            height, width = _shape(part)
            for r in np.unique(np.linspace(0, height - 1, HASHED_ROWS).astype(int)).tolist():
                row = read_rectangle(part, (r, r + 1), (0, width))
                digest.update(np.ascontiguousarray(row, np.float64).tobytes())
        if self.is_uniform:
            digest.update(np.float64(self.coupling).tobytes())
        return digest.hexdigest()[:16]


def read_rectangle(source: Source, rows: tuple[int, int], columns: tuple[int, int]) -> np.ndarray:
    """Read a rectangle of a stored array, continued on the other side if it crosses a border.

    The file is closed again, because mapped pages count as memory.
    """
    array = open_array(source)
    height, width = array.shape
    return np.block(
        [[array[r, c] for c in _stretches(*columns, width)] for r in _stretches(*rows, height)]
    )


def _stretches(first: int, last: int, size: int) -> Iterator[slice]:
    """Yield first..last-1 as slices of a ring of `size`."""
    if first == last or (first >= 0 and last <= size):
        yield slice(first, last)
        return
    while first < last:
        begin = first % size
        end = min(size, begin + last - first)
        yield slice(begin, end)
        first += end - begin


def _shape(source: Source) -> tuple[int, ...]:
    return tuple(int(side) for side in open_array(source).shape)


def open_array(source: Source) -> Any:
    """Return the array, opened for reading rectangles if it is given by file name."""
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
        raise FileError(f"{EXPECTED_FILE_TEXT} at {path}, but: {reason}") from error


def _check_npy(path: Path) -> None:
    """Raise unless it is a .npy file, since numpy's error would mention `pickle`."""
    with path.open("rb") as file:
        begin = file.read(SHOWN_FILE_BYTES)
    if not begin.startswith(MAGIC_PREFIX):
        got = f"a file that begins with {short_repr(begin)}" if begin else "an empty file"
        raise FileError(f"{EXPECTED_FILE_TEXT} at {path}, got {got}: store it with numpy.save")


def open_zarr(path: Path, **options: Any) -> Any:
    """Open a Zarr array on disk."""
    try:
        import zarr
    except ImportError as error:
        raise missing_extra_error("zarr", "arrays in .zarr folders", "scale") from error
    return zarr.open_array(store=str(path), **options)
