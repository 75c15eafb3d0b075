"""The cores of the machine that threads of a run may have."""

import os


def count_usable_cpus() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
