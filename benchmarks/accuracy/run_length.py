"""Do warnings about short runs come when they should, and do intervals hold? Known answers.

Easy models are many autocorrelation times long, so that a warning is a false alarm. On hard ones a
run without a warning must be right. It misses where its 95 % intervals leave out more than a fifth
of the marginals and some marginal is off by more than 0.05. Where all marginals move together,
right intervals do so in up to 5 % of the runs. A silent miss is one that this does not explain: a
fifth of the marginals is off by more than twice the half-width of the intervals.
"""

import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from math import lgamma
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.support.model_families import families
from benchmarks.support.random_models import SPINS, grid, ising, triples

TITLE = "# Run lengths: warnings and coverage"
WIDTH = 100
WRONG, COVERED = 0.05, 0.8
BADLY = 2.0  # half-widths of an interval
RARE = 1e-3  # a small probability
EASY_REPEATS, HARD_REPEATS, QUICK_REPEATS = 8, 4, 1
UPDATES, QUICK_UPDATES = (10_000, 100_000), (10_000,)
LONGEST, EVERY_LONGEST = 1_000_000, 8  # of every eighth model
CRITICAL = 2.0 / np.log(1.0 + np.sqrt(2.0))  # temperature of the square lattice
WITHOUT_FIELD = 0.5
CONFIDENCE = 0.95  # of a bound


class Case(NamedTuple):
    """A model with its exact marginals, and the states to start from."""

    name: str
    model: Any
    truth: np.ndarray
    starts: dict[str, np.ndarray | None]
    is_fast: bool = True  # so that the short runs, too, are many autocorrelation times long


class Length(NamedTuple):
    """A method and its run."""

    name: str
    make: Callable[[int], Any]
    chains: int
    sweeps: int
    burn_in: int


class Outcome(NamedTuple):
    """What came of a run."""

    is_warned: bool
    is_miss: bool
    is_badly_off: bool
    covered: float  # share of the marginals; NaN without intervals


def _herds(seed: int) -> hd.Gibbs:
    return hd.Gibbs(herd=64, seed=seed)


def _chains(seed: int) -> hd.Gibbs:
    return hd.Gibbs(seed=seed)


def _ladders(seed: int) -> hd.Tempered:
    return hd.Tempered(hd.Gibbs(seed=seed), 6)


CHAINS = (2, 3, 4, 8)
LONG = (
    Length("4 herds of 64", _herds, 4, 500, 100),
    *(Length(f"{chains} chains", _chains, chains, 2000, 400) for chains in CHAINS),
    Length("4 ladders", _ladders, 4, 500, 100),
)
SHORT = (
    Length("4 herds of 64", _herds, 4, 100, 20),
    *(Length(f"{chains} chains", _chains, chains, 200, 40) for chains in CHAINS),
    Length("4 ladders", _ladders, 4, 100, 20),
)


def lattice(size: int, temperature: float, name: str, is_fast: bool = True) -> Case:
    """A periodic Ising model without field, whose marginals are 1/2."""
    model = hd.ising_grid(np.zeros((size, size)), 1.0 / temperature, periodic=True)
    truth = np.full((size * size, 2), WITHOUT_FIELD)
    ordered = np.ones((size, size), np.int64)
    return Case(name, model, truth, {"hot": None, "ordered": ordered}, is_fast)


def symmetric(name: str, n: int, edges: list[tuple[int, int]], couplings: np.ndarray) -> Case:
    """Spins without fields, whose marginals are 1/2."""
    model = hd.pairwise_model(np.zeros((n, 2)), edges, couplings[:, None, None] * SPINS)
    return Case(
        name,
        model,
        np.full((n, 2), WITHOUT_FIELD),
        {"hot": None, "ordered": np.zeros(n, np.int64)},
    )


def path(n: int, coupling: float, name: str) -> Case:
    return symmetric(name, n, [(i, i + 1) for i in range(n - 1)], np.full(n - 1, coupling))


