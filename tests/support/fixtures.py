"""Methods and models that the suites of infer, its records, options and checkpoints run on."""

import numpy as np
import pytest

import herded as hd

SAMPLERS = [
    hd.HerdedGibbs(),
    hd.HerdedGibbs(weights="shared"),
    hd.HerdedGibbs(weights="pooled"),
    hd.HerdedGibbs(weights="lazy"),
    hd.HerdedGibbs(weights="full"),
    hd.HerdedGibbs(slack=1.0, phases="random", seed=5),
    hd.HerdedGibbs(scan="random"),
    hd.Gibbs(),
    hd.Gibbs(scan="jacobi"),
    hd.Gibbs(schedule="linear"),
    hd.HerdedGibbs(schedule="linear"),
    hd.HerdedGibbs("pooled", schedule="linear"),
    hd.Gibbs(moves=hd.Blocks(entries=6, count=3)),
    hd.HerdedGibbs(moves=hd.Blocks(entries=6, count=3), schedule="linear"),
]
SOLVERS = [hd.MeanField(), hd.BeliefPropagation(), hd.Exact(), hd.Viterbi()]
METHODS = SAMPLERS + SOLVERS

RNG = np.random.default_rng(7)


def mixed():
    """Cardinalities 3, 1, 2, 4 in a chain, with a factor of no variables."""
    cards = [3, 1, 2, 4]
    factors = [((i, i + 1), RNG.normal(size=(cards[i], cards[i + 1]))) for i in range(3)]
    return hd.FactorGraph(cards, [*factors, ((), 0.5)], names="abcd")


MODELS = {
    "lattice": hd.ising_grid(RNG.normal(size=(3, 4)), 0.3),
    "chain": hd.chain_model(RNG.normal(size=(5, 2)), RNG.normal(size=(2, 2))),
    "mixed": mixed(),
    "clamped": mixed().given({"d": 3}),
    "wide evidence": hd.FactorGraph([2, 5], [((0, 1), RNG.normal(size=(2, 5)))]).given({1: 4}),
    "all clamped": mixed().given({0: 2, 1: 0, 2: 1, 3: 3}),
    "one": hd.FactorGraph([2], [((0,), [0.0, 0.4])]),
    "nothing to choose": hd.FactorGraph([1, 1], []),
    "no factors": hd.FactorGraph([2, 3], []),
    "a pixel": hd.ising_grid([[0.3]]),
    "a row": hd.ising_grid(RNG.normal(size=(1, 5)), 0.3).given({(0, 2): 1}),
    "clamped pixels": hd.ising_grid(RNG.normal(size=(3, 3)), 0.3).given({0: 1, (1, 1): 0}),
}
SMALL = hd.FactorGraph(
    [2, 3, 2], [((0, 1), RNG.normal(size=(2, 3))), ((1, 2), RNG.normal(size=(3, 2)))]
)

SAVED = np.random.default_rng(11)  # what the suites of checkpoints run
CHAIN = hd.chain_model(SAVED.normal(size=(7, 3)), SAVED.normal(size=(3, 3)), lengths=[3, 4]).given(
    {1: 2}
)
GRID = hd.ising_grid(SAVED.normal(size=(4, 5)), 0.4).given({(1, 1): 1})
REFERENCE = np.full((7, 3), 1 / 3)


def names(method):
    return repr(method).replace("max_weights=4194304, ", "")


every_method = pytest.mark.parametrize("method", METHODS, ids=names)
every_sampler = pytest.mark.parametrize("method", SAMPLERS, ids=names)


def works_on(method, model):
    return not isinstance(method, hd.Viterbi) or model != "lattice"
