"""The models that herds are tried on: all families, at most 100 variables, exact answers.

Every model has a stream of random numbers of its own, named by its place in the list. Networks
in files are read where they are found: in the folder HERDED_BIF, or in pgmpy's package.
"""

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np

import herded as hd
from benchmarks.support.random_models import (
    Edges,
    band,
    cliques,
    grid,
    hard,
    hubs,
    ising,
    potts,
    triples,
)

Maker = Callable[[np.random.Generator], hd.FactorGraph]
NETWORKS = ("asia", "cancer", "child", "earthquake", "sachs", "survey", "alarm", "insurance")
SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])
SOFT = -6.0  # log of what a soft zero still weighs


def ring(n: int) -> Edges:
    return [(i, (i + 1) % n) for i in range(n)]


def torus(height: int, width: int) -> Edges:
    number = np.arange(height * width).reshape(height, width)
    return [
        (int(a), int(b))
        for axis in (1, 0)
        for a, b in zip(number.ravel(), np.roll(number, -1, axis).ravel(), strict=True)
    ]


def tree(n: int, rng: np.random.Generator) -> Edges:
    return [(int(rng.integers(0, i)), i) for i in range(1, n)]


def regular(n: int, degree: int, rng: np.random.Generator) -> Edges:
    return list(nx.random_regular_graph(degree, n, seed=int(rng.integers(2**31))).edges())


def complete(n: int) -> Edges:
    return [(i, j) for j in range(n) for i in range(j)]


def constant(edges: Edges, coupling: float, field: float = 0.0) -> hd.FactorGraph:
    """One coupling and one field for all."""
    n = 1 + max(map(max, edges))
    return hd.pairwise_model(np.tile([-field, field], (n, 1)), edges, coupling * SPINS)


def alike(
    edges: Edges, states: int, coupling: float, field: float, rng: np.random.Generator
) -> hd.FactorGraph:
    """Potts: neighbours like to be the same."""
    n = 1 + max(map(max, edges))
    return hd.pairwise_model(rng.normal(0, field, (n, states)), edges, coupling * np.eye(states))


def mixed(edges: Edges, scale: float, rng: np.random.Generator) -> hd.FactorGraph:
    """Two to six states, side by side."""
    cards = rng.integers(2, 7, 1 + max(map(max, edges)))
    factors = [((i,), rng.normal(0, 0.5, k)) for i, k in enumerate(cards)]
    factors += [((i, j), rng.normal(0, scale, (cards[i], cards[j]))) for i, j in edges]
    return hd.FactorGraph(cards.tolist(), factors)


def fours(n: int, scale: float, rng: np.random.Generator) -> hd.FactorGraph:
    """Two or three states, factors of four variables that lie within seven of each other."""
    cards = rng.integers(2, 4, n)
    scopes = [
        (i, *(i + 1 + np.sort(rng.choice(6, 3, replace=False))).tolist()) for i in range(n - 6)
    ]
    factors = [((i,), rng.normal(0, 0.5, k)) for i, k in enumerate(cards)]
    factors += [(scope, rng.normal(0, scale, cards[list(scope)])) for scope in scopes]
    return hd.FactorGraph(cards.tolist(), factors)


def net(
    n: int, parents: int, rng: np.random.Generator, *, even: float = 1.0, zeros: float = 0.0
) -> hd.FactorGraph:
    """A Bayes net: rows of its tables are Dirichlet(even), and a share of their entries zero."""
    cards = rng.integers(2, 5, n)
    factors = []
    for i in range(n):
        near = np.arange(max(0, i - 8), i)
        above = np.sort(rng.choice(near, min(len(near), rng.integers(0, parents + 1)), False))
        shape = [*(cards[above]), cards[i]]
        rows = rng.dirichlet(np.full(cards[i], even), shape[:-1]) + 1e-9
        rows = rows * (rng.random(shape) >= zeros)
        rows[..., 0] += 1e-3 * (rows.sum(axis=-1) == 0)
        with np.errstate(divide="ignore"):
            log_rows = np.log(rows / rows.sum(axis=-1, keepdims=True))
        factors.append(((*above.tolist(), i), log_rows))
    return hd.FactorGraph(cards.tolist(), factors)


