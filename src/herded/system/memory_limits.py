"""Memory limits: free memory, sizes as text, and errors for needs above a limit."""

import math
import os
import re
from numbers import Real
from pathlib import Path

from herded.errors import MemoryLimitError, MethodError
from herded.system.diagnostics.phrases import MAX_MEMORY, RAISE_MAX_MEMORY, Phrase, Remedy

Size = float | str  # bytes, or a text such as "2G"

ALWAYS_ALLOWED_BYTES = 2**20
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def free_memory_bytes() -> int:
    """Return the free memory in bytes, by the system and by the limit of a container."""
    free = 4 * 2**30  # if the system does not say
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    except OSError:
        if hasattr(os, "sysconf"):
            free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    try:
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text())  # "max" if there is no limit
        return min(free, most - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        return free


def default_limit() -> int:
    """Return half of the free memory."""
    return free_memory_bytes() // 2


def memory_limit(max_memory: Size | None) -> float:
    """Return the limit in bytes, by default half of the free memory."""
    if max_memory is None:
        return float(default_limit())
    found = bytes_of(max_memory) if isinstance(max_memory, str) else max_memory
    if isinstance(found, bool) or not isinstance(found, Real) or not found > 0:
        expected = " as a number of bytes above 0, or a size such as "
        raise MethodError(
            Phrase("expected ", MAX_MEMORY, expected, f'"500M" or "2G", got {max_memory!r}')
        )
    return float(found)


def bytes_of(text: str) -> float | None:
    """Return the bytes of a size such as 1000000, 1e6, 500M or 2 GiB, or None if it is not one."""
    found = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?) ?([kmgt]?)(?:i?b)?", text.strip().lower())
    try:
        value = float(found[1]) * UNITS[found[2]] if found else 0.0
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def size_text(n_bytes: float) -> str:
    """Write a size as text: 1.5 MiB, 3e+60 bytes."""
    if n_bytes > 1e18:
        return f"{n_bytes:.0e} bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":
            return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    raise AssertionError


def fits_in_memory(need: float, max_memory: Size | None) -> bool:
    """Return whether the need is within the limit; small needs pass without asking the system."""
    return (max_memory is None and need <= ALWAYS_ALLOWED_BYTES) or need <= memory_limit(max_memory)


def check_memory(
    need: float, max_memory: Size | None, what: str, way_out: str = "use a smaller model"
) -> None:
    """Raise a `MemoryLimitError` if the need is above the limit."""
    if not fits_in_memory(need, max_memory):
        expected = (
            f"expected {what} of at most {size_text(memory_limit(max_memory))}, but it needs "
            f"{size_text(need)}: "
        )
        raise MemoryLimitError(Phrase(expected, Remedy(way_out, RAISE_MAX_MEMORY)))
