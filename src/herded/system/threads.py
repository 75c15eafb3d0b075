"""Running work on independent parts, such as components, in ranges: one for each thread."""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

MIN_UPDATES_PER_THREAD = 2**16


def run_ranges(
    function: Callable[[int, int], Any],
    parts: int,
    updates: Callable[[], np.ndarray],
    pool: Executor | None,
) -> None:
    """Call `function(first, last)` for ranges that together cover all parts.

    `updates` returns the work of each part; it is called only if there are several threads.
    """
    if pool is None:
        function(0, parts)
    else:
        run_jobs(lambda part: function(*part), split_work(updates(), pool), pool)


def run_jobs(function: Callable[[Any], Any], jobs: Sequence[Any], pool: Executor | None) -> None:
    """Call `function(job)` for all jobs, in parallel."""
    if pool is None or len(jobs) == 1:
        for job in jobs:
            function(job)
    else:
        for running in [pool.submit(function, job) for job in jobs]:
            running.result()


def count_threads(pool: Executor | None, updates: int) -> int:
    """Return how many threads to use for a number of updates."""
    threads = 1 if pool is None else getattr(pool, "_max_workers", 2)
    return max(1, min(threads, updates // MIN_UPDATES_PER_THREAD))


def split_work(updates: np.ndarray, pool: Executor) -> list[tuple[int, int]]:
    """Split parts into ranges of about equal work, one for each worthwhile thread."""
    total = np.concatenate([[0], np.cumsum(updates)])
    threads = min(count_threads(pool, int(total[-1])), len(updates)) or 1
    cuts = np.searchsorted(total, np.linspace(0, total[-1], threads + 1))
    cuts[0], cuts[-1] = 0, len(updates)
    return list(itertools.pairwise(np.unique(cuts).tolist()))
