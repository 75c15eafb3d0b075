"""Tempering on hard models beside what `recommend` makes of single moves.

Models of the UAI competitions are read from the folder that --models or HERDED_UAI names; without
one only those that are made here are run. Errors are mean absolute errors of marginals, CPU seconds
are those of one thread, and both methods take turns.
"""

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import herded as hd
from herded.run.selection.recommendation import DEFAULT_UPDATES, recommend_single_site

TITLE = "# Tempering"
SEEDS = 6
ROOM = "8G"  # for exact answers
LADDERS: dict[str, tuple[Any, int, int]] = {  # rungs, hottest_beta; sweeps, burn-in
    "grid 20x20, J up to 4": ((8, 0.1), 10_000, 2_000),
    "cube 5^3, J = +-1.3": ((8, 0.1), 12_000, 2_000),
    "60 variables of 4 states": ((8, 0.1), 4_000, 1_000),
    "Grids_11": ((8, 0.1), 12_000, 2_000),
    "Grids_12": ((8, 0.1), 12_000, 2_000),
    "Grids_15": ((8, 0.1), 8_000, 1_000),
    "Grids_17": ((8, 0.1), 20_000, 3_000),
    "DBN_11": ((8, 0.1), 50_000, 5_000),
    "DBN_14": ((8, 0.1), 3_000, 1_000),
    "Promedus_11": ((16, 0.1), 4_000, 1_000),
    "Promedus_12": ((16, 0.1), 4_000, 1_000),
    "Promedus_13": ((16, 0.1), 4_000, 1_000),
    "Pedigree_12": ((16, 0.1), 4_000, 1_000),
}


def lines(quick: bool) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    seeds = 1 if quick else SEEDS
    models = {name: model for name, model in _models() if name in LADDERS}
    if quick:
        models = {name: models[name] for name in list(models)[2:3]}
    yield (
        "Means of "
        f"{seeds} seeds, and the worst of them in brackets; CPU of `hd.Tempered(rungs=, "
        "hottest_beta=)` over that of what `hd.recommend` makes of single moves, with its pilot "
        "and run."
    )
    yield ""
    yield "| model | recommended | ladder, sweeps | tempered | CPU s | ratio | blocks | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, model in models.items():
        yield _row(name, model, seeds, quick)
    yield ""
    yield from _floor(1 if quick else 3, 1_000 if quick else 20_000)


