"""Models small enough that all of the theory can be checked on them."""

import numpy as np
import pytest

import herded as hd
from herded import theory


def complete(seed, n, scale=0.3, states=2):
    return theory.random_complete_graph(np.random.default_rng(seed), n, scale, states)


def ising(edges, n, J, seed=0):
    """A sparse model with couplings from -J to J."""
    rng = np.random.default_rng(seed)
    tables = np.array([[1.0, -1.0], [-1.0, 1.0]]) * rng.uniform(-J, J, len(edges))[:, None, None]
    return hd.pairwise_model(0.5 * rng.uniform(-1, 1, (n, 2)), edges, tables)


RING = [(i, (i + 1) % 8) for i in range(8)]
HARD = hd.FactorGraph(  # complete, and 3 of its 8 states are impossible; irreducible
    [2, 2, 2],
    [
        (
            (0, 1, 2),
            np.array([[[0.1, 0.3], [-0.2, -np.inf]], [[0.2, -np.inf], [0.4, -np.inf]]]),
        )
    ],
)
MIXED = hd.FactorGraph([2, 3, 2], [((0, 1, 2), np.random.default_rng(5).normal(size=(2, 3, 2)))])
SMALL = {
    "binary": complete(0, 3),
    "four": complete(1, 4),
    "ternary": complete(2, 3, states=3),
    "mixed": MIXED,
    "hard zeros": HARD,
    "sparse": ising([(0, 1), (1, 2), (2, 3)], 4, 1.0),
}
COVERED = {name: model for name, model in SMALL.items() if name != "sparse"}


def each(models):
    return pytest.mark.parametrize("model", list(models.values()), ids=list(models))


def coins(*probabilities):
    factors = [((i,), np.log([1 - p, p])) for i, p in enumerate(probabilities)]
    return hd.FactorGraph([2] * len(probabilities), factors)