def double_well(n: int, coupling: float, field: float, name: str) -> Case:
    """All spins alike, where a field says which way is likelier."""
    edges = [(i, j) for j in range(n) for i in range(j)]
    tables = np.full(len(edges), coupling / n)[:, None, None] * SPINS
    return eliminated(name, hd.pairwise_model(np.tile([-field, field], (n, 1)), edges, tables))


def glass(n: int, coupling: float, field: float, rng: np.random.Generator, name: str) -> Case:
    """The model of Sherrington and Kirkpatrick."""
    edges = [(i, j) for j in range(n) for i in range(j)]
    fields = rng.normal(0, field, n)
    tables = rng.normal(0, coupling / np.sqrt(n), len(edges))[:, None, None] * SPINS
    return eliminated(name, hd.pairwise_model(np.stack([-fields, fields], axis=1), edges, tables))


def copies(n: int, error: float, name: str) -> Case:
    """A chain of copies with errors, whose first variable is 0 with probability 0.7."""
    unary = np.zeros((n, 2))
    unary[0] = np.log([0.7, 0.3])
    table = np.log([[1 - error, error], [error, 1 - error]])
    edges = [(i, i + 1) for i in range(n - 1)]
    return eliminated(name, hd.pairwise_model(unary, edges, np.repeat(table[None], n - 1, axis=0)))


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
    """Models on which runs are more than 40 autocorrelation times long."""
    yield lattice(24, 5.0, "Ising 24x24, T = 5")
    yield lattice(16, 3.5, "Ising 16x16, T = 3.5", is_fast=False)
    edges = sorted({tuple(sorted(e)) for e in rng.integers(0, 60, (90, 2)).tolist()})
    edges = [e for e in edges if e[0] != e[1]]
    yield eliminated("sparse graph of 60", ising(edges[:70], 0.5, rng))._replace(is_fast=False)
    yield eliminated("grid 8x8 with fields", ising(grid(8, 8), 0.4, rng))
    yield eliminated("tables of three variables", triples(20, 0.3, rng))
    clear = hd.potts_grid(rng.normal(0, 0.5, (6, 6, 4)), 0.4)
    yield eliminated("Potts 6x6, 4 states", clear)
    yield symmetric("40 nearly independent spins", 40, [(0, 1)], np.full(1, 0.1))
    yield path(50, 0.5, "chain of 50, K = 0.5")
    yield glass(16, 0.5, 0.3, rng, "SK of 16, J = 0.5")


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
    yield double_well(14, 3.5, 0.1, "double well of 14, b = 3.5, h = 0.1")
    yield double_well(14, 2.5, 0.02, "double well of 14, b = 2.5, h = 0.02")
    yield double_well(14, 1.6, 0.05, "double well of 14, b = 1.6, h = 0.05")
    yield path(12, 3.5, "chain of 12, K = 3.5")
    yield path(50, 2.5, "chain of 50, K = 2.5")
    yield path(50, 1.5, "chain of 50, K = 1.5")
    yield glass(16, 2.0, 0.1, rng, "SK of 16, J = 2")
    yield glass(16, 4.0, 0.3, rng, "SK of 16, J = 4")
    yield copies(12, 0.1, "copies with 10 % errors")
    yield copies(12, 0.01, "copies with 1 % errors")


def lines(quick: bool) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    yield from _calibration(quick)
    yield ""
    yield from _coverage(QUICK_UPDATES if quick else UPDATES, 12 if quick else 1)
    if not quick:
        yield from _coverage((LONGEST,), EVERY_LONGEST)