def _row(name: str, model: Any, seeds: int, quick: bool) -> str:
    truth = exact(model)
    (rungs, hottest_beta), sweeps, burn_in = LADDERS[name]
    if quick:
        sweeps, burn_in = 300, 100
    kinds = {
        "single": lambda seed: recommend_single_site(
            model, 2_000 if quick else DEFAULT_UPDATES, seed=seed
        ),
        "tempered": lambda seed: hd.Tempered(hd.Gibbs(seed=seed), rungs, hottest_beta),
        "blocks": lambda seed: hd.Tempered(hd.Gibbs(seed=seed, moves=hd.Blocks()), 8),
    }
    if not model.has_hard_zeros:
        del kinds["blocks"]
    errors: dict[str, list[float]] = {kind: [] for kind in kinds}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for seed in range(-1, seeds):  # the first compiles
        for kind, make in kinds.items():
            length: dict[str, Any] = (
                {} if kind == "single" else {"sweeps": sweeps, "burn_in": burn_in}
            )
            if kind == "blocks":
                length = {"sweeps": sweeps // 5, "burn_in": burn_in // 5}
            began = time.process_time()
            found = _marginals(model, make(abs(seed)), length)
            if seed >= 0:
                seconds[kind].append(time.process_time() - began)
                errors[kind].append(float(np.abs(found - truth)[_real(model)].mean()))
    single = float(np.mean(seconds["single"]))

    def told(kind: str) -> str:
        return f"{np.mean(errors[kind]):.4f} ({max(errors[kind]):.4f})" if kind in kinds else "-"

    def ratio(kind: str) -> str:
        return f"{np.mean(seconds[kind]) / single:.2f}" if kind in kinds else "-"

    return (
        f"| {name} | {told('single')} | {rungs}, {hottest_beta}, {sweeps:,} | {told('tempered')} | "
        f"{np.mean(seconds['tempered']):.2f} | {ratio('tempered')} | {told('blocks')} | "
        f"{ratio('blocks')} |"
    )


def _marginals(model: Any, method: Any, length: dict[str, Any]) -> np.ndarray:
    keep = [hd.Marginals(rao_blackwell=True)]
    result = hd.infer(model, method, keep=keep, threads=1, progress=False, **length)
    return result.marginals.reshape(model.n_variables, -1)


def _real(model: Any) -> np.ndarray:
    """The entries that stand for something unknown."""
    width = int(model.cardinalities.max())
    real = np.arange(width) < model.cardinalities[:, None]
    return real & (model.evidence < 0)[:, None]


def _floor(seeds: int, first: int) -> Iterator[str]:
    """Whether errors go on falling: herding in time under tempering had a floor at 3.3e-3."""
    model = grid(6, 1.0, 1.0, 1)
    truth = exact(model)
    yield "| grid 6x6, J and h up to 1: sweeps | tempered | drawn, one chain |"
    yield "|---|---|---|"
    for sweeps in (first, 10 * first):
        errors = [
            np.mean(
                [
                    np.abs(
                        _marginals(model, make(seed), {"sweeps": sweeps, "burn_in": 1_000}) - truth
                    )
                    for seed in range(seeds)
                ]
            )
            for make in (lambda s: hd.Tempered(hd.Gibbs(seed=s)), lambda s: hd.Gibbs(seed=s))
        ]
        yield f"| {sweeps:,} | {errors[0]:.2e} | {errors[1]:.2e} |"


# -- models -----------------------------------------------------------------------------------


def _models() -> Iterator[tuple[str, Any]]:
    """Those made here, then those of the folder."""
    yield "grid 20x20, J up to 4", grid(20, 4.0, 1.0, 0)
    yield "cube 5^3, J = +-1.3", cube(5, 1.3, 2)
    yield "60 variables of 4 states", many_states(60, 4, 3)
    folder = os.environ.get("HERDED_UAI")
    for path in sorted(Path(folder).rglob("*.uai")) if folder else ():
        model, evidence = hd.read_model(path), Path(f"{path}.evid")
        yield path.stem, model.given(hd.io.read_evidence(evidence)) if evidence.exists() else model


def grid(side: int, coupling: float, field: float, seed: int) -> hd.Lattice:
    """An Ising grid whose couplings and fields are uniform up to these."""
    rng = np.random.default_rng(seed)
    couplings = (
        rng.uniform(-coupling, coupling, (side, side - 1)),
        rng.uniform(-coupling, coupling, (side - 1, side)),
    )
    return hd.ising_grid(rng.uniform(-field, field, (side, side)), couplings)


def cube(side: int, coupling: float, seed: int) -> hd.Lattice:
    """A cube whose couplings are of one size and either sign."""
    rng = np.random.default_rng(seed)
    shapes = [tuple(side - (a == axis) for a in range(3)) for axis in (2, 1, 0)]
    couplings = tuple(coupling * rng.choice([-1.0, 1.0], shape) for shape in shapes)
    return hd.ising_grid(rng.uniform(-0.5, 0.5, (side,) * 3), couplings)


def many_states(n: int, states: int, seed: int) -> hd.FactorGraph:
    """A ring with chords and strong random tables."""
    rng = np.random.default_rng(seed)
    edges = [(i, (i + step) % n) for step in (1, 2) for i in range(n)]
    return hd.FactorGraph([states] * n, [(e, 3 * rng.normal(size=(states,) * 2)) for e in edges])


_EXACT: dict[str, np.ndarray] = {}


def exact(model: Any) -> np.ndarray:
    """The exact marginals (N, K)."""
    if model.content_hash not in _EXACT:
        found = hd.infer(model, hd.Exact(), max_memory=ROOM, progress=False).marginals
        _EXACT[model.content_hash] = found.reshape(model.n_variables, -1)
    return _EXACT[model.content_hash]
