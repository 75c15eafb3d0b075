"""Random models of many shapes, all small enough for exact answers."""

from collections.abc import Callable, Iterable

import numpy as np

import herded as hd

SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])
Edges = list[tuple[int, int]]


def grid(height: int, width: int, diagonal: bool = False) -> Edges:
    """Neighbours in a picture, four or eight of each pixel."""
    steps = [(0, 1), (1, 0), *([(1, 1), (1, -1)] if diagonal else [])]
    return [
        (r * width + c, (r + down) * width + c + right)
        for r in range(height)
        for c in range(width)
        for down, right in steps
        if r + down < height and 0 <= c + right < width
    ]


def band(n: int, reach: int) -> Edges:
    """Each variable tied to the `reach` before it and the `reach` after it."""
    return [(i, j) for j in range(n) for i in range(max(0, j - reach), j)]


def cliques(count: int, size: int) -> Edges:
    """Complete graphs in a row, each sharing one variable with the next."""
    return [
        (c * (size - 1) + a, c * (size - 1) + b)
        for c in range(count)
        for b in range(size)
        for a in range(b)
    ]


def hubs(n: int, count: int) -> Edges:
    """A chain of n, all of it tied to each of some hubs."""
    return [(i, i + 1) for i in range(n - 1)] + [(i, n + h) for h in range(count) for i in range(n)]


def ising(
    edges: Edges,
    scale: float,
    rng: np.random.Generator,
    *,
    field: float | None = None,
    attract: bool = False,
) -> hd.FactorGraph:
    """J uniform on (-scale, scale), or on (0, scale) if they attract; h likewise or as told."""
    n = 1 + max(map(max, edges))
    j = rng.uniform(0 if attract else -scale, scale, len(edges))
    most = scale if field is None else field
    h = rng.uniform(-most, most, n)
    return hd.pairwise_model(np.stack([-h, h], axis=1), edges, j[:, None, None] * SPINS)


def potts(edges: Edges, states: int, scale: float, rng: np.random.Generator) -> hd.FactorGraph:
    """Pairs of normal log-potentials, so that states are spread."""
    n = 1 + max(map(max, edges))
    tables = rng.normal(0, scale, (len(edges), states, states))
    return hd.pairwise_model(rng.normal(0, 1, (n, states)), edges, tables)


def triples(n: int, scale: float, rng: np.random.Generator) -> hd.FactorGraph:
    """Two to four states, factors of three, up to eighteen neighbours."""
    cards = rng.integers(2, 5, n)
    scopes = [
        (i, *(i + 1 + rng.choice(min(6, n - i - 1), 2, replace=False)).tolist())
        for i in range(n - 2)
        for _ in range(3)
    ]
    tables: Iterable[np.ndarray] = (rng.normal(0, scale, cards[list(s)]) for s in scopes)
    unaries = [((i,), rng.normal(0, 0.5, cards[i])) for i in range(n)]
    return hd.FactorGraph(cards.tolist(), [*unaries, *zip(scopes, tables, strict=True)])


def hard(n: int, states: int, share: float, rng: np.random.Generator) -> hd.FactorGraph:
    """Pairs with a share of hard zeros; one state is kept possible."""
    witness = rng.integers(0, states, n)
    factors: list[tuple[tuple[int, ...], np.ndarray]] = []
    for j in range(1, n):
        for i in sorted(set(rng.integers(max(0, j - 4), j, 2).tolist())):
            zero = rng.random((states, states)) < share
            zero[witness[i], witness[j]] = False
            factors.append(((i, j), np.where(zero, -np.inf, rng.normal(0, 1, zero.shape))))
    factors += [((i,), rng.normal(0, 0.5, states)) for i in range(n)]
    return hd.FactorGraph([states] * n, factors)


Maker = Callable[[np.random.Generator], hd.FactorGraph]

