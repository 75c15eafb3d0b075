"""Exact inference: beside pyAgrum, beside an earlier revision, and in less memory than it takes.

    python -m benchmarks --only exact --models DIR
    python -m benchmarks.hard_models.exact_inference REVISION --models DIR [--rounds N]

The second lets this revision and another take turns, each turn in a process of its own.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import herded as hd
from benchmarks.compare_revisions import checkout
from benchmarks.compare_revisions import lines as ratios
from benchmarks.hard_models.uai_competition import read
from benchmarks.peers.protocol import missing, versioned
from benchmarks.support.timing import cpu_seconds
from herded.system import memory_limits

TITLE = "# Exact inference"
REPEATS = 5
MOST_WORK = 1e9  # entries: a few seconds
WIDE = 24  # side of a grid that takes 12 GB in one go
LIMITS = ((20, "1G"), (20, "256M"), (20, "128M"), (WIDE, "2G"))
HERE = Path(__file__).parents[2]

# Prints the CPU seconds of marginals, after a first run for compilers and caches. Every copy of the
# model is new, so that an order of elimination is found each time. For any revision.
TURN = """
import sys, time
from pathlib import Path
import herded as hd
for name in sys.argv[1:]:
    path = Path(name)
    evidence = path.with_name(path.name + ".evid")
    def model():
        found = hd.io.read_uai(path)
        return found.given(hd.io.read_evidence(evidence)) if evidence.exists() else found
    hd.infer(model(), hd.Exact(), progress=False)
    again = model()
    began = time.process_time()
    hd.infer(again, hd.Exact(), progress=False)
    print(path.stem, time.process_time() - began)
"""


def lines(quick: bool) -> Iterator[str]:
    yield from _beside_pyagrum(1 if quick else REPEATS, quick)
    yield ""
    yield from _in_less_memory(LIMITS[:0] if quick else LIMITS)


def _files(quick: bool = False) -> list[Path]:
    """UAI models in the user's folder on which exact inference takes seconds at most."""
    folder = os.environ.get("HERDED_UAI")
    found = [p for p in sorted(Path(folder).rglob("*.uai")) if _is_quick(p)] if folder else []
    return found[:3] if quick else found


def _is_quick(path: Path) -> bool:
    try:
        return bool(hd.Exact().compile(read(path).model).arrays.work <= MOST_WORK)
    except hd.MemoryLimitError:
        return False


def _beside_pyagrum(repeats: int, quick: bool) -> Iterator[str]:
    """CPU of all marginals; orders of elimination and junction trees are found each time."""
    reason, files = missing("pyagrum"), _files(quick)
    if not files:
        yield "(skipped: no UAI models; name their folder by --models DIR or HERDED_UAI)"
        return
    name = versioned("pyAgrum", "pyagrum") if reason is None else f"pyAgrum ({reason})"
    yield f"| model | herded, CPU | {name}, CPU | times | largest difference |"
    yield "|---|---|---|---|---|"
    for path in files:
        known = read(path)
        ours, theirs = list[float](), list[float]()
        found, other = hd.infer(known.model, hd.Exact(), progress=False).marginals, None
        network = None if reason else junction_tree(known.model)
        for _ in range(repeats):
            again = read(path).model
            ours.append(cpu_seconds(lambda m=again: hd.infer(m, hd.Exact(), progress=False)))
            if network is not None:
                began = time.process_time()
                other = posteriors(*network)
                theirs.append(time.process_time() - began)
        mine = statistics.median(ours)
        if other is None:
            yield f"| {path.stem} | {1e3 * mine:.1f} ms | - | - | - |"
            continue
        gap = max(np.abs(row - found[i, : len(row)]).max() for i, row in enumerate(other))
        yours = statistics.median(theirs)
        yield (
            f"| {path.stem} | {1e3 * mine:.1f} ms | {1e3 * yours:.1f} ms | {mine / yours:.2f} | "
            f"{gap:.1e} |"
        )


