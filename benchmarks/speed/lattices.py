"""CPU nanoseconds per update on lattices, beside Gibbs samplers as an expert would write them.

Sweeps alone are timed: layouts, states and the experts' tables are there before. `update_cost.py`
times whole runs.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import herded as hd
from benchmarks.peers.handwritten.grid import (
    Checkerboard,
    Raster,
    checkerboard,
    places,
    raster,
    thresholds,
)
from benchmarks.peers.handwritten.potts import Potts, sweep_potts
from benchmarks.support.timing import nanoseconds
from benchmarks.support.workloads import IsingGrid, ising_grid, potts_grid
from herded.layouts.grid.sweeps import grid_sweeps

Work = Callable[[], None]
SEED = np.uint64(88172645463325252)
HERD = 64  # members; a sweep of a herd is as many updates of each variable


def experts(work: IsingGrid, sweeps: int) -> dict[str, Work]:
    """The samplers written by hand, ready to run `sweeps` sweeps."""
    height, width = work.field.shape
    table = thresholds(work)
    packed = np.zeros((2, height, 5, width // 2), np.uint32)
    places(table, packed.swapaxes(2, 3), pack=True)
    x = np.zeros((height + 2, width + 2), np.uint8)
    halves = np.zeros((2, height + 2, width // 2 + 2), np.uint32)
    draws = np.random.default_rng(1).integers(1, 2**32, width // 2, np.uint32)
    return {
        Raster.name: lambda: raster(x, table, SEED, sweeps, None, False),
        Checkerboard.name: lambda: checkerboard(halves, packed, draws, sweeps, None),
    }


def potts_works(size: int, states: int, sweeps: int) -> dict[str, Work]:
    """Samplers of a Potts lattice, the peer first."""
    work = potts_grid(size, states)
    unary, gain = np.exp(work.log_unary).astype(np.float32), np.float32(np.exp(work.coupling))
    x = np.full((size + 2, size + 2), states, np.uint8)
    x[1:-1, 1:-1] = 0
    pooled = hd.HerdedGibbs("pooled")
    return {
        Potts.name: lambda: sweep_potts(x, unary, gain, SEED, sweeps, None),
        "Gibbs": herded_work(work.model, hd.Gibbs(), sweeps),
        "herded, pooled": herded_work(work.model, pooled, sweeps),
        "herded, pooled, from sweep 2,048": herded_work(work.model, pooled, sweeps, 2048),
    }


def herded_work(
    model: Any, method: Any, sweeps: int, sweep: int = 0, *, counted: bool = False
) -> Work:
    """Sweeps of a method of ours, numbered from `sweep`: pooled weights have more bins later.

    As in `infer` for marginals where they are `counted`; else the last state is all there is, as
    with the experts. Lattices of more states write samples down.
    """
    layout = method.compile(model, kind="grid", max_memory=8 * 2**30)
    members = (HERD,) if layout.is_herd else ()
    state = method.init(layout, np.zeros((*members, model.n_variables), np.uint8))
    state.sweep = sweep
    if counted:
        state.state_counts = layout.new_counts()
    block = np.zeros((sweeps, 0 if layout.counts_states else layout.n_stored), layout.sample_type)
    return lambda: method.advance(layout, state, block)


def ising_works(size: int, sweeps: int) -> dict[str, Work]:
    """Samplers of an Ising lattice with fields, the peer first."""
    work = ising_grid(size)
    shared = hd.HerdedGibbs(weights="shared")
    methods = {"Gibbs": hd.Gibbs(), "herded, shared": shared}
    if size <= 1024:
        methods["herded, blanket"] = hd.HerdedGibbs()
    works = experts(work, sweeps)
    works |= {name: herded_work(work.model, method, sweeps) for name, method in methods.items()}
    works["herded, shared, visits counted"] = herded_work(work.model, shared, sweeps, counted=True)
    for method in (hd.Gibbs(herd=HERD), hd.HerdedGibbs(herd=HERD)):
        works[f"{type(method).__name__}(herd={HERD})"] = herded_work(work.model, method, sweeps)
    return works


def packed_adds() -> str:
    """Which packed additions the kernel has, and in which registers.

    In a process of its own that compiles it: what comes from the cache cannot be inspected.
    """
    command = [
        sys.executable,
        "-c",
        "from benchmarks.speed.lattices import compiled; print(compiled())",
    ]
    environment = {**os.environ, "HERDED_CACHE": "0"}
    text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = sorted(set(re.findall(r"\bv?(paddd)\b.*%([xyz]mm)\d", text.stdout)))
    return ", ".join(f"`{add}` on `{register}`" for add, register in found) or "none"


def compiled() -> str:
    """The assembly of the lattice kernel."""
    herded_work(hd.ising_grid(np.zeros((2, 600))), hd.HerdedGibbs("shared"), 1)()
    return "".join(grid_sweeps.dispatcher.inspect_asm().values())


def lines(quick: bool) -> Iterator[str]:
    yield "## Lattices"
    yield ""
    repeats = 3 if quick else 9
    yield f"CPU ns per update, one thread, medians of {repeats} alternating repeats"
    yield ""
    yield "| work | method | ns | over the fastest expert |"
    yield "|---|---|---|---|"
    works = {"Ising 512x512": (512 * 512 * 24, ising_works(512, 24))}
    works["Potts 128x128, K = 8"] = (128 * 128 * 24, potts_works(128, 8, 24))
    if not quick:
        works["Ising 4096x4096"] = (4096 * 4096 * 16, ising_works(4096, 16))
    for work, (updates, samplers) in works.items():
        found = nanoseconds(samplers, updates=updates, repeats=repeats)
        found = {name: cost / (HERD if "herd=" in name else 1) for name, cost in found.items()}
        base = min(cost for name, cost in found.items() if name.startswith("expert"))
        for name, cost in found.items():
            yield f"| {work} | {name} | {cost:.2f} | {cost / base:.2f} |"
    yield ""
    yield f"Packed additions in the compiled kernel: {packed_adds()}."
    yield ""
    yield from two_threads(1024 if quick else 4096, repeats)


def two_threads(size: int, repeats: int) -> Iterator[str]:
    """How much faster two threads are on one lattice, by the clock on the wall.

    Beside it, what the machine gives two runs that have nothing to do with each other: no schedule
    of one lattice can do better.
    """
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(size, size)), 0.3)
    yield f"Ising {size}x{size} on two threads: wall ns per update, medians of {repeats}"
    yield ""
    yield "| method | one thread | two threads | times as fast | two runs at once | same bits |"
    yield "|---|---|---|---|---|---|"
    with ThreadPoolExecutor(2) as pool:
        method = hd.HerdedGibbs(weights="shared")
        layout = method.compile(model, max_memory=8 * 2**30)
        one, two, apart, same = _threads(method, layout, pool, repeats)
    yield (
        f"| herded, shared | {one:.2f} | {two:.2f} | {one / two:.2f} "
        f"| {one / apart:.2f} | {'yes' if same else 'no'} |"
    )


def _threads(
    method: Any, layout: Any, pool: ThreadPoolExecutor, repeats: int
) -> tuple[float, float, float, bool]:
    """Wall ns per update alone, with the pool and of two runs at once; whether the bits agree."""
    block = np.zeros((16, 0), layout.state_type)
    alone, shared, left, right = states = [
        method.init(layout, np.zeros(layout.model.n_variables, int)) for _ in range(4)
    ]
    for state in states:
        state.state_counts = np.zeros(layout.n_stored, np.uint8)
    works: tuple[tuple[int, Callable[[], Any]], ...] = (
        (1, lambda: method.advance(layout, alone, block)),
        (1, lambda: method.advance(layout, shared, block, pool)),
        (2, lambda: list(pool.map(lambda s: method.advance(layout, s, block), (left, right)))),
    )
    took: list[list[float]] = [[], [], []]
    same = True
    for _ in range(repeats + 1):  # the first one compiles
        for times, (runs, work) in zip(took, works, strict=True):
            began = time.perf_counter()
            work()
            times.append(
                (time.perf_counter() - began) / (runs * len(block) * layout.n_stored) * 1e9
            )
        same = same and bool((alone.state_counts == shared.state_counts).all())
    one, two, apart = (float(np.median(times[1:])) for times in took)
    return one, two, apart, same
