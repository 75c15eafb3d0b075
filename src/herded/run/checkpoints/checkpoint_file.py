"""Save a run to a file and read it again: arrays without pickle, written all or nothing."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import CheckpointError, MemoryLimitError
from herded.methods.serialization import record_text
from herded.system import atomic_files, memory_limits
from herded.system.argument_checks import short_repr
from herded.system.atomic_files import FilePath
from herded.system.diagnostics.phrases import CHECKPOINT
from herded.system.memory_limits import Size
from herded.system.npz_reader import Place, read_arrays

CHECKPOINT_FORMAT = 4  # 2: runs keep traces; 3: recorders have other names; 4: methods as JSON


def write_checkpoint(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    """Write atomically: a reader sees the old file or the new one, never a part of either."""
    text = json.dumps({"format": CHECKPOINT_FORMAT, **header}).encode()
    with atomic_files.atomic_replacement(path, CheckpointError, CHECKPOINT) as file:
        np.savez(file, header=np.frombuffer(text, np.uint8), **arrays)  # type: ignore[arg-type]


def read_checkpoint(
    path: str | os.PathLike[str],
    max_memory: Size | None = None,
    held: float = 0.0,
    place: Place | None = None,
) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """Return the header and arrays of a checkpoint, or None where there is no file.

    Parameters
    ----------
    path
    max_memory, held
        Arrays are read within the limit, less the `held` bytes that the run has already.
    place
        As in `read_arrays`: arrays that have a place take no further memory.
    """
    target = Path(path)
    if not target.exists():
        return None

    def check_size(size: int) -> None:
        if 2 * size > memory_limits.ALWAYS_ALLOWED_BYTES:
            what = f"the arrays of the checkpoint at {target}"
            memory_limits.check_memory(held + 2 * size, max_memory, what, "free some")

    found = _read(target, check_size, place)
    header = _header(target, found)
    # Copied one after another, to be changed.
    return header, {
        name: array if array.flags.writeable else array.copy()
        for name, array in ((name, found.pop(name)) for name in list(found))
    }


def read_header(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Read the header of a checkpoint without its arrays; None if there is no file."""
    target = Path(path)
    if not target.exists():
        return None

    def check_size(size: int) -> None:
        if size > memory_limits.ALWAYS_ALLOWED_BYTES:
            raise ValueError("a header that is none")

    return _header(target, _read(target, check_size, only="header"))


def _read(
    target: Path,
    check_size: Callable[[int], None],
    place: Place | None = None,
    only: str | None = None,
) -> dict[str, np.ndarray]:
    try:
        # `write_checkpoint` packs nothing: what unpacks to more than the file is none of ours.
        kinds = (zipfile.ZIP_STORED,)
        return read_arrays(target, check_size, kinds=kinds, place=place, only=only)
    except MemoryLimitError:
        raise
    except Exception as error:  # numpy and zip raise errors of many kinds
        raise _unreadable(target) from error


def _header(target: Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Take the header from the arrays of a checkpoint."""
    try:
        header = json.loads(arrays.pop("header").tobytes())
    except (KeyError, ValueError, RecursionError) as error:
        raise _unreadable(target) from error
    if not isinstance(header, dict) or header.get("format") != CHECKPOINT_FORMAT:
        got = header.get("format") if isinstance(header, dict) else None
        raise CheckpointError(
            f"expected a checkpoint of format {CHECKPOINT_FORMAT} at {target}, got one of format "
            f"{short_repr(got)} by another version of herded: move it away to start again, or "
            "resume it with that version"
        )
    return header


def _unreadable(target: Path) -> CheckpointError:
    return CheckpointError(
        f"expected a checkpoint at {target}, got an unreadable file: move it away to start again"
    )


def check_same_run(path: FilePath, header: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise unless the checkpoint belongs to the run that is about to resume."""
    for name, value in expected.items():
        if header.get(name) != value:
            raise CheckpointError(
                f"expected a checkpoint with {name} {_text(value)!r:.200} at {path}, got one with "
                f"{_text(header.get(name))!r:.200}: use another file, or move this one away to "
                "start again"
            )


def _text(value: object) -> object:
    """Return a method as Python writes it; other values as they are."""
    is_record = isinstance(value, dict) and ("type" in value or "class" in value)
    return record_text(value) if is_record else value
