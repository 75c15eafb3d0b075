"""The one place that imports Numba.

No `fastmath`: the same bits everywhere matter more than the last per cent of speed. `nogil` lets
threads run chains and components side by side. The disk cache makes a second process start quickly.
Numba checks only the file that a function is in, and would use kernels whose imported parts have
changed. So the cache is a folder named by a hash of all sources of the package: an edit anywhere
starts an empty one. HERDED_CACHE=0 turns it off.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event

CACHE = os.environ.get("HERDED_CACHE", "1") != "0"
PREFIX = "herded-kernels-"


def sources_hash(package: Path) -> str:
    """A hash of all source files of the package."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def cache_folder(package: Path, chosen: str) -> Path:
    """Where the kernels of these sources are kept: in the `chosen` folder, beside the sources, or
    among the user's caches where that cannot be written."""
    name = PREFIX + sources_hash(package)
    if chosen:
        return Path(chosen) / name
    try:
        beside = package / "__pycache__"
        beside.mkdir(exist_ok=True)
        if not (beside / name).exists():
            for old in beside.glob(f"{PREFIX}*"):  # of sources that no longer exist
                shutil.rmtree(old, ignore_errors=True)
            (beside / name).mkdir()
        return beside / name
    except OSError:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / name


SETTINGS: Any = numba.config
FOLDER = str(cache_folder(Path(__file__).parent.parent, SETTINGS.CACHE_DIR)) if CACHE else ""


class _Compilers(event.Listener):
    """Counts the compilations that are running; kernels from the disk cache do not count."""

    def __init__(self) -> None:
        self.working = 0

    def on_start(self, event: Any) -> None:
        self.working += 1

    def on_end(self, event: Any) -> None:
        self.working -= 1


_COMPILERS = _Compilers()
event.register("numba:compile", _COMPILERS)


def is_compiling() -> bool:
    """Whether some kernel is being compiled now."""
    return _COMPILERS.working > 0


def jit(function: Callable[..., Any]) -> Any:
    """Compile `function` when it is first called.

    With NUMBA_DISABLE_JIT=1 it stays plain Python, with integers that overflow as silently.
    """
    if SETTINGS.DISABLE_JIT:
        return np.errstate(over="ignore")(function)
    before, SETTINGS.CACHE_DIR = SETTINGS.CACHE_DIR, FOLDER
    try:  # Numba reads the setting here and only here
        return numba.njit(nogil=True, cache=CACHE, error_model="numpy")(function)
    finally:
        SETTINGS.CACHE_DIR = before
