"""More models for herds: drawn at random from all families, none of them in `model_families`.

What is chosen on one set of models is checked on another. Sizes, strengths and graphs are random
here, and every number makes another set; models have 4 to 100 variables and exact answers.
"""

from collections.abc import Iterator

import networkx as nx
import numpy as np

import herded as hd
from benchmarks.support.model_families import (
    Maker,
    alarms,
    alike,
    complete,
    constant,
    fours,
    mixed,
    net,
    regular,
    ring,
    soft,
    told,
    torus,
    tree,
)
from benchmarks.support.random_models import band, cliques, grid, hard, hubs, ising, potts, triples

COUNT = 96  # models of a set
LARGEST = 2**22  # bytes of exact inference
Rng = np.random.Generator


def between(low: float, high: float, rng: Rng) -> float:
    """Log-uniform."""
    return float(low * (high / low) ** rng.random())


def random_graph(n: int, degree: float, rng: Rng) -> list[tuple[int, int]]:
    """A tree, so that it hangs together, and random edges up to a mean degree."""
    edges = set(tree(n, rng))
    while len(edges) < degree * n / 2:
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        edges.add((i, j))
    return sorted(edges)


def grid_of_spins(rng: Rng) -> hd.FactorGraph:
    height, width = int(rng.integers(3, 10)), int(rng.integers(4, 11))
    edges = grid(height, width, diagonal=bool(height < 8 and rng.random() < 0.3))
    return ising(
        edges,
        between(0.1, 1.2, rng),
        rng,
        field=between(0.1, 1.5, rng),
        attract=bool(rng.random() < 0.3),
    )


def round_grid(rng: Rng) -> hd.FactorGraph:
    edges = torus(int(rng.integers(3, 7)), int(rng.integers(5, 13)))
    return ising(edges, between(0.1, 1.0, rng), rng, field=between(0.1, 1.0, rng))


def sparse_spins(rng: Rng) -> hd.FactorGraph:
    n = int(rng.integers(12, 60))
    edges = random_graph(n, rng.uniform(2, 3 if n > 35 else 5), rng)
    return ising(edges, between(0.1, 1.5, rng), rng, field=between(0.1, 1.0, rng))


def small_world(rng: Rng) -> hd.FactorGraph:
    n = int(rng.integers(14, 50))
    graph = nx.connected_watts_strogatz_graph(n, 4, 0.1, seed=int(rng.integers(2**31)))
    edges = [(int(a), int(b)) for a, b in graph.edges()]
    return ising(edges, between(0.1, 0.8, rng), rng, field=0.5)


def dense_spins(rng: Rng) -> hd.FactorGraph:
    n = int(rng.integers(4, 19))
    edges = complete(n) if rng.random() < 0.5 else regular(2 * n + 4, 4, rng)
    return ising(edges, between(0.2, 1.5, rng) / n**0.5, rng, field=between(0.1, 1.0, rng))


def line_of_spins(rng: Rng) -> hd.FactorGraph:
    n = int(rng.integers(5, 101))
    kind = rng.integers(4)
    if kind == 3:
        return ising(hubs(max(8, n - 3), int(rng.integers(1, 4))), between(0.1, 0.5, rng), rng)
    edges = (ring(n), tree(n, rng), band(n, int(rng.integers(2, 6))))[kind]
    return ising(edges, between(0.1, 1.5 if kind < 2 else 0.6, rng), rng)


def alike_without_field(rng: Rng) -> hd.FactorGraph:
    edges = (
        ring(int(rng.integers(5, 60))),
        torus(int(rng.integers(3, 6)), int(rng.integers(4, 10))),
        complete(int(rng.integers(4, 14))),
        grid(int(rng.integers(3, 8)), int(rng.integers(3, 8))),
    )[rng.integers(4)]
    n = 1 + max(map(max, edges))
    return constant(edges, between(0.1, 1.6, rng) / max(2, 2 * len(edges) / n) ** 0.9)


def likes(rng: Rng) -> hd.FactorGraph:
    """Potts, with fields or without."""
    states = int(rng.integers(3, 9))
    edges = (
        grid(int(rng.integers(2, 5)), int(rng.integers(5, 12))),
        ring(int(rng.integers(6, 80))),
        random_graph(int(rng.integers(8, 22)), 3, rng),
    )[rng.integers(3)]
    return alike(edges, states, between(0.3, 1.0, rng), float(rng.choice([0.0, 0.3, 1.0])), rng)


def ladder(rng: Rng) -> hd.FactorGraph:
    """Ordered states on a grid: what neighbours pay grows with the difference, up to a bound."""
    states = int(rng.integers(4, 10))
    steps = np.abs(np.subtract.outer(np.arange(states), np.arange(states)))
    edges = grid(int(rng.integers(2, 4)), int(rng.integers(5, 20)))
    n = 1 + max(map(max, edges))
    tables = -between(0.2, 1.0, rng) * np.minimum(steps, int(rng.integers(1, 4)))
    return hd.pairwise_model(rng.normal(0, 0.7, (n, states)), edges, tables)


