"""CPU time of runs that take turns, so that a busy machine is busy for all of them alike.

What a run costs is a + b * sweeps. Only b, the cost of a sweep, says how fast a sampler is; a is
what a call costs before the first sweep, and is told apart by timing a short run beside each long
one. For this the time that the system spends on new memory is left out: on large models it is
seconds more or less from call to call, of which hardly any is a sweep's. The first runs, which
compile, are not timed.
"""

import contextlib
import gc
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

SHORT = 4  # a long run has as many times the sweeps of a short one
MOST_SWEEPS = 2**24
FEWEST_REPEATS, PATIENCE = 3, 5.0  # whoever has taken so many seconds is repeated no more


@dataclass(frozen=True)
class Cost:
    """Medians over the repeats, in CPU seconds."""

    sweep: float
    call: float
    sweeps: int  # of a long run


def cpu_seconds(function: Callable[[], object], clock: Callable[[], float] | None = None) -> float:
    """Of all threads of this process."""
    clock = clock or time.process_time
    gc.disable()
    try:
        began = clock()
        function()
        return clock() - began
    finally:
        gc.enable()


@contextlib.contextmanager
def by_cpu_clock() -> Iterator[None]:
    """Within it runs by the clock go by this process's CPU time: what else runs takes none of it.

    For runs on one thread: several would be charged for each other's time.
    """
    before, time.perf_counter = time.perf_counter, time.process_time
    try:
        yield
    finally:
        time.perf_counter = before


def user_clock() -> float:
    """CPU seconds that were not the system's."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def nanoseconds(
    works: Mapping[str, Callable[[], object]], *, updates: int, repeats: int
) -> dict[str, float]:
    """Medians of each work's CPU time per update; they take turns, and the first ones compile."""
    took: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            took[name].append(cpu_seconds(work) / updates * 1e9)
    return {name: float(np.median(times)) for name, times in took.items()}


def enough_sweeps(run: Callable[[int, int], object], seconds: float) -> int:
    """As many as take `seconds`, and as long as what a call costs by itself, beyond that cost."""
    run(SHORT, 0)
    call = cpu_seconds(lambda: run(SHORT, 0), user_clock)
    sweeps = SHORT
    while sweeps < MOST_SWEEPS:
        taken = cpu_seconds(lambda n=sweeps: run(n, 0), user_clock) - call
        if taken >= max(seconds, call) / 2:
            break
        sweeps *= int(np.clip(max(seconds, call) / max(taken, 1e-6), 2, 16))
    return sweeps


def costs(
    runs: Mapping[str, Callable[[int, int], object]], *, seconds: float, repeats: int
) -> dict[str, Cost]:
    """The cost of each run; they take turns."""
    sweeps = {name: enough_sweeps(run, seconds) for name, run in runs.items()}
    short: dict[str, list[float]] = {name: [] for name in runs}
    long: dict[str, list[float]] = {name: [] for name in runs}
    for seed in range(repeats):
        for name, run in runs.items():
            if seed >= FEWEST_REPEATS and sum(short[name]) + sum(long[name]) > PATIENCE:
                continue
            few, many = sweeps[name] // SHORT, sweeps[name]
            short[name].append(cpu_seconds(lambda r=run, n=few, s=seed: r(n, s), user_clock))
            long[name].append(cpu_seconds(lambda r=run, n=many, s=seed: r(n, s), user_clock))
    found = {}
    for name in runs:
        few, many = sweeps[name] // SHORT, sweeps[name]
        more = np.array(long[name]) - np.array(short[name])
        sweep = float(np.median(more)) / (many - few)
        call = max(0.0, float(np.median(short[name])) - few * sweep)
        found[name] = Cost(sweep, call, many)
    return found


def best_sweeps(
    runs: Mapping[str, Callable[[int, int], object]],
    *,
    repeats: int,
    seconds: float = 0.2,
    sweeps: int | None = None,
) -> dict[str, float]:
    """CPU seconds of a sweep of each run: its best long run minus its best short one.

    They take turns. On a machine that is never idle the best is nearer the truth than the median.
    Long runs have as many sweeps as take `seconds`, unless told.
    """
    longest = {name: sweeps or enough_sweeps(run, seconds) for name, run in runs.items()}
    best = {name: {many // SHORT: np.inf, many: np.inf} for name, many in longest.items()}
    for seed in range(repeats):
        for name, run in runs.items():
            for count, least in best[name].items():
                took = cpu_seconds(lambda r=run, n=count, s=seed: r(n, s), user_clock)
                best[name][count] = min(least, took)
    return {
        name: (best[name][many] - best[name][many // SHORT]) / (many - many // SHORT)
        for name, many in longest.items()
    }
