"""Herds on pair models of many states: CPU nanoseconds per update on every layout that can.

A grid of Potts couplings that differ, a model in which all variables are neighbours (as in object
detection), and random graphs with a table for each edge.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd
from benchmarks.speed.grids_3d import HERD, ours
from benchmarks.speed.many_states import ManyStates
from benchmarks.support.timing import nanoseconds

ALONE = "Gibbs, pairs"
MOST_ENTRIES = 2**20  # of tables that are tried


def uneven_potts(side: int, states: int) -> hd.FactorGraph:
    """A square grid as a graph of pairs."""
    rng, index = np.random.default_rng(0), np.arange(side * side).reshape(side, side)
    rows = np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], axis=1)
    columns = np.stack([index[:-1].ravel(), index[1:].ravel()], axis=1)
    edges = np.concatenate([rows, columns])
    tables = rng.uniform(0, 1, (len(edges), 1, 1)) * np.eye(states)
    return hd.pairwise_model(0.3 * rng.normal(size=(side * side, states)), edges, tables)


def complete(n: int, states: int) -> hd.FactorGraph:
    """All variables are neighbours."""
    rng, edges = np.random.default_rng(1), list(itertools.combinations(range(n), 2))
    tables = 0.3 * rng.normal(size=(len(edges), states, states))
    return hd.pairwise_model(0.3 * rng.normal(size=(n, states)), edges, tables)


def models(quick: bool) -> Iterator[tuple[str, Any]]:
    side, n, nodes = (8, 10, 200) if quick else (64, 60, 10_000)
    for states in (3, 8):
        yield f"Potts {side}x{side}, couplings differ, K = {states}", uneven_potts(side, states)
    yield f"complete graph of {n}, K = 16", complete(n, 16)
    for states in (3, 5):
        name = f"random graph of {nodes:,}, degree 6, K = {states}"
        yield name, ManyStates(states, False, nodes).model


def works(model: Any, sweeps: int) -> dict[str, Callable[[], None]]:
    """One chain, and herds on the layouts that take the model."""
    found = {ALONE: ours(model, hd.Gibbs(), "pairs", sweeps)}
    for kind in ("pairs", "table", "factor"):
        name = f"Gibbs(herd={HERD}), {kind}"
        if kind != "table" or table_entries(model) <= MOST_ENTRIES:
            found[name] = ours(model, hd.Gibbs(herd=HERD), kind, sweeps)
    return found


def table_entries(model: Any) -> float:
    """Entries of all conditionals, tabulated."""
    states = float(model.cardinalities.max())
    degrees = [len(model.neighbours(i)) for i in range(model.n_variables)]
    return float(sum(states ** (degree + 1) for degree in degrees))


def lines(quick: bool) -> Iterator[str]:
    repeats = 1 if quick else 5
    yield "## Herds of many states"
    yield ""
    yield f"CPU ns per update, medians of {repeats} in turns; over one chain on layout pairs"
    yield ""
    yield "| work | method | ns | over one chain |"
    yield "|---|---|---|---|"
    for name, model in models(quick):
        sweeps = max(1, 20_000 // model.n_variables)
        found = nanoseconds(
            works(model, sweeps), updates=model.n_variables * sweeps, repeats=repeats
        )
        for method, cost in found.items():
            each = cost / (HERD if "herd=" in method else 1)
            yield f"| {name} | {method} | {each:.1f} | {each / found[ALONE]:.2f} |"
