"""Do warnings about short runs come when they should, and do intervals hold? Known answers.

Easy models are many autocorrelation times long, so that a warning is a false alarm. On hard ones a
run without a warning must be right: a silent miss is one whose 95 % intervals miss more than a
fifth of the marginals although some marginal is off by more than 0.05.
"""

import warnings
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.herd_models import families
from benchmarks.random_models import SPINS, grid, ising, triples

TITLE = "# Run lengths: warnings and coverage"
WIDTH = 100
WRONG, COVERED = 0.05, 0.8
RARE = 1e-3  # a small probability
REPEATS, QUICK_REPEATS = 24, 2
UPDATES, QUICK_UPDATES = (10_000, 100_000), (10_000,)
LONGEST, EVERY_LONGEST = 1_000_000, 4  # of every fourth model
CRITICAL = 2.0 / np.log(1.0 + np.sqrt(2.0))  # temperature of the square lattice
WITHOUT_FIELD = 0.5


class Case(NamedTuple):
    """A model with its exact marginals, and the states to start from."""

    name: str
    model: Any
    truth: np.ndarray
    starts: dict[str, np.ndarray | None]


class Length(NamedTuple):
    """A method and its run."""

    name: str
    make: Callable[[int], Any]
    chains: int
    sweeps: int
    burn_in: int


LENGTHS = (
    Length("4 herds of 64", lambda seed: hd.Gibbs(herd=64, seed=seed), 4, 500, 100),
    Length("4 herds of 16", lambda seed: hd.Gibbs(herd=16, seed=seed), 4, 500, 100),
    Length("4 chains", lambda seed: hd.Gibbs(seed=seed), 4, 2000, 400),
    Length("4 ladders", lambda seed: hd.Tempered(hd.Gibbs(seed=seed), 6), 4, 500, 100),
)


def lattice(size: int, temperature: float, name: str) -> Case:
    """A periodic Ising model without field, whose marginals are 1/2."""
    model = hd.ising_grid(np.zeros((size, size)), 1.0 / temperature, periodic=True)
    truth = np.full((size * size, 2), WITHOUT_FIELD)
    ordered = np.ones((size, size), np.int64)
    return Case(name, model, truth, {"hot": None, "ordered": ordered})


def symmetric(name: str, n: int, edges: list[tuple[int, int]], couplings: np.ndarray) -> Case:
    """Spins without fields, whose marginals are 1/2."""
    model = hd.pairwise_model(np.zeros((n, 2)), edges, couplings[:, None, None] * SPINS)
    return Case(
        name,
        model,
        np.full((n, 2), WITHOUT_FIELD),
        {"hot": None, "ordered": np.zeros(n, np.int64)},
    )


def eliminated(name: str, model: Any) -> Case:
    found = hd.infer(model, hd.Exact(), progress=False)
    truth = found.chain_marginals[0]
    return Case(
        name,
        model,
        truth,
        {"hot": None, "ordered": np.zeros(model.n_variables, np.int64)},
    )


def easy(rng: np.random.Generator) -> Iterator[Case]:
    """Models on which every run above is more than 40 autocorrelation times long."""
    yield lattice(24, 5.0, "Ising 24x24, T = 5")
    yield lattice(16, 3.5, "Ising 16x16, T = 3.5")
    edges = sorted({tuple(sorted(e)) for e in rng.integers(0, 60, (90, 2)).tolist()})
    edges = [e for e in edges if e[0] != e[1]]
    yield eliminated("sparse graph of 60", ising(edges[:70], 0.5, rng))
    yield eliminated("grid 8x8 with fields", ising(grid(8, 8), 0.4, rng))
    yield eliminated("tables of three variables", triples(20, 0.3, rng))
    clear = hd.potts_grid(rng.normal(0, 0.5, (6, 6, 4)), 0.4)
    yield eliminated("Potts 6x6, 4 states", clear)


def hard(rng: np.random.Generator) -> Iterator[Case]:
    yield lattice(16, CRITICAL, "Ising 16x16, critical")
    yield lattice(32, CRITICAL, "Ising 32x32, critical")
    yield lattice(24, 2.0, "Ising 24x24, T = 2")
    yield lattice(16, 1.5, "Ising 16x16, T = 1.5")
    wells = [(i, j) for j in range(30) for i in range(j)]
    yield symmetric("double well of 30", 30, wells, np.full(len(wells), 2.0 / 30))
    steps = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    places = np.array(list(np.ndindex(4, 4, 4)))
    cube = [
        (int(np.ravel_multi_index(p, (4, 4, 4))), int(np.ravel_multi_index((p + s) % 4, (4, 4, 4))))
        for p in places
        for s in steps
    ]
    signs = rng.choice([-1.0, 1.0], len(cube))
    yield symmetric("glass 4x4x4, T = 0.6", 64, cube, signs / 0.6)


def lines(quick: bool) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    yield from _calibration(QUICK_REPEATS if quick else REPEATS)
    yield ""
    yield from _coverage(QUICK_UPDATES if quick else UPDATES, 12 if quick else 1)
    if not quick:
        yield from _coverage((LONGEST,), EVERY_LONGEST)


