"""Blocks beside what `recommend` does with single moves: errors, CPU time, warnings.

Generated models with hard zeros, whose answers exact inference gives, and every NAME.uai in a
folder that has NAME.uai.MAR beside it (and NAME.uai.evid, if it is there). The folder is named by
--models or by HERDED_UAI.
"""

import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

import herded as hd
from benchmarks.support.timing import cpu_seconds
from herded.run.selection.recommendation import recommend_single_site

TITLE = "# Blocks beside single moves"
UPDATES, QUICK_UPDATES = 4096, 1024  # of each variable, over all chains and members
SEEDS, QUICK_SEEDS = 6, 2
MOVES = hd.Blocks()
METHODS: dict[str, tuple[Callable[[int], Any], int]] = {  # and how many chains
    "blocks, a herd of 16": (lambda seed: hd.Gibbs(seed, herd=16, moves=MOVES), 1),
    "blocks, 4 herds of 8": (lambda seed: hd.Gibbs(seed, herd=8, moves=MOVES), 4),
    "blocks, herded in time": (lambda seed: hd.HerdedGibbs(seed=seed, moves=MOVES), 1),
}
WIDTH = 100

Known = tuple[hd.FactorGraph, np.ndarray]  # a model and its marginals


def lines(quick: bool) -> Iterator[str]:
    updates, seeds = (QUICK_UPDATES, QUICK_SEEDS) if quick else (UPDATES, SEEDS)
    yield from wrap(
        f"Mean absolute errors of marginals of free variables, means of {seeds} seeds +- standard "
        "errors; CPU seconds of whole calls, with the choice of blocks and the check for walls, "
        "and their ratio to single moves in the same run. Single moves have the 40,000 updates "
        f"of each variable that `recommend` gives them, blocks have {updates:,} over all chains "
        "and members, burn-in included.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| model | free variables | moves | error | CPU s | ratio | runs with warnings |"
    yield "|---|---|---|---|---|---|---|"
    for name, load in (*generated(quick), *files(quick)):
        yield from rows(name, load, updates, seeds)


def rows(name: str, load: Callable[[], Known], updates: int, seeds: int) -> Iterator[str]:
    """A line for each way, all of which take turns."""
    found: dict[str, list[tuple[float, float, bool]]] = {}
    for seed in range(-1, seeds):  # the first compiles
        for way in ("single, as recommended", *METHODS):
            model, exact = load()  # anew, so that nothing is kept from the run before
            run = way_of(way, model, max(0, seed), updates)
            results: list[hd.Result] = []
            seconds = cpu_seconds(lambda run=run, results=results: results.append(run()))
            if seed >= 0:
                error = error_of(model, results[0].marginals, exact)
                found.setdefault(way, []).append((error, seconds, is_warned(results[0])))
    free = int((model.evidence < 0).sum())
    base = np.median([seconds for _, seconds, _ in next(iter(found.values()))])
    for way, runs in found.items():
        errors, seconds = (np.array([run[k] for run in runs]) for k in (0, 1))
        spread = errors.std(ddof=1) / np.sqrt(len(errors))
        took = np.median(seconds)
        warned = sum(run[2] for run in runs)
        yield (
            f"| {name} | {free:,} | {way} | {errors.mean():.4f} +- {spread:.4f} | {took:.2f} | "
            f"{took / base:.2f} | {warned} of {len(runs)} |"
        )


def way_of(way: str, model: Any, seed: int, updates: int) -> Callable[[], hd.Result]:
    """The run of one way, which warns nobody."""
    keep = [hd.Marginals(rao_blackwell=True)]

    def run() -> hd.Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if way not in METHODS:
                return hd.infer(model, recommend_single_site(model, seed=seed), threads=1)
            make, chains = METHODS[way]
            method = make(seed)
            sweeps = updates // (method.herd * chains)
            burn_in = min(max(8, sweeps // 10), sweeps // 2)
            length = {"sweeps": sweeps - burn_in, "burn_in": burn_in, "chains": chains}
            return hd.infer(model, method, **length, keep=keep, threads=1)

    return run


def error_of(model: Any, found: np.ndarray, exact: np.ndarray) -> float:
    """Over all states of the free variables."""
    width = min(found.shape[1], exact.shape[1])
    states = (np.arange(width) < model.cardinalities[:, None]) & (model.evidence < 0)[:, None]
    return float(np.abs(found[:, :width] - exact[:, :width])[states].mean())


def is_warned(result: hd.Result) -> bool:
    """Whether the numbers of a run suffer from something that it has found."""
    return any(one.severity == "warning" for one in result.diagnostics)


# -- models ----------------------------------------------------------------------------------------


def generated(quick: bool) -> Iterator[tuple[str, Callable[[], Known]]]:
    """Models whose hard zeros single moves do not pass."""
    for make in (causes, copies, checks):
        model = make(np.random.default_rng(7), 6 if quick else 12)
        exact = hd.infer(model, hd.Exact()).marginals
        yield make.__name__, lambda model=model, exact=exact: (anew(model), exact)


def anew(model: hd.FactorGraph) -> hd.FactorGraph:
    """The same model without what was kept with it."""
    factors = [model.factor(f) for f in range(model.n_factors)]
    found = hd.FactorGraph(model.cardinalities, factors)
    known = np.flatnonzero(model.evidence >= 0).tolist()
    return found.given({i: int(model.evidence[i]) for i in known})


def causes(rng: np.random.Generator, side: int) -> hd.FactorGraph:
    """Findings that are the or of three rare causes out of a window; half of them are seen."""
    n = 4 * side
    factors: list[Any] = [((i,), np.log([0.9, 0.1])) for i in range(n)]
    either = np.full((2, 2, 2, 2), -np.inf)
    for a, b, c in itertools.product(range(2), repeat=3):
        either[a, b, c, a | b | c] = 0.0
    seen = {}
    for f in range(n):
        chosen = np.sort(rng.choice(np.arange(f, f + 6) % n, 3, replace=False))
        factors.append(((*chosen.tolist(), n + f), either))
        if f % 2:
            seen[n + f] = int(rng.random() < 0.4)
    model = hd.FactorGraph([2] * (2 * n), factors)
    for i in list(seen):  # drop findings that contradict the others
        try:
            hd.infer(model.given({j: k for j, k in seen.items() if j <= i}), hd.Exact())
        except hd.HerdedError:
            del seen[i]
    return model.given(seen)


def copies(rng: np.random.Generator, side: int) -> hd.FactorGraph:
    """A glass whose spins are rows of three variables that are always equal."""
    site = np.arange(side * side * 3).reshape(side, side, 3)
    equal, turned = np.where(np.eye(2) > 0, 0.0, -np.inf), np.array([[1.0, -1.0], [-1.0, 1.0]])
    factors: list[Any] = [((i,), [0.0, rng.normal()]) for i in site[:, :, 0].ravel().tolist()]
    for r, c in itertools.product(range(side), repeat=2):
        factors += [((i, j), equal) for i, j in itertools.pairwise(site[r, c].tolist())]
        for other in [(r + 1, c)] * (r + 1 < side) + [(r, c + 1)] * (c + 1 < side):
            pair = int(site[r, c, rng.integers(3)]), int(site[other][rng.integers(3)])
            factors.append((pair, rng.uniform(-1, 1) * turned))
    return hd.FactorGraph([2] * site.size, factors)


def checks(rng: np.random.Generator, side: int) -> hd.FactorGraph:
    """Bits of which every three of a window have even parity, and a noisy look at each."""
    n = 5 * side
    even = np.full((2, 2, 2), -np.inf)
    for bits in itertools.product(range(2), repeat=3):
        even[bits] = 0.0 if sum(bits) % 2 == 0 else -np.inf
    factors: list[Any] = [((i,), [0.0, rng.normal()]) for i in range(n)]
    for f in range(0, n, 2):
        chosen = rng.choice(np.arange(f, f + 8) % n, 3, replace=False)
        factors.append((chosen.tolist(), even))
    return hd.FactorGraph([2] * n, factors)


def files(quick: bool) -> Iterator[tuple[str, Callable[[], Known]]]:
    """The models of a folder that have known marginals."""
    folder = os.environ.get("HERDED_UAI")
    paths = sorted(Path(folder).rglob("*.uai")) if folder else []
    paths = [path for path in paths if path.with_name(f"{path.name}.MAR").exists()]
    for path in paths[:2] if quick else paths:

        def load(path: Path = path) -> Known:
            model, evidence = hd.read_model(path), path.with_name(f"{path.name}.evid")
            if evidence.exists():
                model = model.given(hd.io.read_evidence(evidence))
            return model, hd.io.read_mar(path.with_name(f"{path.name}.MAR"))

        yield path.stem, load