# What a rule for weights must serve: few contexts or many, two states or many.
SHAPES: dict[str, Maker] = {
    "8x12 Ising, J to 0.3": lambda rng: ising(grid(8, 12), 0.3, rng),
    "8x12 Ising, J to 1": lambda rng: ising(grid(8, 12), 1.0, rng),
    "7x16 Ising, 8 neighbours, attracting": lambda rng: ising(
        grid(7, 16, True), 0.5, rng, field=1.0, attract=True
    ),
    "Ising, 8 neighbours, J to 0.5": lambda rng: ising(band(60, 4), 0.5, rng),
    "Ising, 16 neighbours, J to 0.3": lambda rng: ising(band(60, 8), 0.3, rng),
    "100 in a chain with 3 hubs": lambda rng: ising(hubs(100, 3), 0.2, rng),
    "5x10, 4 states": lambda rng: potts(grid(5, 10), 4, 0.7, rng),
    "cliques of 7, 5 states": lambda rng: potts(cliques(8, 7), 5, 0.4, rng),
    "cliques of 5, 16 states": lambda rng: potts(cliques(8, 5), 16, 0.5, rng),
    "triples, 2 to 4 states": lambda rng: triples(40, 0.5, rng),
}

# From easy to hopeless for single moves.
MODES: dict[str, Maker] = {
    "8x12 Ising, J to 2": lambda rng: ising(grid(8, 12), 2.0, rng),
    "8x12 Ising, J to 4": lambda rng: ising(grid(8, 12), 4.0, rng),
    "8x12 Ising, attracting, J to 0.8": lambda rng: ising(
        grid(8, 12), 0.8, rng, field=0.1, attract=True
    ),
    "8x12 Ising, attracting, J to 1.6": lambda rng: ising(
        grid(8, 12), 1.6, rng, field=0.1, attract=True
    ),
    "8x12 Ising, attracting, J to 3": lambda rng: ising(
        grid(8, 12), 3.0, rng, field=0.3, attract=True
    ),
    "Ising, 6 neighbours, J to 2": lambda rng: ising(band(30, 3), 2.0, rng),
    "5x10, 4 states, strong": lambda rng: potts(grid(5, 10), 4, 2.0, rng),
    "triples, strong": lambda rng: triples(40, 1.5, rng),
}

ZEROS: dict[str, Maker] = {
    "2 states, 25 % zeros": lambda rng: hard(40, 2, 0.25, rng),
    "3 states, 30 % zeros": lambda rng: hard(40, 3, 0.3, rng),
    "3 states, 50 % zeros": lambda rng: hard(40, 3, 0.5, rng),
    "5 states, 10 % zeros": lambda rng: hard(40, 5, 0.1, rng),
}


def tiny(share: float, rng: np.random.Generator) -> hd.FactorGraph:
    """Two to five variables of two or three states, a share of whose entries is zero."""
    while True:
        n = int(rng.integers(2, 6))
        cards = rng.integers(2, 4, n)
        factors = []
        for _ in range(rng.integers(1, 5)):
            scope = rng.choice(n, min(n, int(rng.integers(2, 4))), replace=False)
            zero = rng.random(cards[scope]) < share
            factors.append((scope.tolist(), np.where(zero, -np.inf, rng.normal(0, 1, zero.shape))))
        if _is_possible(cards, factors):
            return hd.FactorGraph(cards.tolist(), factors)


def _is_possible(cards: np.ndarray, factors: list[tuple[list[int], np.ndarray]]) -> bool:
    total = np.zeros(cards)
    for scope, table in factors:
        shape = np.ones(len(cards), np.int64)
        shape[scope] = table.shape
        total = total + table.transpose(np.argsort(scope)).reshape(shape)
    return bool(np.isfinite(total).any())


def divided(rng: np.random.Generator) -> hd.FactorGraph:
    """One factor made to split: two groups of states, each with every state of every variable.

    No state of one group differs from one of the other in a single variable only.
    """
    while True:
        n = int(rng.integers(3, 6))
        shape = (2,) * n
        table = np.full(shape, -np.inf)
        states = rng.permutation(np.argwhere(np.zeros(shape) == 0))
        groups: list[list[np.ndarray]] = [[], []]
        for x in states[: int(rng.integers(4, len(states) + 1))]:
            near = [any((x != y).sum() == 1 for y in group) for group in groups]
            if all(near):
                continue  # it would join them
            groups[int(rng.integers(2)) if not any(near) else near.index(True)].append(x)
        if all(len(g) and (np.ptp(g, axis=0) == 1).all() for g in groups):
            for x in groups[0] + groups[1]:
                table[tuple(x)] = rng.normal(0, 1)
            return hd.FactorGraph(shape, [(tuple(range(n)), table)])