def _calibration(repeats: int) -> Iterator[str]:
    yield "## False alarms and silent misses"
    yield ""
    yield from wrap(
        f"{repeats} seeds of each model, start and method. A run is wrong where its 95 % intervals "
        "miss more than a fifth of the marginals and some marginal is off by more than 0.05. "
        "Starts are random (hot) or one state for all (ordered).",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| | model | start | method | runs | warned and right | warned and wrong | silent miss |"
    yield "|---" * 8 + "|"
    for kind, make in (("easy", easy), ("hard", hard)):
        totals = np.zeros(4, np.int64)
        for case in make(np.random.default_rng(31)):
            for start_name, start in case.starts.items():
                for length in LENGTHS:
                    found = [_judge(case, start, length, seed) for seed in range(repeats)]
                    counts = np.array([
                        len(found),
                        sum(warned and not wrong for warned, wrong in found),
                        sum(warned and wrong for warned, wrong in found),
                        sum(wrong and not warned for warned, wrong in found),
                    ])  # fmt: skip
                    totals += counts
                    cells = " | ".join(map(str, counts))
                    yield f"| {kind} | {case.name} | {start_name} | {length.name} | {cells} |"
        yield f"| {kind} | **all** | | | {' | '.join(map(str, totals))} |"


def _judge(case: Case, start: np.ndarray | None, length: Length, seed: int) -> tuple[bool, bool]:
    """Whether the run was warned of, and whether it was wrong."""
    run = hd.infer(
        case.model,
        length.make(seed),
        sweeps=length.sweeps,
        burn_in=length.burn_in,
        chains=length.chains,
        start=start,
        threads=1,
        progress=False,
    )
    warned = any(one.severity == "warning" for one in run.diagnostics)
    mean = run.chain_marginals.mean(axis=0)
    low, high = np.moveaxis(run.interval.reshape(*mean.shape, 2), -1, 0)
    inside = (case.truth >= low - 1e-9) & (case.truth <= high + 1e-9)
    states = np.arange(mean.shape[1]) < np.asarray(case.model.cardinalities)[:, None]
    wrong = inside[states].mean() < COVERED and np.abs(mean - case.truth)[states].max() > WRONG
    return warned, bool(wrong)


def _coverage(lengths: tuple[int, ...], every: int) -> Iterator[str]:
    yield "## Coverage of 95 % intervals"
    yield ""
    chosen = list(families())[::every]
    yield from wrap(
        f"{len(chosen)} models of at most 100 variables with exact answers. Where nothing was "
        f"warned: the share of intervals that hold the truth, of all states and of those of "
        f"probability below {RARE}.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| updates | method | marginals | not warned of | covered | small p covered | small p |"
    yield "|---" * 7 + "|"
    known = [(m, hd.infer(m, hd.Exact(), progress=False).chain_marginals[0]) for _, _, m in chosen]
    for updates in lengths:
        for name, make in METHODS.items():
            for averaged in (True, False):
                yield _covered(updates, name, make, averaged, known)


METHODS: dict[str, Callable[[Any, int], Any]] = {
    "recommend": lambda model, updates: hd.recommend(model, sweeps=updates, seed=1),
    "4 Gibbs chains": lambda model, updates: hd.Gibbs(seed=1),
}


def _covered(
    updates: int,
    name: str,
    make: Callable[[Any, int], Any],
    averaged: bool,
    known: list[tuple[hd.FactorGraph, np.ndarray]],
) -> str:
    """One row: a method, with averaged conditionals or counts."""
    inside, rare = list[np.ndarray](), list[np.ndarray]()
    for model, truth in known:
        method = make(model, updates)
        length: dict[str, Any] = {}
        if isinstance(method, hd.Gibbs):
            length = {"sweeps": updates * 9 // 40, "burn_in": updates // 40, "chains": 4}
        keep = [hd.Marginals(rao_blackwell=averaged)]
        run = hd.infer(model, method, keep=keep, threads=1, progress=False, **length)
        if (
            any(one.severity == "warning" for one in run.diagnostics)
            or len(run.chain_marginals) < 2
        ):
            continue
        shape = *run.chain_marginals.shape[1:], 2
        low, high = np.moveaxis(run.interval.reshape(shape), -1, 0)
        holds = (low <= truth + 1e-8) & (truth - 1e-8 <= high)
        inside.append(holds[(truth > 0) & (truth < 1)])
        rare.append(holds[(truth > 0) & (truth < RARE)])
    everything, small = np.concatenate(inside), np.concatenate(rare)
    per_model = np.mean([one.mean() for one in inside])
    what = "averaged" if averaged else "counted"
    return (
        f"| {updates:,} | {name} | {what} | {len(inside)} of {len(known)} | {per_model:.3f} | "
        f"{small.mean() if len(small) else np.nan:.3f} | {len(small)} of {len(everything)} |"
    )
