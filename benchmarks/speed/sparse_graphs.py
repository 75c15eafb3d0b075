"""Random pairwise binary models: CPU nanoseconds per update beside an expert's own Gibbs sampler.

The expert's loops are what one writes by hand for this very model: neighbours and couplings in CSR,
xorshift for the draws, and the sigmoid by `exp` or looked up. All run in one process, alternating.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd
from benchmarks.speed import many_states
from benchmarks.support.timing import nanoseconds
from herded.layouts.binary_pairs.incremental_fields import MIN_SWEEPS_TO_STORE_FIELDS
from herded.system.compilation.jit import jit

NODES, DEGREE, SWEEPS = 10_000, 6, 100
STEPS, REACH = 64, 24  # of the expert's table: entries per unit, and how far it goes


def lines(quick: bool) -> Iterator[str]:
    repeats = 3 if quick else 9
    yield "## Sparse pairwise models, small models"
    yield ""
    yield f"{NODES:,} binary variables of mean degree {DEGREE}, couplings 0.3 N(0, 1), one thread;"
    yield f"medians of {repeats} alternating repeats of {SWEEPS} sweeps, every sample written down"
    yield ""
    yield "| sampler | CPU ns per update | over the faster expert |"
    yield "|---|---|---|"
    model = Sparse(DEGREE)
    timed = nanoseconds(_samplers(model), updates=SWEEPS * NODES, repeats=repeats)
    expert = min(value for name, value in timed.items() if name.startswith("expert"))
    for name, value in timed.items():
        yield f"| {name} | {value:.1f} | {value / expert:.2f} |"
    yield ""
    yield from many_states.lines(repeats)
    yield from _small(repeats)


class Sparse:
    """Ising couplings on a random graph: for the expert in CSR, for `herded` as a model."""

    def __init__(self, degree: int) -> None:
        rng = np.random.default_rng(0)
        ends = np.unique(np.sort(rng.integers(0, NODES, (NODES * degree, 2)), axis=1), axis=0)
        ends = rng.permutation(ends[ends[:, 0] != ends[:, 1]])[: NODES * degree // 2]
        coupling, field = 0.3 * rng.normal(size=len(ends)), 0.3 * rng.normal(size=NODES)
        signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
        tables = coupling[:, None, None] * signs
        self.model = hd.pairwise_model(np.stack([-field, field], axis=1), ends, tables)
        first, second = np.concatenate([ends, ends[:, ::-1]]).T
        order = np.argsort(first, kind="stable")
        self.start = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=NODES))])
        self.neighbour = second[order].astype(np.uint32)
        twice = np.tile(coupling, 2)[order]
        self.strength = 4.0 * twice  # from spins -1, 1 to states 0, 1
        self.alone = 2.0 * field - 2.0 * np.bincount(first[order], twice, NODES)


FIRST_RUN = (
    "import herded as hd; "
    "hd.infer(hd.chain_model([[0, 1]] * 2, [[1, 0], [0, 1]]), hd.HerdedGibbs())"
)
METHODS = [
    ("herded pooled", "field", hd.HerdedGibbs(weights="pooled")),
    ("herded pooled", "table", hd.HerdedGibbs(weights="pooled")),
    ("herded blanket", "table", hd.HerdedGibbs()),
    ("Gibbs", "field", hd.Gibbs()),
    ("herded pooled", "factor", hd.HerdedGibbs(weights="pooled")),
]


def _samplers(sparse: Sparse) -> dict[str, Callable[[], Any]]:
    block = np.zeros((SWEEPS, NODES), np.uint8)
    sigmoid = 1.0 / (1.0 + np.exp(-np.arange(-REACH * STEPS, REACH * STEPS + 1) / STEPS))
    graph = (sparse.start, sparse.neighbour, sparse.strength, sparse.alone)
    seed = np.array([88172645463325252], np.uint64)
    x, y, seed_two = np.zeros(NODES, np.uint8), np.zeros(NODES, np.uint8), seed.copy()
    found: dict[str, Callable[[], Any]] = {
        "expert's CSR Gibbs, exp": lambda: expert_exp(*graph, x, seed, block),
        "expert's CSR Gibbs, table": lambda: expert_table(*graph, sigmoid, y, seed_two, block),
    }
    for name, kind, method in METHODS:
        found[f"{name}, {kind} layout"] = _sweeping(sparse.model, kind, method, block)
        if kind == "field":
            short = [
                block[s : s + MIN_SWEEPS_TO_STORE_FIELDS - 1]
                for s in range(0, SWEEPS, MIN_SWEEPS_TO_STORE_FIELDS - 1)
            ]
            found[f"{name}, {kind} layout, fields summed"] = _sweeping(
                sparse.model, kind, method, *short
            )
    return found


def _sweeping(model: Any, kind: str, method: Any, *blocks: np.ndarray) -> Callable[[], None]:
    """Sweeps in so many calls: in short ones fields are summed, and do not follow flips."""
    layout = method.compile(model, kind=kind)
    state = method.init(layout, np.zeros(NODES, int))

    def sweep() -> None:
        for block in blocks:
            method.advance(layout, state, block)

    return sweep


# -- the expert's loops --------------------------------------------------------------------------


@jit
def expert_exp(start, neighbour, strength, alone, x, seed, block):
    bits = seed[0]
    for s in range(len(block)):
        for i in range(len(x)):
            field = alone[i]
            for e in range(start[i], start[i + 1]):
                field += strength[e] * x[neighbour[e]]
            bits ^= bits << np.uint64(13)
            bits ^= bits >> np.uint64(7)
            bits ^= bits << np.uint64(17)
            u = (bits >> np.uint64(11)) * 2.0**-53
            x[i] = u * (1.0 + np.exp(-field)) < 1.0
            block[s, i] = x[i]
    seed[0] = bits


@jit
def expert_table(start, neighbour, strength, alone, sigmoid, x, seed, block):
    bits = seed[0]
    for s in range(len(block)):
        for i in range(len(x)):
            field = alone[i]
            for e in range(start[i], start[i + 1]):
                field += strength[e] * x[neighbour[e]]
            bits ^= bits << np.uint64(13)
            bits ^= bits >> np.uint64(7)
            bits ^= bits << np.uint64(17)
            u = (bits >> np.uint64(11)) * 2.0**-53
            place = min(max(field, -REACH), REACH) * STEPS + (REACH * STEPS + 0.5)
            x[i] = u < sigmoid[np.uint64(place)]
            block[s, i] = x[i]
    seed[0] = bits


# -- small work ----------------------------------------------------------------------------------


def _small(repeats: int) -> Iterator[str]:
    model = hd.FactorGraph([2, 2], [((0, 1), [[0.3, -0.1], [0.2, 0.5]])])
    method = hd.HerdedGibbs()
    layout = method.compile(model)
    works = {
        "infer, two variables, ten sweeps": lambda: hd.infer(model, method, sweeps=10),
        "the same with layout=": lambda: hd.infer(model, method, sweeps=10, layout=layout),
        "the same on a new model each time": lambda: hd.infer(model.given({}), method, sweeps=10),
    }
    hundred = {name: _repeatedly(work, 100) for name, work in works.items()}
    ring = hd.pairwise_model(
        np.zeros((5, 2)), [(i, (i + 1) % 5) for i in range(5)], [[0.3, 0.0], [0.0, 0.2]]
    )
    hundred["infer_many, a new ring of five variables, a hundred sweeps"] = lambda: hd.infer_many(
        [ring.given({}) for _ in range(100)], method, sweeps=100
    )
    yield "| small work | CPU |"
    yield "|---|---|"
    for name, value in nanoseconds(hundred, updates=100, repeats=repeats).items():
        yield f"| {name} | {value / 1e3:.0f} us |"
    with tempfile.TemporaryDirectory() as folder:
        first = _process(FIRST_RUN, folder)
        programs = {
            "python, without anything": "pass",
            "import herded": "import herded",
            "import herded, and numpy and numba by its use": "import herded; herded.infer",
            "a process whose kernels are compiled already": FIRST_RUN,
        }
        for name, program in programs.items():
            value = statistics.median(_process(program, folder) for _ in range(repeats))
            yield f"| {name} | {1e3 * value:.0f} ms |"
    yield f"| the first such process, which compiles them | {1e3 * first:.0f} ms |"


def _repeatedly(work: Callable[[], Any], count: int) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(count):
            work()

    return repeated


def _process(program: str, folder: str) -> float:
    """CPU seconds of a new process that keeps its kernels in `folder`."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "HERDED_CACHE": "1"}
    before = os.times()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    after = os.times()
    user, system = after.children_user, after.children_system
    return user - before.children_user + system - before.children_system
