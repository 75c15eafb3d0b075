"""Time to accuracy: CPU seconds until the mean marginal error stays below a goal.

A sampler is run afresh with 2, 3, 4, 6, 8, 12, ... sweeps; it has reached a goal with the fewest
sweeps from which on no longer run is above it, and what that run takes is then timed. Small grids
have exact references. A 30 x 30 grid is too wide for exact elimination (2^30 states of a row): its
reference is a long run of Gibbs sampling, averaging conditionals, with a standard error of about
10^-4 of each marginal.
"""

from collections.abc import Iterator

import numpy as np

import herded as hd
from benchmarks.peers.distribution_check import obstacle
from benchmarks.peers.handwritten.spin_graph import Sums
from benchmarks.peers.protocol import AVERAGES, VISITS, Peer, Run
from benchmarks.support.results_store import Book
from benchmarks.support.timing import cpu_seconds
from benchmarks.support.workloads import Work, uneven_grid

GOALS = (1e-2, 3e-3, 1e-3)
REPEATS = 3
BEYOND = 8  # how many times the sweeps of the last miss are run without another
MOST_SECONDS, MOST_SECONDS_QUICK = 2.0, 0.2  # of one run
GIVEN = "ms until it was given up"


def works(quick: bool) -> list[Work]:
    if quick:
        return [uneven_grid(10, 0.3)]
    return [uneven_grid(10, 0.3), uneven_grid(10, 1.0), uneven_grid(30, 0.3)]


def reference(work: Work) -> np.ndarray:
    if work.n_variables <= 100:
        return hd.infer(work.model, hd.Exact()).marginals.reshape(-1, 2)
    return Sums().prepare(work, AVERAGES)(1_000_000, 99)


def sweep_counts() -> Iterator[int]:
    for power in range(1, 30):
        yield 2**power
        yield 3 * 2 ** (power - 1)


def sweeps_to_reach(run: Run, truth: np.ndarray, seed: int, most: float) -> dict[float, int]:
    """Goal -> sweeps; goals that were not reached in time are left out."""
    last_miss = dict.fromkeys(GOALS, 0)
    tried = []
    for sweeps in sweep_counts():
        found: list[np.ndarray] = []
        seconds = cpu_seconds(lambda n=sweeps, f=found: f.append(run(n, seed)))
        error = np.abs(found[0] - truth).mean()
        tried.append(sweeps)
        for goal in GOALS:
            if error > goal:
                last_miss[goal] = sweeps
        if sweeps >= BEYOND * last_miss[GOALS[-1]] or seconds > most:
            break
    return {
        goal: next(n for n in tried if n > miss)
        for goal, miss in last_miss.items()
        if tried[-1] >= BEYOND * miss
    }


def lines(quick: bool, peers: tuple[Peer, ...], book: Book) -> Iterator[str]:
    yield "## Time to accuracy"
    yield ""
    yield "CPU milliseconds (and sweeps) until the mean marginal error stays below a goal, medians"
    most = MOST_SECONDS_QUICK if quick else MOST_SECONDS
    yield f"over seeds, calls included; a dash where it was not reached in {most:g} s."
    yield "Averages are Rao-Blackwellised. Ratios are to the best herded Gibbs."
    if not quick:
        yield "The 30x30 reference is a run of a million Gibbs sweeps, the others are exact."
    for work in works(quick):
        yield ""
        yield f"### {work.name}, to accuracy"
        yield ""
        yield from table(work, peers, 1 if quick else 3, most, book)


def table(
    work: Work, peers: tuple[Peer, ...], seeds: int, most: float, book: Book
) -> Iterator[str]:
    truth = reference(work)
    runs: dict[str, Run] = {}
    for peer in peers:
        for keep in (VISITS, AVERAGES):
            if obstacle(peer, work, keep) is None:
                runs[f"{peer.name}, {keep}"] = peer.prepare(work, keep)
    measure(work, runs, truth, seeds, most, book)
    if any(not is_ours(name) for name in runs):
        book.note("time-to-accuracy", work.name, "a run", GIVEN, 1e3 * most)
    times = {goal: book.find(work.name, f"ms to {goal:g}") for goal in GOALS}
    counts = {goal: book.find(work.name, f"sweeps to {goal:g}") for goal in GOALS}
    yield "| sampler | " + " | ".join(f"{goal:g} | ratio" for goal in GOALS) + " |"
    yield "|---|" + "---|---|" * len(GOALS)
    hardest = times[GOALS[-1]]
    for name in sorted(runs, key=lambda name: hardest.get(name, np.inf)):
        cells = (_cells(times[goal], counts[goal], name) for goal in GOALS)
        yield f"| {name} | " + " | ".join(cells) + " |"


def measure(
    work: Work, runs: dict[str, Run], truth: np.ndarray, seeds: int, most: float, book: Book
) -> None:
    """Note the sweeps that each goal takes, and the time of runs of so many, which take turns."""
    needed = {}
    for name, run in runs.items():
        run(2, 0)  # compiles
        needed[name] = [sweeps_to_reach(run, truth, seed, most) for seed in range(seeds)]
    seconds: dict[tuple[str, float], list[float]] = {
        (name, goal): [] for name in runs for goal in GOALS if all(goal in n for n in needed[name])
    }
    for _ in range(REPEATS):
        for (name, goal), taken in seconds.items():
            for seed, one in enumerate(needed[name]):
                taken.append(cpu_seconds(lambda r=runs[name], n=one[goal], s=seed: r(n, s)))
    for (name, goal), taken in seconds.items():
        sweeps = np.median([one[goal] for one in needed[name]])
        book.note("time-to-accuracy", work.name, name, f"ms to {goal:g}", np.median(taken) * 1e3)
        book.note("time-to-accuracy", work.name, name, f"sweeps to {goal:g}", sweeps)


def _cells(times: dict[str, float], counts: dict[str, float], name: str) -> str:
    if name not in times:
        return "- | -"
    ours = [ms for other, ms in times.items() if is_ours(other)]
    ratio = f"{times[name] / min(ours):.1f}" if ours else "-"
    return f"{times[name]:.2f} ({counts[name]:,.0f}) | {ratio}"


def is_ours(name: str) -> bool:
    """Herded Gibbs, and not our plain Gibbs."""
    return name.startswith("herded") and "Gibbs" not in name
