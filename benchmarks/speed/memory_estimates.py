"""What runs take, beside what was estimated before they began.

Each case runs in a process of its own. A small run of the same kind first compiles the kernels, and
the model is built; then the peak of resident memory is counted from there. It needs Linux, which
tells the peak in /proc.

    python -m benchmarks --only memory [--quick]
    python -m benchmarks.speed.memory_estimates CASE [SCALE]   one row: estimate, measured, end
"""

import gc
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import herded as hd
from benchmarks.support.workloads import random_graph

TITLE = "# Memory of runs"
MIB = 2.0**20
QUICK = 0.25  # sides and variables of models are so much smaller
LONGEST = 1800  # seconds of one case


def corner(states: np.ndarray) -> Any:
    """A function of the user's own."""
    return states.reshape(len(states), -1)[:, 0]


def first_row(states: np.ndarray) -> Any:
    """One that gives many numbers."""
    return states[:, 0] * 1.0


def ising(side: int) -> Any:
    return hd.ising_grid(np.zeros((side, side)), 0.3)


def potts(side: int) -> Any:
    return hd.potts_grid(np.zeros((side, side, 8)), 0.5)


def glass(side: int) -> Any:
    """Couplings that are all different."""
    rng = np.random.default_rng(0)
    right, down = rng.normal(size=(side, side - 1)), rng.normal(size=(side - 1, side))
    return hd.ising_grid(np.zeros((side, side)), (right, down))


def graph(n: int) -> Any:
    return random_graph(n, 6).model


def small(_: int) -> Any:
    return hd.chain_model(np.zeros((18, 2)), np.eye(2))


SMALLER = {graph: 2000, small: 12}  # sizes to compile kernels with; sides of lattices are 128
Case = tuple[Callable[[int], Any], int, Any, dict[str, Any]]  # model, its size, method, options
GIBBS, HERD = hd.Gibbs(), hd.Gibbs(herd=64)
CASES: dict[str, Case] = {
    "marginals, 4 chains": (ising, 1024, GIBBS, {"sweeps": 8, "chains": 4}),
    "marginals, 8 states, 2 herds": (potts, 512, HERD, {"sweeps": 4, "chains": 2}),
    "Rao-Blackwell": (
        ising,
        1024,
        GIBBS,
        {"sweeps": 8, "chains": 2, "keep": [hd.Marginals(rao_blackwell=True)]},
    ),
    "samples, one chain": (ising, 512, GIBBS, {"sweeps": 1000, "keep": [hd.Samples()]}),
    "samples, 4 chains": (
        ising,
        512,
        hd.HerdedGibbs(),
        {"sweeps": 1000, "chains": 4, "keep": [hd.Samples(every=2)]},
    ),
    "samples, 2 herds": (
        ising,
        256,
        HERD,
        {"sweeps": 40, "chains": 2, "keep": [hd.Samples()]},
    ),
    "samples until the clock": (
        ising,
        512,
        GIBBS,
        {"seconds": 3, "keep": [hd.Samples()], "max_memory": "200M"},
    ),
    "samples, resumed": (
        ising,
        512,
        GIBBS,
        {"sweeps": 500, "keep": [hd.Samples()], "checkpoint": "run.ckpt"},
    ),
    "series of energies": (
        ising,
        128,
        HERD,
        {"sweeps": 2000, "chains": 4, "keep": [hd.Observable(hd.energy)]},
    ),
    "series of a row": (
        ising,
        128,
        HERD,
        {"sweeps": 500, "chains": 2, "keep": [hd.Observable(first_row)]},
    ),
    "a function, one herd": (
        ising,
        1024,
        HERD,
        {"sweeps": 2, "keep": [hd.Observable(corner)]},
    ),
    "energies, one herd": (ising, 1024, HERD, {"sweeps": 2, "keep": [hd.Observable(hd.energy)]}),
    "energies of a glass": (glass, 1024, GIBBS, {"sweeps": 2, "keep": [hd.Observable(hd.energy)]}),
    "best state, a grid": (ising, 512, HERD, {"sweeps": 8, "keep": [hd.BestState()]}),
    "pairs of a graph": (
        graph,
        100_000,
        GIBBS,
        {"sweeps": 16, "chains": 2, "keep": [hd.PairMarginals()]},
    ),
    "joint of 2^18 states": (
        small,
        18,
        GIBBS,
        {"sweeps": 1000, "chains": 4, "keep": [hd.Joint()]},
    ),
    "a ladder": (
        ising,
        128,
        hd.Tempered(),
        {"sweeps": 500, "chains": 2, "keep": [hd.Samples()]},
    ),
    'samples, max_memory="100M"': (
        ising,
        1024,
        GIBBS,
        {"sweeps": 3300, "keep": [hd.Samples()], "max_memory": "100M"},
    ),
    'energy, 4096 x 4096, max_memory="1G"': (
        ising,
        4096,
        GIBBS,
        {"sweeps": 2, "keep": [hd.Observable(hd.energy)], "max_memory": "1G"},
    ),
    'energy, herd, 4096 x 4096, max_memory="1G"': (
        ising,
        4096,
        HERD,
        {"sweeps": 2, "keep": [hd.Observable(hd.energy)], "max_memory": "1G"},
    ),
}


def lines(quick: bool) -> Iterator[str]:
    """The table."""
    yield "| run | estimate, MiB | measured, MiB | measured / estimate | |"
    yield "|---|---|---|---|---|"
    for name in CASES:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.speed.memory_estimates",
                name,
                str(QUICK if quick else 1.0),
            ],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        yield done.stdout.strip() or f"| {name} | - | - | - | {done.stderr.strip()[-200:]} |"


def row(name: str, scale: float) -> str:
    """One row of the table."""
    make, size, method, options = CASES[name]
    options = {"progress": False, **options}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = options.get("checkpoint")
        if path is not None:
            path = options["checkpoint"] = str(Path(folder) / path)
        # Kernels are compiled on a smaller model, so that no table of this one is at hand before.
        few = {**options, "sweeps": 2, "seconds": None, "max_memory": None, "checkpoint": None}
        model = make(max(2, int(size * scale)))
        if path is not None:
            hd.infer(model, method, **options)
            options["sweeps"] *= 2
        hd.infer(make(SMALLER.get(make, 128)), method, **few)
        gc.collect()
        began = _reset_peak()
        try:
            result = hd.infer(model, method, **options)
        except hd.MemoryLimitError as error:
            return f"| {name} | - | {(_peak() - began) / MIB:.0f} | - | refused: {error} |"
    measured, estimate = _peak() - began, result.provenance["memory_at_most"]
    found = [one.message for one in result.diagnostics]
    return (
        f"| {name} | {estimate / MIB:.0f} | {measured / MIB:.0f} | {measured / estimate:.2f} | "
        f"{'; '.join(found)} |"
    )


def _reset_peak() -> float:
    """Bytes that are resident now, from where the peak counts."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return float(line.split()[1]) * 1024
    raise ValueError(f"expected {name} in /proc/self/status, got none of it")


if __name__ == "__main__":
    print(row(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))