def _calibration(quick: bool) -> Iterator[str]:
    yield "## False alarms and silent misses"
    yield ""
    yield from wrap(
        "Every model is run by every method, from random starts (hot) and from one state for all "
        "chains (ordered). A run misses where its 95 % intervals leave out more than a fifth of "
        "the marginals and some marginal is off by more than 0.05. Where all marginals move "
        "together, right intervals do so in up to 5 % of the runs. A run is badly off where, "
        "besides, more than a fifth of the marginals is off by more than twice the half-width. "
        "`covered` is the share of intervals of runs without a warning that hold the truth; bounds "
        f"hold with a confidence of {CONFIDENCE}.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    for kind, make, repeats in (("Easy", easy, EASY_REPEATS), ("Hard", hard, HARD_REPEATS)):
        found = dict[tuple[str, str], list[Outcome]]()
        for case in make(np.random.default_rng(31)):
            for length in [*LONG, *(SHORT if case.is_fast else ())]:
                row = found.setdefault((case.name, f"{length.name} x {length.sweeps:,}"), [])
                for start in case.starts.values():
                    for seed in range(QUICK_REPEATS if quick else repeats):
                        row.append(_judge(case, start, length, seed))
        yield f"### {kind} models"
        yield ""
        for place, name in ((1, "method"), (0, "model")):
            yield from _table(name, place, found)
            yield ""


def _table(name: str, place: int, found: dict[tuple[str, str], list[Outcome]]) -> Iterator[str]:
    """One row for each method, or each model, and one for all."""
    yield (
        f"| {name} | runs | warned | at most | warned and missed | silent, missed "
        "| silent, badly off | at most | covered |"
    )
    yield "|---" * 9 + "|"
    rows = dict[str, list[Outcome]]()
    for key, outcomes in found.items():
        rows.setdefault(key[place], []).extend(outcomes)
    for title, some in [*rows.items(), ("**all**", list(chain(*rows.values())))]:
        warned = sum(one.is_warned for one in some)
        silent = [one for one in some if not one.is_warned]
        badly = sum(one.is_badly_off for one in silent)
        cells = (
            f"{len(some)}",
            f"{warned}",
            f"{100 * upper_bound(warned, len(some)):.2g} %",
            f"{sum(one.is_miss for one in some if one.is_warned)}",
            f"{sum(one.is_miss for one in silent)}",
            f"{badly}",
            f"{100 * upper_bound(badly, len(some)):.2g} %",
            f"{np.nanmean([one.covered for one in silent]):.3f}" if silent else "",
        )
        yield f"| {title} | {' | '.join(cells)} |"


def upper_bound(events: int, runs: int) -> float:
    """The largest rate at which so few events are no surprise (Clopper and Pearson, one-sided)."""
    low, high, k = events / runs, 1.0, np.arange(events + 1)
    ways = np.array([lgamma(runs + 1) - lgamma(j + 1) - lgamma(runs - j + 1) for j in k])
    for _ in range(40):
        rate = (low + high) / 2
        tail = np.exp(ways + k * np.log(rate) + (runs - k) * np.log1p(-rate)).sum()
        low, high = (rate, high) if tail > 1 - CONFIDENCE else (low, rate)
    return high


def _judge(case: Case, start: np.ndarray | None, length: Length, seed: int) -> Outcome:
    """Run it, and compare its intervals with the truth."""
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
    is_warned = any(one.severity == "warning" for one in run.diagnostics)
    mean = run.chain_marginals.mean(axis=0)
    states = np.arange(mean.shape[1]) < np.asarray(case.model.cardinalities)[:, None]
    error = np.abs(mean - case.truth)[states]
    try:
        ends = run.interval.reshape(*mean.shape, 2)[states]
    except hd.HerdedError:  # chains that are identical, which it says
        return Outcome(True, False, False, np.nan)
    truth, half_width = case.truth[states], run.half_widths()[states]
    inside = (truth >= ends[:, 0] - 1e-9) & (truth <= ends[:, 1] + 1e-9)
    is_off = bool(error.max() > WRONG)
    is_miss = bool(inside.mean() < COVERED) and is_off
    is_badly_off = bool((error <= BADLY * half_width + 1e-9).mean() < COVERED) and is_off
    return Outcome(is_warned, is_miss, is_badly_off, float(inside.mean()))


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
