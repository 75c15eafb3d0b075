"""Minima of quadratic models: HerdedSampler beside simulated annealing of dwave-samplers.

Equal sweeps and equal reads; dwave-samplers also with the temperatures of HerdedSampler, for their
choice matters as much as the method. Seconds are CPU seconds of everything that `sample` does.
"""

import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.hard_models.qubo_problems import (
    Problem,
    colouring,
    normal,
    random_qubo,
    signs,
    spin_glass,
    uniform,
)
from herded.qubo.beta_schedule import BetaSchedule

NODES, REPEATS, SWEEPS = 800, 3, (100, 1_000)
OURS, THEIRS, MIXED = (
    "HerdedSampler",
    "dwave-samplers",
    "dwave-samplers, temperatures of HerdedSampler",
)
GRAPHS: dict[str, Problem] = {
    "degree 6, ±1": spin_glass(NODES, 3 * NODES, signs),
    "degree 6, uniform": spin_glass(NODES, 3 * NODES, uniform),
    "degree 48, ±1": spin_glass(NODES, 24 * NODES, signs),
    "degree 48, uniform": spin_glass(NODES, 24 * NODES, uniform),
}
READS, LONG = 20, 3_000
PROBLEMS: dict[str, Problem] = {
    "normal glass, 500 spins, degree 6": spin_glass(500, 1500, normal),
    "±1 glass, 150 spins, all pairs": spin_glass(150, 11175, signs),
    "QUBO, 250 variables, density 0.1": random_qubo,
    "colouring, 160 variables, penalties": colouring,
}


class Found(NamedTuple):
    """The energies of the reads of one sampler, and the CPU seconds they took."""

    energies: np.ndarray
    seconds: float


def lines(quick: bool) -> Iterator[str]:
    yield "## Minima of quadratic models"
    yield ""
    try:
        from dwave.samplers import SimulatedAnnealingSampler
    except ImportError:
        yield "(skipped: no peer to compare with; pip install dwave-samplers)"
        return
    peer = SimulatedAnnealingSampler()
    yield from cuts(peer, quick)
    yield ""
    yield from gaps(peer, quick)


def cuts(peer: Any, quick: bool) -> Iterator[str]:
    """The largest cuts of graphs."""
    graphs, sweeps = (1, SWEEPS[:1]) if quick else (3, SWEEPS)
    yield f"Max-cut of {NODES} nodes, {graphs} graphs each: CPU seconds for one graph, the cut of a"
    yield "read on average, and that of the best; last, dwave-samplers with the temperatures of"
    yield "HerdedSampler"
    yield ""
    names = OURS, THEIRS, "our temperatures"
    heads = " | ".join(f"{name}: CPU s | mean | best" for name in names)
    yield f"| graph | reads | sweeps | {heads} |"
    yield "|---|---|---|" + "---|" * 9
    for name, problem in GRAPHS.items():
        drawn = [problem(np.random.default_rng(seed)) for seed in range(graphs)]
        for reads in (10, 64):
            for count in sweeps:
                found = [compare(bqm, peer, reads, count) for bqm in drawn]
                yield f"| {name} | {reads} | {count:,} | {cut_row(drawn, found)} |"


def cut_row(drawn: list[Any], found: list[dict[str, Found]]) -> str:
    """Cells of one line, averaged over graphs."""
    cells = []
    for name in (OURS, THEIRS, MIXED):
        here = [one[name] for one in found]
        sizes = [cut(bqm, one.energies) for bqm, one in zip(drawn, here, strict=True)]
        seconds = np.mean([one.seconds for one in here])
        mean, best = np.mean([size.mean() for size in sizes]), np.mean([s.max() for s in sizes])
        cells += [f"{seconds:.3f}", f"{mean:.1f}", f"{best:.1f}"]
    return " | ".join(cells)


def cut(bqm: Any, energies: np.ndarray) -> np.ndarray:
    """The weight of edges between spins that differ."""
    return (sum(bqm.quadratic.values()) - energies) / 2


def gaps(peer: Any, quick: bool) -> Iterator[str]:
    """How far above the lowest energy known other problems end."""
    models, sweeps = (2, SWEEPS[:1]) if quick else (5, SWEEPS)
    yield f"How far above the lowest energy known, in %, {models} models each, {READS} reads: the"
    yield "best read (mean over models), all reads (mean), and CPU seconds for one model"
    yield ""
    head = " | ".join(f"best, {s:,} sweeps | all | CPU s" for s in sweeps)
    yield f"| problem | sampler | {head} |"
    yield "|---|---|" + "---|---|---|" * len(sweeps)
    for name, problem in PROBLEMS.items():
        drawn = [problem(np.random.default_rng(seed)) for seed in range(models)]
        found = [gaps_of(bqm, peer, sweeps, 1_000 if quick else LONG) for bqm in drawn]
        for label in (OURS, THEIRS, MIXED):
            cells = [np.mean([one[label, s] for one in found], axis=0) for s in sweeps]
            row = " | ".join(f"{best:.2f} | {all_:.2f} | {sec:.3f}" for best, all_, sec in cells)
            yield f"| {name} | {label} | {row} |"


def gaps_of(
    bqm: Any, peer: Any, sweeps: tuple[int, ...], long: int
) -> dict[tuple[str, int], tuple[float, float, float]]:
    """By sampler and sweeps: the best gap in %, the mean gap, and seconds."""
    runs = {s: compare(bqm, peer, READS, s) for s in sweeps}
    everything = [*runs.values(), compare(bqm, peer, READS, long, repeats=1)]
    lowest = min(one.energies.min() for found in everything for one in found.values())
    gap = {
        (label, s): (100 * (one.energies - lowest) / abs(lowest), one.seconds)
        for s, found in runs.items()
        for label, one in found.items()
    }
    return {key: (above.min(), above.mean(), seconds) for key, (above, seconds) in gap.items()}


def compare(
    bqm: Any, peer: Any, reads: int, sweeps: int, repeats: int = REPEATS
) -> dict[str, Found]:
    """All samplers in turn, several times: the same reads each time, and the median seconds."""
    ours = hd.qubo.HerdedSampler()
    options: dict[str, Any] = {"num_reads": reads, "seed": 1}
    warm = ours.sample(bqm, num_sweeps=2, **options).info  # compiles what is timed below
    schedule = BetaSchedule(*warm["beta_range"], warm["beta_schedule_type"])
    betas = schedule.betas(np.arange(sweeps - 1), sweeps)
    custom = {"beta_schedule_type": "custom", "beta_schedule": np.append(betas, 1e3 * betas[-1])}
    runs: dict[str, tuple[Any, dict[str, Any]]] = {
        OURS: (ours, {"num_sweeps": sweeps}),
        THEIRS: (peer, {"num_sweeps": sweeps}),
        MIXED: (peer, custom),
    }
    energies: dict[str, np.ndarray] = {}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, (sampler, chosen) in runs.items():
            began = time.process_time()
            found = sampler.sample(bqm, **options, **chosen)
            seconds[name].append(time.process_time() - began)
            energies[name] = found.record.energy
    return {name: Found(energies[name], statistics.median(seconds[name])) for name in runs}
