"""The figures that the README quotes: time to an accurate answer on three Ising grids.

Every way to an answer runs on the same models, in one process and in turns, exact inference
included. A sampler has reached the goal with the fewest sweeps from which on no longer run is above
it (`benchmarks.accuracy.time_to_accuracy`).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import herded as hd
from benchmarks.accuracy.time_to_accuracy import reference, sweeps_to_reach, works
from benchmarks.peers.handwritten.spin_graph import Sums
from benchmarks.peers.herded_contender import Ours
from benchmarks.peers.protocol import AVERAGES, Peer
from benchmarks.support.timing import cpu_seconds
from benchmarks.support.workloads import Work

TITLE = "# Figures of the README"
GOAL = 1e-3
MAX_SECONDS, MAX_SECONDS_QUICK = 4.0, 0.2  # of one run
SEEDS, REPEATS = 5, 3
MAX_EXACT_VARIABLES = 100
SAMPLERS: tuple[tuple[str, Peer], ...] = (
    ("Gibbs sampling by hand, Numba", Sums()),
    ("`hd.Gibbs()`", Ours("Gibbs", hd.Gibbs())),
    ("`hd.Gibbs(herd=64)`", Ours("herd", hd.Gibbs(herd=64))),
    ("`hd.HerdedGibbs()`", Ours("blanket", hd.HerdedGibbs())),
)


def lines(quick: bool) -> Iterator[str]:
    """Yield the page: a row for each way, a column for each model."""
    models = works(quick)
    seeds = 1 if quick else SEEDS
    yield f"CPU milliseconds until the mean error of the marginals stays below {GOAL:g}: medians"
    yield f"over {seeds} seeds, of whole calls with compiled kernels, on one thread."
    yield "Averages are Rao-Blackwellised, and samplers start at random states without burn-in."
    yield f"Samplers are given up after {_max_seconds(quick):g} s. The marginals of the 30x30 grid"
    yield "are those of a million sweeps of Gibbs sampling; exact inference does not fit there."
    yield ""
    yield "| | " + " | ".join(work.name for work in models) + " |"
    yield "|---|" + "---|" * len(models)
    columns = [_times(work, quick) for work in models]
    for name in columns[0]:
        yield f"| {name} | " + " | ".join(_cell(column[name], quick) for column in columns) + " |"


def _max_seconds(quick: bool) -> float:
    return MAX_SECONDS_QUICK if quick else MAX_SECONDS


def _cell(seconds: float, quick: bool) -> str:
    """Milliseconds; nan is a method that does not fit, infinity one that was given up."""
    if np.isnan(seconds):
        return "-"
    if np.isinf(seconds):
        return f"over {1e3 * _max_seconds(quick):,.0f}"
    return f"{1e3 * seconds:.2g}" if seconds < 0.01 else f"{1e3 * seconds:.0f}"


def _times(work: Work, quick: bool) -> dict[str, float]:
    """Return the median CPU seconds of every way to an answer."""
    truth, seeds = reference(work), range(1 if quick else SEEDS)
    runs = {name: peer.prepare(work, AVERAGES) for name, peer in SAMPLERS}
    sweeps = {}
    for name, run in runs.items():
        run(2, 0)  # compiles
        found = [sweeps_to_reach(run, truth, seed, _max_seconds(quick)) for seed in seeds]
        sweeps[name] = [one.get(GOAL) for one in found]
    taken: dict[str, list[float]] = {name: [] for name in (*runs, "`hd.Exact()`")}
    for _ in range(REPEATS):
        for name, run in runs.items():
            for seed, count in zip(seeds, sweeps[name], strict=True):
                if count is None:
                    taken[name].append(np.inf)
                else:
                    taken[name].append(cpu_seconds(lambda r=run, n=count, s=seed: r(n, s)))
        taken["`hd.Exact()`"].append(_exact_seconds(work))
    return {name: float(np.median(times)) for name, times in taken.items()}


def _exact_seconds(work: Work) -> float:
    """CPU seconds of exact inference, the search for an order of elimination included."""
    if work.n_variables > MAX_EXACT_VARIABLES:
        return float("nan")
    model = replace(work).model  # a copy without caches
    return cpu_seconds(lambda: hd.infer(model, hd.Exact(), progress=False))
