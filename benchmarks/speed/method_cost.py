"""CPU nanoseconds per update on one thread, each method beside Gibbs on the same layout."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import herded as hd


def random_graph(n: int, degree: int, states: int, rng: np.random.Generator) -> hd.FactorGraph:
    """A random pairwise model with about n * degree / 2 edges."""
    ends = np.unique(np.sort(rng.integers(0, n, (n * degree, 2)), axis=1), axis=0)
    ends = rng.permutation(ends[ends[:, 0] != ends[:, 1]])[: n * degree // 2]
    tables = 0.5 * rng.normal(size=(len(ends), states, states))
    return hd.pairwise_model(0.3 * rng.normal(size=(n, states)), ends, tables)


def works() -> dict[str, tuple[Any, str, int, dict[str, Any]]]:
    """Name -> (model, layout, sweeps of a repeat, methods besides Gibbs)."""
    rng = np.random.default_rng(0)
    pooled = hd.HerdedGibbs(weights="pooled")
    blanket, shared = hd.HerdedGibbs(), hd.HerdedGibbs(weights="shared")
    grid = hd.ising_grid(rng.normal(size=(512, 512)), 0.3)
    unequal = rng.uniform(0.2, 0.4, (512, 511)), rng.uniform(0.2, 0.4, (511, 512))
    uneven = hd.ising_grid(rng.normal(size=(512, 512)), unequal)
    tables = {"blanket": blanket, "pooled": pooled, "slack 1": hd.HerdedGibbs(slack=1.0)}
    lazy = hd.HerdedGibbs(weights="lazy")
    sums = {
        "pooled": pooled,
        "lazy": lazy,
        "pooled, slack 1.5": hd.HerdedGibbs(weights="pooled", slack=1.5),
    }
    lengths = rng.integers(5, 43, 2_773)  # sentences
    unary, pair = rng.normal(size=(lengths.sum(), 4)), rng.normal(size=(4, 4))
    chains = hd.chain_model(unary, pair, lengths=lengths)
    small = hd.ising_grid(rng.normal(size=(10, 10)), 0.3).as_factor_graph()
    return {
        "Ising 512x512": (grid, "grid", 24, {"shared": shared, "blanket": blanket}),
        "Ising 512x512, unequal couplings": (uneven, "grid", 24, {"blanket": blanket}),
        "Ising 10x10": (small, "table", 5_000, tables),
        "10,000 binary, degree 4": (random_graph(10_000, 4, 2, rng), "table", 50, tables),
        "200 of 3 states, degree 4": (random_graph(200, 4, 3, rng), "table", 1_000, tables),
        "10,000 binary, degree 6": (random_graph(10_000, 6, 2, rng), "factor", 30, sums),
        "200 of 4 states, degree 6": (random_graph(200, 6, 4, rng), "factor", 500, sums),
        "2,773 chains, 4 states": (chains, "table", 16, {"blanket": blanket, "lazy": lazy}),
        "the same chains": (chains, "factor", 16, {"pooled": pooled, "lazy": lazy}),
    }


def lines(quick: bool) -> Iterator[str]:
    yield "## Cost"
    yield ""
    repeats = 3 if quick else 9
    yield f"CPU ns per update, one thread, medians of {repeats} alternating repeats"
    yield ""
    yield "| work | layout | method | ns | over Gibbs |"
    yield "|---|---|---|---|---|"
    for name, (model, kind, sweeps, methods) in works().items():
        timed = {"Gibbs": _Timed(model, kind, sweeps, hd.Gibbs())}
        timed |= {label: _Timed(model, kind, sweeps, m) for label, m in methods.items()}
        for _ in range(repeats):
            for one in timed.values():
                one.repeat()
        base = timed["Gibbs"].median
        for label, one in timed.items():
            yield f"| {name} | {kind} | {label} | {one.median:.1f} | {one.median / base:.2f} |"


class _Timed:
    """A method on a model, ready to sweep; the first sweeps compile and do not count."""

    def __init__(self, model: Any, kind: str, sweeps: int, method: Any) -> None:
        self.method, self.layout = method, method.compile(model, kind=kind)
        self.state = method.init(self.layout, np.zeros(model.n_variables, int))
        self.block = np.zeros((sweeps, self.layout.n_stored), self.layout.state_type)
        self.updates = sweeps * model.n_variables
        self.nanoseconds: list[float] = []
        method.advance(self.layout, self.state, self.block[:2])

    def repeat(self) -> None:
        began = time.process_time()
        self.method.advance(self.layout, self.state, self.block)
        self.nanoseconds.append((time.process_time() - began) / self.updates * 1e9)

    @property
    def median(self) -> float:
        return float(np.median(self.nanoseconds))
