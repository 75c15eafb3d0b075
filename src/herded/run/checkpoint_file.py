"""Save a run to a file and read it again: arrays without pickle, written all or nothing."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import CheckpointError, MemoryLimitError
from herded.system import atomic, memory
from herded.system.atomic import FilePath
from herded.system.memory import Size
from herded.system.npz import read_arrays

FORMAT = 2  # since runs keep traces (run/trace.py)


def write(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    """Write atomically: a reader sees the old file or the new one, never a part of either."""
    text = json.dumps({"format": FORMAT, **header}).encode()
    with atomic.replacing(path, CheckpointError, "checkpoint=") as file:
        np.savez(file, header=np.frombuffer(text, np.uint8), **arrays)  # type: ignore[arg-type]


def read(
    path: str | os.PathLike[str], max_memory: Size | None = None, held: float = 0.0
) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """The header and arrays of a checkpoint, or None where there is no file.

    They are read within `max_memory`, of which so many bytes are `held` by the run.
    """
    target = Path(path)
    if not target.exists():
        return None

    def check_size(size: int) -> None:
        if 2 * size > memory.LITTLE:
            what = f"the arrays of the checkpoint at {target}"
            memory.check(held + 2 * size, max_memory, what, "free some")

    try:
        # `write` packs nothing: what unpacks to more than the file is none of ours.
        found = read_arrays(target, check_size, kinds=(zipfile.ZIP_STORED,))
        arrays = {name: found.pop(name).copy() for name in list(found)}  # to be changed
        header = json.loads(arrays.pop("header").tobytes())
    except MemoryLimitError:
        raise
    except Exception as error:  # numpy and zip raise errors of many kinds
        raise CheckpointError(
            f"expected a checkpoint at {target}, got something unreadable: move it away to start "
            "anew"
        ) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise CheckpointError(
            f"expected a checkpoint of format {FORMAT} at {target}, got another version's: move it "
            "away to start anew"
        )
    return header, arrays


def check_same_run(path: FilePath, header: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise unless the checkpoint belongs to the run that is about to resume."""
    for name, value in expected.items():
        if header.get(name) != value:
            raise CheckpointError(
                f"expected a checkpoint with {name} {value!r:.200} at {path}, got one with "
                f"{header.get(name)!r:.200}: give another file, or move this one away to start "
                "anew"
            )
