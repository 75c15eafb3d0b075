"""Quadratic problems that are drawn at random, as objects of dimod."""

from collections.abc import Callable
from typing import Any

import numpy as np

Problem = Callable[[np.random.Generator], Any]


def edges(n: int, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """`count` of all pairs of `n` variables."""
    rows, columns = np.triu_indices(n, 1)
    chosen = rng.choice(len(rows), count, replace=False)
    return list(zip(rows[chosen].tolist(), columns[chosen].tolist(), strict=True))


def signs(rng: np.random.Generator, count: int) -> np.ndarray:
    """-1 and 1."""
    return rng.choice([-1.0, 1.0], count)


def uniform(rng: np.random.Generator, count: int) -> np.ndarray:
    """From 0 to 1."""
    return rng.uniform(size=count)


def normal(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.normal(size=count)


def spin_glass(
    n: int, count: int, weights: Callable[[np.random.Generator, int], np.ndarray]
) -> Problem:
    """Couplings on random pairs; the lowest energy is the largest cut of a graph so weighted."""

    def draw(rng: np.random.Generator) -> Any:
        import dimod

        pairs = edges(n, count, rng)
        values = weights(rng, count).tolist()
        linear = dict.fromkeys(range(n), 0.0)
        return dimod.BinaryQuadraticModel(
            linear, dict(zip(pairs, values, strict=True)), 0.0, "SPIN"
        )

    return draw


def random_qubo(rng: np.random.Generator) -> Any:
    """250 variables, a tenth of all pairs, whole biases from -100 to 100."""
    import dimod

    pairs = edges(250, 3112, rng)
    biases = rng.integers(-100, 101, 250 + len(pairs)).astype(float).tolist()
    quadratic = dict(zip(pairs, biases[250:], strict=True))
    return dimod.BinaryQuadraticModel(dict(enumerate(biases[:250])), quadratic, 0.0, "BINARY")


def colouring(rng: np.random.Generator) -> Any:
    """40 nodes in one of 4 colours each, at a price: penalties of 3 on prices from 0 to 1."""
    import dimod

    bqm = dimod.BinaryQuadraticModel("BINARY")
    for node in range(40):
        for colour in range(4):
            bqm.add_linear((node, colour), float(rng.uniform()) - 3.0)
            for other in range(colour):
                bqm.add_quadratic((node, other), (node, colour), 6.0)
    for a, b in edges(40, 80, rng):
        for colour in range(4):
            bqm.add_quadratic((a, colour), (b, colour), float(rng.uniform()))
    return bqm
