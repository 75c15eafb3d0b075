"""What it costs to record a herd: the time that is added to a sweep, in sweeps.

A sweep is one that nothing is recorded of. Observables keep their series, a number for each member
and sweep, as they do unless told otherwise. Runs are timed block by block: what a run does once, at
its start and at its end, takes longer than many sweeps, and no two times alike.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd
from benchmarks.support.workloads import potts_grid, random_graph

MEMBERS = 64
ROWS = 16  # sweeps of a block that nothing is recorded of
FEWEST = 4 * ROWS  # sweeps of a run
SECONDS, QUICK_SECONDS = 0.2, 0.002
REPEATS = 3

Run = Callable[[int, int, Callable[[int], None]], None]  # of sweeps, a seed, and a clock's ticks


def corner(states: np.ndarray) -> Any:
    """Somebody's own function, which takes no time: what is left is to hand it the states."""
    return states.reshape(len(states), -1)[:, 0]


KEPT: dict[str, list[Any]] = {
    "Marginals()": [hd.Marginals()],
    "Rao-Blackwell": [hd.Marginals(rao_blackwell=True)],
    "energy": [hd.Observable(hd.energy)],
    "magnetisation": [hd.Observable(hd.magnetisation)],
    "Correlations": [hd.Observable(hd.Correlations())],
    "a function": [hd.Observable(corner)],
    "Samples()": [hd.Samples()],
}


def models(quick: bool) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    side, large, volume, spins = (32, 48, 8, 500) if quick else (128, 512, 32, 10_000)
    return {
        f"Ising {side}x{side}": hd.ising_grid(np.zeros((side, side)), 0.4, periodic=True),
        f"Ising {large}x{large}": hd.ising_grid(np.zeros((large, large)), 0.4, periodic=True),
        f"{side}x{side}, random fields": hd.ising_grid(rng.normal(size=(side, side)), 0.3),
        f"Ising {volume}^3": hd.ising_grid(np.zeros((volume,) * 3), 0.2, periodic=True),
        f"{spins:,} spins, degree 6": random_graph(spins, 6).model,
        f"Potts {side}x{side}, K = 8": potts_grid(side, 8).model,
    }


def kept(what: str, model: Any) -> list[Any]:
    """Correlations are at distance 1 of a lattice, and of a hundred pairs of a graph."""
    if what != "Correlations" or len(model.shape) > 1:
        return KEPT[what]
    pairs = np.stack([np.arange(100), np.arange(100) + 1], axis=1)
    return [hd.Observable(hd.Correlations(pairs))]


def bare(model: Any, layout: Any) -> Run:
    """Sweeps of which nothing is recorded."""

    def run(sweeps: int, seed: int, tick: Callable[[int], None]) -> None:
        method = hd.Gibbs(herd=MEMBERS, seed=seed)
        state = method.init(layout, np.zeros((MEMBERS, model.n_variables), np.uint8))
        for done in range(ROWS, sweeps + 1, ROWS):
            method.advance(layout, state, np.zeros((ROWS, 0), layout.sample_type))
            tick(done)

    return run


def recorded(model: Any, layout: Any, keep: list[Any]) -> Run:
    def run(sweeps: int, seed: int, tick: Callable[[int], None]) -> None:
        method = hd.Gibbs(herd=MEMBERS, seed=seed)
        options: dict[str, Any] = {"threads": 1, "progress": False, "max_memory": 2**33}
        options["callback"] = lambda snapshot: tick(snapshot.sweeps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hd.HerdedWarning)
            hd.infer(model, method, sweeps=sweeps, keep=keep, layout=layout, **options)

    return run


def of_a_sweep(run: Run, sweeps: int, seed: int) -> float:
    """CPU seconds, the median over all blocks but the first."""
    ticks: list[tuple[int, float]] = []
    run(sweeps, seed, lambda done: ticks.append((done, time.process_time())))
    done, clock = np.array(ticks).T
    return float(np.median(np.diff(clock) / np.diff(done)))


def costs(runs: dict[str, Run], seconds: float, repeats: int) -> dict[str, float]:
    """CPU seconds of a sweep of each run, at best; they take turns, and the first ones compile."""
    sweep, *_ = [of_a_sweep(run, FEWEST, 0) for run in runs.values()]
    sweeps = max(FEWEST, int(seconds / sweep))
    took = [[of_a_sweep(run, sweeps, seed) for run in runs.values()] for seed in range(repeats)]
    return dict(zip(runs, np.min(took, axis=0).tolist(), strict=True))


def lines(quick: bool) -> Iterator[str]:
    yield "## What recording costs"
    yield ""
    yield f"One herd of {MEMBERS}, one thread. What is added to the CPU time of a sweep, in sweeps;"
    yield "the first column is the sweep"
    yield ""
    yield f"| model | a sweep, ms | {' | '.join(KEPT)} |"
    yield "|---" * (2 + len(KEPT)) + "|"
    seconds, repeats = (QUICK_SECONDS, 1) if quick else (SECONDS, REPEATS)
    for name, model in models(quick).items():
        layout = hd.Gibbs(herd=MEMBERS).compile(model)
        runs = {"": bare(model, layout)}
        runs |= {what: recorded(model, layout, kept(what, model)) for what in KEPT}
        took = costs(runs, seconds, repeats)
        sweep = took.pop("")
        added = " | ".join(f"{cost / sweep - 1:.2f}" for cost in took.values())
        yield f"| {name} | {1e3 * sweep:.3f} | {added} |"
