"""What ran, on what."""

import contextlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

from herded.version import __version__


def sentence(command: str) -> str:
    """The command, the machine and the versions."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return (
        f"Output of `{command}` on {os.cpu_count()} cores of {processor}, Python "
        f"{platform.python_version()}, herded {__version__}, {versions}."
    )
