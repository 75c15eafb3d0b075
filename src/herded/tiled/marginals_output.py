"""Marginals on disk, written by rectangles and moved into place when complete."""

import os
import shutil
from pathlib import Path

import numpy as np

from herded.errors import FileError
from herded.system.atomic_files import target_path
from herded.tiled.stored_lattice import open_zarr
from herded.tiled.tile import TilePosition


class OutputArray:
    """A new array of float64 that becomes `path`, a .npy file or a .zarr folder.

    It may be sent to workers, which write to it concurrently, each its own tiles.
    """

    def __init__(self, path: Path, shape: tuple[int, ...], tile: tuple[int, int]) -> None:
        self.path = path
        self.part = path.with_name(f".herded-{os.urandom(8).hex()}.part{path.suffix}")
        try:
            if path.suffix == ".zarr":
                # A chunk belongs to one tile, or two writers would overwrite each other.
                open_zarr(self.part, mode="w", shape=shape, chunks=tile, dtype="f8")
            else:
                np.lib.format.open_memmap(self.part, mode="w+", dtype=np.float64, shape=shape)
        except OSError as error:
            raise FileError(f"could not write {path}: {error.strerror}") from error

    def write(self, place: TilePosition, marginals: np.ndarray) -> None:
        """Write the tile at `place`."""
        rows, columns = slice(place.top, place.bottom), slice(place.left, place.right)
        try:
            if self.path.suffix == ".zarr":
                open_zarr(self.part, mode="r+")[rows, columns] = marginals
            else:
                array = np.load(self.part, mmap_mode="r+")
                array[rows, columns] = marginals
                array.flush()
        except OSError as error:
            raise FileError(f"could not write {self.path}: {error}") from error

    def finish(self) -> None:
        """Move the complete array into place."""
        if self.path.is_dir():
            shutil.rmtree(self.path)
        os.replace(self.part, self.path)

    def discard(self) -> None:
        """Remove an incomplete array."""
        if self.part.is_dir():
            shutil.rmtree(self.part, ignore_errors=True)
        else:
            self.part.unlink(missing_ok=True)


def check_out(out: str | os.PathLike[str]) -> Path:
    """Return the path of the output, or raise an error if it cannot be written."""
    path = target_path(out, FileError, "out=")
    if path.suffix not in (".npy", ".zarr"):
        raise FileError(f"expected out= as the name of a .npy file or a .zarr folder, got {out}")
    if path.suffix == ".npy" and path.is_dir():
        raise FileError(f"expected out= as the name of a file, got the folder {out}")
    if not path.parent.is_dir():
        raise FileError(f"expected out= in a folder that exists, got {out}: create {path.parent}")
    return path