def alarms(rng: np.random.Generator, rare: float) -> hd.FactorGraph:
    """Rare causes, one alarm that either sets off, and witnesses of it."""
    causes = [
        ((i,), np.log([1 - rare * p, rare * p])) for i, p in enumerate(rng.uniform(0.5, 2, 2))
    ]
    rings = np.stack([1 - (p := rng.uniform([[0.001, 0.3], [0.9, 0.95]], 0.999)), p], axis=-1)
    heard = [
        np.array([[1 - a, a], [1 - b, b]]) for a, b in rng.uniform([0.01, 0.7], [0.1, 0.95], (3, 2))
    ]
    witnesses = [((2, 3 + k), np.log(table)) for k, table in enumerate(heard)]
    return hd.FactorGraph([2] * 6, [*causes, ((0, 1, 2), np.log(rings)), *witnesses])


def soft(model: hd.FactorGraph) -> hd.FactorGraph:
    """The same with its zeros made small instead."""
    factors = [model.factor(f) for f in range(model.n_factors)]
    return hd.FactorGraph(
        model.cardinalities.tolist(),
        [(scope.tolist(), np.maximum(table, SOFT)) for scope, table in factors],
    )


def told(model: hd.FactorGraph, share: float, rng: np.random.Generator) -> hd.FactorGraph:
    """With evidence on a share of the variables, at states of a state that is possible."""
    chosen = rng.permutation(model.n_variables)[: max(1, round(share * model.n_variables))]
    run = hd.infer(model, hd.Gibbs(seed=1), sweeps=50, keep=[hd.Samples()], progress=False)
    possible = run.samples[0, -1]
    return model.given({int(i): int(possible[i]) for i in chosen})


def spins() -> Iterator[tuple[str, Maker]]:
    for scale in (0.1, 0.3, 0.5, 0.7, 1.0, 1.5):
        yield f"grid 10x10, J and h to {scale}", lambda r, s=scale: ising(grid(10, 10), s, r)
    for scale in (0.2, 0.5, 0.8):
        yield (
            f"grid 8x12, attracting to {scale}",
            lambda r, s=scale: ising(grid(8, 12), s, r, field=0.5, attract=True),
        )
    for scale in (0.3, 0.7):
        yield (
            f"grid 7x10, 8 neighbours, J to {scale}",
            lambda r, s=scale: ising(grid(7, 10, True), s, r),
        )
    for scale in (0.3, 0.7, 1.2):
        yield f"torus 6x10, J and h to {scale}", lambda r, s=scale: ising(torus(6, 10), s, r)
    for n, scale in ((8, 1.0), (20, 0.5), (50, 1.0), (100, 0.3), (100, 2.0)):
        yield f"ring of {n}, J to {scale}", lambda r, n=n, s=scale: ising(ring(n), s, r)
    for n, scale in ((30, 0.5), (60, 1.0), (100, 0.3), (100, 2.0)):
        yield f"tree of {n}, J to {scale}", lambda r, n=n, s=scale: ising(tree(n, r), s, r)
    for n, degree in ((60, 2), (50, 3), (40, 4), (34, 6), (28, 8), (26, 10), (24, 12)):
        for strength in (0.5, 1.2):
            yield (
                f"{n} of degree {degree}, {strength}",
                lambda r, n=n, d=degree, s=strength: ising(
                    regular(n, d, r), s * 1.7 / d**0.5, r, field=0.5
                ),
            )
    for n, scale in ((5, 0.5), (8, 0.5), (12, 0.3), (16, 0.2), (20, 0.3)):
        yield (
            f"complete graph of {n}, J to {scale}",
            lambda r, n=n, s=scale: ising(complete(n), s, r, field=0.5),
        )
    yield "band of 60, 8 neighbours", lambda r: ising(band(60, 4), 0.4, r)
    yield "chain of 90 with 3 hubs", lambda r: ising(hubs(90, 3), 0.2, r)


def no_fields() -> Iterator[tuple[str, Maker]]:
    for n, coupling in ((8, 0.5), (8, 1.0), (40, 0.5)):
        yield (
            f"ring of {n}, J = {coupling}, no field",
            lambda _, n=n, j=coupling: constant(ring(n), j),
        )
    for coupling in (0.2, 0.4, 0.5):
        yield f"torus 6x8, J = {coupling}, no field", lambda _, j=coupling: constant(torus(6, 8), j)
    yield "grid 8x8, J to 1, no field", lambda r: ising(grid(8, 8), 1.0, r, field=0.0)
    yield "degree 4, J to 0.5, no field", lambda r: ising(regular(40, 4, r), 0.5, r, field=0.0)
    yield "Potts 5x8, K = 3, J = 0.6, no field", lambda r: alike(grid(5, 8), 3, 0.6, 0.0, r)


