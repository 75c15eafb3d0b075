"""Snapshots of a tiled run: folders that hold all tiles after one sweep.

A new snapshot is written next to the last one. `run.json`, which is replaced atomically, names the
valid snapshot; only then is the old one removed. A run killed at any moment leaves a complete
snapshot.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import CheckpointError, MemoryLimitError
from herded.run.checkpoints.checkpoint_file import check_same_run
from herded.system import atomic_files
from herded.system.diagnostics.phrases import CHECKPOINT
from herded.system.memory_limits import size_text

SNAPSHOT_FORMAT = 2  # 2: methods as JSON


class Snapshots:
    """The snapshots of a run in one folder."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        """Start a new run, or find where a run of the same identity stopped."""
        self.folder, self.identity = folder, identity
        self.sweep, self.seconds = 0, 0.0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"expected checkpoint= as a folder, but {folder}: {error.strerror}"
            ) from error
        header = read_snapshot_header(folder)
        if header is not None:
            check_same_run(folder, header, {"format": SNAPSHOT_FORMAT, **identity})
            self.sweep, self.seconds = int(header["sweep"]), float(header["seconds"])
        self._clear()

    @property
    def current(self) -> Path | None:
        """The folder of the valid snapshot, or None before the first one."""
        return self.of(self.sweep) if self.sweep else None

    def of(self, sweep: int) -> Path:
        """Return the folder of the tiles after `sweep`."""
        return self.folder / f"sweep-{sweep}"

    def begin(self, sweep: int) -> Path:
        """Create a folder for the tiles after `sweep`."""
        target = self.of(sweep)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        return target

    def commit(self, sweep: int, seconds: float) -> None:
        """Make the complete snapshot of `sweep` the valid one."""
        header = {"format": SNAPSHOT_FORMAT, **self.identity, "sweep": sweep, "seconds": seconds}
        with atomic_files.atomic_replacement(
            self.folder / "run.json", CheckpointError, CHECKPOINT
        ) as file:
            file.write(json.dumps(header).encode())
        self.sweep, self.seconds = sweep, seconds
        self._clear()

    def _clear(self) -> None:
        """Remove all but the valid snapshot."""
        for path in self.folder.glob("sweep-*"):
            if path != self.current:
                shutil.rmtree(path, ignore_errors=True)


def read_snapshot_header(folder: Path) -> dict[str, Any] | None:
    """Read `run.json`, or return None if there is none."""
    path = folder / "run.json"
    try:
        header = json.loads(path.read_bytes())
        if not (isinstance(header, dict) and {"sweep", "seconds", "tile"} <= header.keys()):
            raise ValueError
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"expected a tiled run at {folder}, got something unreadable: move it away to start "
            "again"
        ) from error
    return header


def save_array(path: Path, array: np.ndarray) -> None:
    """Write an array, and wait until it is on the disk."""
    try:
        with open(path, "wb") as file:
            np.save(file, array)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CheckpointError(f"could not write {path}: {error.strerror}") from error


def check_disk(folder: Path, need: float) -> None:
    """Raise if the files of a run do not fit on the disk."""
    there = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if need > free:
        raise MemoryLimitError(
            f"expected {size_text(need)} of free disk for two snapshots of the tiles and the "
            f"marginals, got {size_text(free)} at {there}: put checkpoint= elsewhere"
        )
