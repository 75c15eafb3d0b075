"""Memory is estimated before it is taken, and refused above a cap."""

import os
from numbers import Real
from pathlib import Path

import numpy as np

from herded.errors import CapError, MethodError

LITTLE = 2**20  # bytes


def available() -> int:
    """Free memory in bytes, as the system and the container's limit tell it."""
    free = 4 * 2**30  # where nothing tells
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    except OSError:
        if hasattr(os, "sysconf"):
            free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    try:
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text())  # "max" where there is no limit
        return min(free, most - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        return free


def default_cap() -> int:
    """Half of the free memory."""
    return available() // 2


def limit(cap: float | None) -> float:
    """The cap in bytes, by default half of the free memory."""
    if cap is None:
        return float(default_cap())
    if isinstance(cap, (bool, str)) or not isinstance(cap, Real) or not cap > 0:
        raise MethodError(f"expected cap= as a number of bytes above 0, got {cap!r}")
    return float(cap)


def readable(n_bytes: float) -> str:
    """A size for people: 1.5 MiB, 3e+60 bytes."""
    if n_bytes > 1e18:
        return f"{n_bytes:.0e} bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":
            return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    raise AssertionError


def fits(need: float, cap: float | None) -> bool:
    """Whether that is within the cap; for a little nobody looks how much is free."""
    return (cap is None and need <= LITTLE) or need <= limit(cap)


def check_tables(
    need: float, cap: float | None, rows: np.ndarray, name_of, start: np.ndarray, herded: bool
) -> None:
    """Refuse tables above the cap, naming the variable to blame and the way out.

    `rows` are those of each variable's table, `start` where its neighbours are.
    """
    if fits(need, cap):
        return
    i = int(np.argmax(rows))
    way_out = 'Drop plan="table"'
    if herded:
        way_out = (
            'Use weights="pooled" or "lazy" (HerdedGibbs(weights="pooled", slack=1.5) is a good '
            "choice)"
        )
    raise CapError(
        f"expected tables of at most {readable(limit(cap))}, but they need {readable(need)}: "
        f"variable {name_of(i)} has {start[i + 1] - start[i]} neighbours in {rows[i]:.3g} states. "
        f"{way_out}, or raise cap="
    )


def check(need: float, cap: float | None, what: str, way_out: str = "use a smaller model") -> None:
    """Refuse anything else above the cap."""
    if not fits(need, cap):
        raise CapError(
            f"expected {what} of at most {readable(limit(cap))}, but it needs {readable(need)}: "
            f"{way_out}, or raise cap="
        )