def spread_pairs(rng: Rng) -> hd.FactorGraph:
    states = int(rng.integers(3, 7))
    edges = (
        grid(int(rng.integers(2, 5)), int(rng.integers(5, 12))),
        cliques(int(rng.integers(3, 9)), int(rng.integers(3, 6))),
        band(int(rng.integers(10, 60)), int(rng.integers(1, 4))),
    )[rng.integers(3)]
    return potts(edges, states, between(0.2, 1.0, rng), rng)


def side_by_side(rng: Rng) -> hd.FactorGraph:
    n = int(rng.integers(8, 60))
    edges = tree(n, rng) if rng.random() < 0.4 else random_graph(min(n, 24), 2.6, rng)
    return mixed(edges, between(0.3, 1.2, rng), rng)


def larger_factors(rng: Rng) -> hd.FactorGraph:
    n, scale = int(rng.integers(12, 40)), between(0.2, 1.0, rng)
    return triples(n, scale, rng) if rng.random() < 0.5 else fours(n, scale, rng)


def random_net(rng: Rng) -> hd.FactorGraph:
    n, parents = int(rng.integers(5, 70)), int(rng.integers(1, 4))
    model = net(n, parents, rng, even=between(0.3, 3.0, rng))
    return told(model, 0.2, rng) if rng.random() < 0.4 else model


def net_with_zeros(rng: Rng) -> hd.FactorGraph:
    return net(int(rng.integers(5, 40)), 2, rng, even=1.0, zeros=rng.uniform(0.03, 0.2))


def rare_causes(rng: Rng) -> hd.FactorGraph:
    return alarms(rng, between(0.003, 0.3, rng))


def symptoms(rng: Rng) -> hd.FactorGraph:
    """Noisy or: some diseases, findings that several of them cause, and some findings known."""
    diseases, findings = int(rng.integers(4, 10)), int(rng.integers(4, 16))
    factors = [
        ((d,), np.log([1 - p, p]))
        for d, p in enumerate(between(0.02, 0.3, rng) * np.ones(diseases))
    ]
    for f in range(findings):
        causes = np.sort(rng.choice(diseases, int(rng.integers(1, 4)), replace=False))
        fails = rng.uniform(0.1, 0.8, len(causes))
        states = np.stack(np.unravel_index(np.arange(2 ** len(causes)), (2,) * len(causes)), axis=1)
        off = 0.98 * np.prod(fails**states, axis=1)
        table = np.log(np.stack([off, 1 - off], axis=1)).reshape((2,) * (len(causes) + 1))
        factors.append(((*causes.tolist(), diseases + f), table))
    model = hd.FactorGraph([2] * (diseases + findings), factors)
    return told(model, 0.4, rng)


def hidden_chain(rng: Rng) -> hd.FactorGraph:
    """A hidden Markov chain that likes to stay, with what was seen of it."""
    n, states = int(rng.integers(10, 100)), int(rng.integers(2, 6))
    stay = rng.uniform(0.4, 0.9)
    moves = np.log(stay * np.eye(states) + (1 - stay) / states)
    seen = rng.normal(0, between(0.3, 1.5, rng), (n, states))
    return hd.pairwise_model(seen, [(i, i + 1) for i in range(n - 1)], moves)


def parities(rng: Rng) -> hd.FactorGraph:
    """Soft parity checks over three or four bits, and noisy bits."""
    n = int(rng.integers(8, 24))
    scale = between(0.3, 1.2, rng)
    factors = [((i,), rng.normal(0, 0.6, 2)) for i in range(n)]
    for _ in range(n // 2):
        scope = np.sort(rng.choice(n, int(rng.integers(3, 5)), replace=False))
        odd = np.indices((2,) * len(scope)).sum(axis=0) % 2
        factors.append((tuple(scope.tolist()), scale * (1.0 - 2.0 * odd)))
    return hd.FactorGraph([2] * n, factors)


def walls(rng: Rng) -> hd.FactorGraph:
    states = int(rng.integers(2, 6))
    share = rng.uniform(0.02, 0.05 * states)
    return hard(int(rng.integers(10, 50)), states, share, rng)


def low_walls(rng: Rng) -> hd.FactorGraph:
    return soft(walls(rng))


KINDS: dict[str, tuple[Maker, ...]] = {
    "spins": (
        grid_of_spins,
        round_grid,
        sparse_spins,
        small_world,
        dense_spins,
        line_of_spins,
    ),
    "no fields": (alike_without_field,),
    "more states": (likes, ladder, spread_pairs, side_by_side, larger_factors),
    "nets": (random_net, rare_causes, symptoms, hidden_chain, parities),
    "zeros": (walls, low_walls, net_with_zeros),
}


def families(count: int = COUNT, number: int = 1) -> Iterator[tuple[str, str, hd.FactorGraph]]:
    """Models of a set by family and name, the kinds in turn."""
    makers = [(kind, make) for kind, of in KINDS.items() for make in of]
    for k in range(count):
        kind, make = makers[k % len(makers)]
        rng = np.random.default_rng([12, number, k])
        model = make(rng)
        while not solvable(model):
            model = make(rng)
        yield kind, f"{make.__name__.replace('_', ' ')} {k // len(makers)}", model


def solvable(model: hd.FactorGraph) -> bool:
    """Whether it has at most 100 variables, and exact answers come at once."""
    if model.n_variables > 100:
        return False
    try:
        hd.Exact().compile(model, max_memory=LARGEST)
    except hd.MemoryLimitError:
        return False
    return True