def junction_tree(model: hd.FactorGraph) -> tuple[Any, dict[str, int]]:
    """pyAgrum's model, whose factors have scopes of their own, and its evidence."""
    import pyagrum

    network, factors = pyagrum.MarkovRandomField(), dict[tuple[int, ...], np.ndarray]()
    for i, states in enumerate(model.cardinalities.tolist()):
        network.add(pyagrum.RangeVariable(f"x{i}", "", 0, states - 1))
    for f in range(model.n_factors):
        scope, table = model.factor(f)
        order = np.argsort(scope)
        values, key = np.exp(table).transpose(order), tuple(scope[order].tolist())
        factors[key] = factors[key] * values if key in factors else values
    for key, values in factors.items():  # its arrays have the last variable first
        network.addFactor([f"x{i}" for i in key])[:] = np.ascontiguousarray(values.T)
    known = np.flatnonzero(model.evidence >= 0).tolist()
    return network, {f"x{i}": int(model.evidence[i]) for i in known}


def posteriors(network: Any, evidence: dict[str, int]) -> list[np.ndarray]:
    """All marginals, by one thread."""
    import pyagrum

    solver = pyagrum.ShaferShenoyMRFInference(network)
    solver.setNumberOfThreads(1)
    solver.setEvidence(evidence)
    solver.makeInference()
    return [solver.posterior(f"x{i}").toarray() for i in range(network.size())]


def _in_less_memory(limits: tuple[tuple[int, str], ...]) -> Iterator[str]:
    """Grids whose couplings and fields are uniform up to 1, in segments and slices."""
    if not limits:
        return
    yield (
        "| grid | in one go | max_memory | planned | segments | slices | CPU s | log Z | "
        "work in half of it |"
    )
    yield "|---" * 9 + "|"
    for side, limit in limits:
        rng = np.random.default_rng(0)
        couplings = rng.uniform(-1, 1, (side, side - 1)), rng.uniform(-1, 1, (side - 1, side))
        model = hd.ising_grid(rng.uniform(-1, 1, (side, side)), couplings)
        whole = hd.Exact().compile(model, max_memory=math.inf)
        layout = hd.Exact().compile(model, max_memory=limit)
        began = time.process_time()
        result = hd.infer(model, hd.Exact(), layout=layout, progress=False)
        plan = layout.arrays
        yield (
            f"| {side} x {side} | {whole.memory / 1e9:.2f} GB | {limit} | "
            f"{layout.memory / 1e9:.2f} GB | {int(plan.segments.max()) + 1} | {plan.slices} | "
            f"{time.process_time() - began:.1f} | {result.log_z:.9f} | {_in_half(model, limit)} |"
        )


def _in_half(model: hd.Lattice, limit: str) -> str:
    """How many times the work is where two threads, a slice each, share the memory."""
    works = []
    for room in (memory_limits.memory_limit(limit), memory_limits.memory_limit(limit) / 2):
        try:
            works.append(hd.Exact().compile(model, max_memory=room).arrays.work)
        except hd.MemoryLimitError:
            return "-"
    return f"{works[1] / works[0]:.1f}"


def main(words: list[str] | None = None) -> None:
    """This revision and another, in turns."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.hard_models.exact_inference")
    options.add_argument("revision", help="any name that git knows it by")
    options.add_argument("--models", required=True, metavar="DIR")
    options.add_argument("--rounds", type=int, default=REPEATS)
    chosen = options.parse_args(words)
    os.environ["HERDED_UAI"] = chosen.models
    names = [str(path) for path in _files()]
    with checkout(HERE, chosen.revision) as other, tempfile.TemporaryDirectory() as kernels:
        rounds = []
        for _ in range(chosen.rounds):
            both = [turn(root, names, f"{kernels}/{root.name}") for root in (HERE, other)]
            rounds.append((both[0], both[1]))
    for line in ratios(rounds, chosen.revision):
        print(line)


def turn(root: Path, names: list[str], kernels: str) -> dict[tuple[str, ...], float]:
    """CPU seconds of each model, by the package at `root`."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "NUMBA_CACHE_DIR": kernels}
    done = subprocess.run(
        [sys.executable, "-c", TURN, *names],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows = (line.split() for line in done.stdout.splitlines())
    return {("exact", name): float(seconds) for name, seconds in rows}


if __name__ == "__main__":
    main()
