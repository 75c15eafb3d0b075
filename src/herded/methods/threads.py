"""Work on parts that do not touch each other, such as components: in ranges, one per thread."""

import itertools
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np

WORTH_A_THREAD = 2**16  # updates


def run_parts(
    function: Callable[[int, int], Any], updates: np.ndarray, pool: Executor | None
) -> None:
    """Call `function(first, last)` over ranges of parts, all together; `updates` is their work."""
    ranges = [(0, len(updates))] if pool is None else _split(updates, pool)
    if pool is None or len(ranges) == 1:
        function(0, len(updates))
    else:
        jobs = [pool.submit(function, first, last) for first, last in ranges]
        for job in jobs:
            job.result()


def _split(updates: np.ndarray, pool: Executor) -> list[tuple[int, int]]:
    """Ranges of parts with about equal numbers of updates, one for each thread worth it."""
    total = np.concatenate([[0], np.cumsum(updates)])
    threads = getattr(pool, "_max_workers", 2)
    threads = max(1, min(threads, int(total[-1]) // WORTH_A_THREAD, len(updates)))
    cuts = np.searchsorted(total, np.linspace(0, total[-1], threads + 1))
    cuts[0], cuts[-1] = 0, len(updates)
    return list(itertools.pairwise(np.unique(cuts).tolist()))
