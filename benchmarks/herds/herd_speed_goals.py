"""Goals for the speed of herds: CPU time of an update, beside what an expert would write."""

import os
from collections.abc import Iterator, Mapping
from textwrap import wrap

from llvmlite.binding import get_host_cpu_name

import herded as hd
from benchmarks.peers.handwritten import grid, numpy_rbm, potts, spin_graph
from benchmarks.peers.herded_contender import Ours
from benchmarks.peers.protocol import VISITS, Peer, Run, missing
from benchmarks.support import goal_rows, machine
from benchmarks.support.goal_rows import GoalRow
from benchmarks.support.timing import best_sweeps
from benchmarks.support.workloads import Work, ising_grid, potts_grid, random_graph

MEMBERS = 64
HERD = Ours(f"Gibbs(herd={MEMBERS})", hd.Gibbs(herd=MEMBERS))
LARGE = 4096  # side of the grid that no cache holds
SECONDS, QUICK_SECONDS = 0.2, 0.002
REPEATS = 9
FEW_REPEATS, FEW_SWEEPS = 4, 24  # on the large grid
INSTRUCTIONS = (  # read by Numba, OpenBLAS and NumPy
    "NUMBA_CPU_NAME",
    "NUMBA_CPU_FEATURES",
    "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES",
)
WORDS = (
    f"Speed: one thread, {MEMBERS} members, through `hd.infer` with marginals; CPU time of an "
    "update of one variable in one chain, without the system's part. What a call costs cancels: "
    "the best long run minus the best short one. All of a row take turns."
)


def target() -> str:
    """Which instructions are used: the CPU's, or those that the environment leaves."""
    told = [f'{name}="{os.environ[name]}"' for name in INSTRUCTIONS if name in os.environ]
    if told:
        return f"Instructions are limited by `{' '.join(told)}`."
    return f"Kernels are compiled for this CPU ({get_host_cpu_name()})."


def lines(quick: bool) -> Iterator[str]:
    yield "## Herds: goals of speed"
    yield ""
    yield machine.sentence("python -m benchmarks --only herd-speed" + " --quick" * quick)
    yield target()
    yield ""
    yield from wrap(WORDS, 100, break_on_hyphens=False)
    yield ""
    yield from goal_rows.table(rows(quick))


def rows(quick: bool) -> Iterator[GoalRow]:
    graph = random_graph(500 if quick else 10_000, 6)
    yield row(graph, (spin_graph.Sums(), spin_graph.Flips()), 12, quick)
    yield row(ising_grid(64 if quick else 512), (grid.Checkerboard(),), 6, quick)
    if not quick:
        yield row(ising_grid(LARGE), (grid.Checkerboard(),), 4, quick)
    yield row(potts_grid(16 if quick else 128, 8), (potts.Potts(),), 6, quick)
    yield from machine_rows(*((20, 8) if quick else (784, 128)), quick)


def row(work: Work, peers: tuple[Peer, ...], parts: int, quick: bool) -> GoalRow:
    """At most one of so many parts of the fastest peer's time."""
    runs = {peer.name: peer.prepare(work, VISITS) for peer in (HERD, *peers)}
    took = {name: cost / work.n_variables * 1e9 for name, cost in timed(runs, work, quick).items()}
    mine = took.pop(HERD.name) / MEMBERS
    best = min(took, key=lambda name: took[name])
    goal = f"1/{parts} of the time"
    return GoalRow(work.name, goal, 1 / parts, mine, took[best], "ns", best)


def timed(runs: Mapping[str, Run], work: Work, quick: bool) -> dict[str, float]:
    """CPU seconds of a sweep; the first of the few runs of a large model also compiles."""
    if work.n_variables >= LARGE**2:
        return best_sweeps(runs, repeats=FEW_REPEATS, sweeps=FEW_SWEEPS)
    seconds, repeats = (QUICK_SECONDS, 1) if quick else (SECONDS, REPEATS)
    return best_sweeps(runs, repeats=repeats, seconds=seconds)


def machine_rows(visible: int, hidden: int, quick: bool) -> Iterator[GoalRow]:
    """A Boltzmann machine, for which NumPy has matrices: microseconds of a sweep of a chain."""
    if missing("threadpoolctl"):
        return
    from threadpoolctl import threadpool_limits

    work = numpy_rbm.machine(visible, hidden)
    chains = {"NumPy, one chain": 1, f"NumPy, {MEMBERS} chains in one product": MEMBERS}
    runs = {HERD.name: HERD.prepare(work, VISITS)}
    runs |= {name: numpy_rbm.prepare(work, visible, n) for name, n in chains.items()}
    with threadpool_limits(1):
        took = timed(runs, work, quick)
    for name, n in chains.items():
        mine, peer = took[HERD.name] / MEMBERS * 1e6, took[name] / n * 1e6
        yield GoalRow(f"{work.name}, a sweep", "no slower", 1.0, mine, peer, "us", name)