def many_states() -> Iterator[tuple[str, Maker]]:
    for states, coupling in ((3, 0.5), (3, 0.9), (4, 0.8), (5, 0.5)):
        yield (
            f"Potts 5x8, K = {states}, J = {coupling}",
            lambda r, k=states, j=coupling: alike(grid(5, 8), k, j, 0.5, r),
        )
    for states, scale in ((3, 0.3), (3, 1.0), (4, 0.7), (8, 0.5)):
        yield (
            f"grid 4x10, K = {states}, pairs to {scale}",
            lambda r, k=states, s=scale: potts(grid(4, 10), k, s, r),
        )
    yield "Potts ring of 60, K = 6", lambda r: alike(ring(60), 6, 1.0, 0.5, r)
    yield "cliques of 5, K = 6", lambda r: potts(cliques(8, 5), 6, 0.5, r)
    yield "cliques of 7, K = 3", lambda r: potts(cliques(8, 7), 3, 0.4, r)
    for scale in (0.4, 1.0):
        yield f"tree of 50, 2 to 6 states, {scale}", lambda r, s=scale: mixed(tree(50, r), s, r)
        yield f"grid 4x10, 2 to 6 states, {scale}", lambda r, s=scale: mixed(grid(4, 10), s, r)
    for scale in (0.3, 0.8):
        yield f"triples, 2 to 4 states, {scale}", lambda r, s=scale: triples(40, s, r)
        yield f"fours, 2 or 3 states, {scale}", lambda r, s=scale: fours(40, s, r)


def nets() -> Iterator[tuple[str, Maker]]:
    for n, parents, even in ((10, 2, 1.0), (20, 3, 1.0), (40, 2, 1.0), (40, 3, 0.5), (80, 2, 2.0)):
        yield (
            f"net of {n}, {parents} parents, even {even}",
            lambda r, a=(n, parents), e=even: net(*a, r, even=e),
        )
    yield "net of 20, nearly certain", lambda r: net(20, 2, r, even=0.2)
    yield "net of 30, a tenth zeros", lambda r: net(30, 2, r, zeros=0.1)
    for rare in (0.01, 0.1):
        yield f"alarm, causes of {rare}", lambda r, p=rare: alarms(r, p)
    yield "net of 40, a fifth known", lambda r: told(net(40, 2, r), 0.2, r)
    yield "net of 20, leaves known", lambda r: told(net(20, 3, r, even=0.5), 0.3, r)
    yield "grid 10x10, a fifth known", lambda r: told(ising(grid(10, 10), 0.8, r), 0.2, r)
    yield (
        "cliques of 5, K = 6, a tenth known",
        lambda r: told(potts(cliques(8, 5), 6, 0.7, r), 0.1, r),
    )


def zeros() -> Iterator[tuple[str, Maker]]:
    yield "hard zeros, K = 2, 5 %", lambda r: hard(40, 2, 0.05, r)
    yield "hard zeros, K = 3, 10 %", lambda r: hard(40, 3, 0.1, r)
    yield "hard zeros, K = 5, 20 %", lambda r: hard(40, 5, 0.2, r)
    yield "soft zeros, K = 2, 10 %", lambda r: soft(hard(40, 2, 0.1, r))
    yield "soft zeros, K = 3, 20 %", lambda r: soft(hard(40, 3, 0.2, r))
    yield "soft zeros, K = 5, 40 %", lambda r: soft(hard(40, 5, 0.4, r))


def networks() -> Iterator[tuple[str, Maker]]:
    """Those of bnlearn's repository that are found, without evidence."""
    folder = os.environ.get("HERDED_BIF")
    if folder is None:
        spec = importlib.util.find_spec("pgmpy")
        places = spec.submodule_search_locations if spec else None
        folder = str(Path(places[0]) / "utils" / "example_models") if places else ""
    for name in NETWORKS:
        for path in (Path(folder) / f"{name}.bif", Path(folder) / f"{name}.bif.gz"):
            if folder and path.exists():
                yield f"network {name}", lambda _, path=path: hd.read_model(path)
                break


def models() -> Iterator[tuple[str, hd.FactorGraph]]:
    """All of them, by name."""
    for _, name, model in families():
        yield name, model


def families() -> Iterator[tuple[str, str, hd.FactorGraph]]:
    """All of them, by family and name."""
    kinds = {
        "spins": spins,
        "no fields": no_fields,
        "more states": many_states,
        "nets": nets,
        "zeros": zeros,
    }
    makers = [(kind, *one) for kind, of in kinds.items() for one in of()]
    for number, (kind, name, make) in enumerate(makers):
        yield kind, name, make(np.random.default_rng([11, number]))
    for name, make in networks():
        yield "nets", name, make(np.random.default_rng(0))
