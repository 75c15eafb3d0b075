"""The rule for weights: what it chooses, and that its choice beats Gibbs sampling."""

import numpy as np
import pytest

import herded as hd
from herded.methods.default_weights import MAX_TABULATED_CONTEXTS, default_weights
from tests.support.example_budget import ALL

STRICT = hd.HerdedGibbs(weights="blanket", phases="random")
POOLED = hd.HerdedGibbs(weights="pooled", slack=4.0, phases="random")


def star(leaves, states=2, seed=0, scale=0.5):
    """One variable with many neighbours."""
    rng = np.random.default_rng(seed)
    edges = [(0, leaf) for leaf in range(1, leaves + 1)]
    tables = rng.normal(0, scale, (len(edges), states, states))
    return hd.pairwise_model(rng.normal(0, 0.5, (leaves + 1, states)), edges, tables)


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (star(9), STRICT),  # 512 contexts
        (star(10), POOLED),
        (star(3, 8), STRICT),
        (star(3, 9), POOLED),
        (star(10).given({3: 1}), STRICT),  # a clamped neighbour makes no contexts
        (star(10).given({0: 1}), STRICT),
        (hd.ising_grid(np.zeros((40, 50)), 0.3), STRICT),
        (hd.pairwise_model(np.zeros((3, 100)), [], []), STRICT),
        (star(1, 100), STRICT),
    ],
)
def test_the_rule(model, method):
    found = default_weights(model)
    assert found == method
    found.compile(model)  # what suits can run


def test_the_number_of_contexts_is_the_rule_and_memory_its_bound():
    assert MAX_TABULATED_CONTEXTS == 512
    model = star(9)
    assert default_weights(model, max_memory=100) == POOLED
    assert default_weights(model, seed=3).seed == 3


def test_a_model_is_expected():
    with pytest.raises(hd.ModelError, match="expected a model"):
        default_weights("grid")


def spread(seed):
    """Eight states, evenly spread, in overlapping cliques of five, as in object detection."""
    rng = np.random.default_rng(seed)
    edges = [(4 * c + a, 4 * c + b) for c in range(4) for a in range(5) for b in range(a)]
    tables = rng.normal(0, 0.5, (len(edges), 8, 8))
    return hd.pairwise_model(rng.normal(0, 0.5, (17, 8)), edges, tables)


def triples(seed):
    """Two to four states in factors of three, up to sixteen neighbours."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 5, 24)
    scopes = [
        (i, *sorted(rng.choice(np.arange(i + 1, min(24, i + 7)), 2, replace=False).tolist()))
        for i in range(22)
        for _ in range(3)
    ]
    factors = [(s, rng.normal(0, 0.5, cards[list(s)])) for s in scopes]
    return hd.FactorGraph(cards.tolist(), factors)


@pytest.mark.parametrize(
    ("make", "sweeps"),
    [(spread, 10_000), (triples, 5_000), (lambda seed: star(40, 2, seed, 0.2), 2_000)],
    ids=["spread", "triples", "star"],
)
def test_the_choice_beats_gibbs(make, sweeps):
    """Mean absolute error of four chains, the mean of three models each, or of the first alone.

    The ratios are 0.5, 0.5 and 0.2; with an argmax in place of leaving out what is overdrawn, the
    first would be 1.2.
    """
    errors = np.zeros(2)
    for seed in range(3 if ALL else 1):
        model = make(seed)
        truth = hd.infer(model, hd.Exact()).marginals
        for m, method in enumerate((default_weights(model, seed=seed), hd.Gibbs(seed=seed))):
            keep = [hd.Marginals(rao_blackwell=True)]
            run = hd.infer(model, method, sweeps=sweeps, chains=4, keep=keep)
            errors[m] += np.abs(run.marginals - truth).mean()
    assert errors[0] < 0.8 * errors[1]


@pytest.mark.parametrize(("field", "coupling", "periodic"), [(0.1, 0.3, True), (0.3, 0.2, False)])
def test_variables_that_are_alike_do_not_move_in_step(field, coupling, periodic):
    """Weights that all start half way give marginals that are wrong by up to a tenth here."""
    model = hd.ising_grid(np.full((4, 4), field), coupling, periodic=periodic)
    truth = hd.infer(model, hd.Exact()).marginals
    keep = [hd.Marginals(rao_blackwell=True)]
    errors = {}
    for method in (default_weights(model), hd.HerdedGibbs(phases="half")):
        result = hd.infer(model, method, sweeps=10_000, burn_in=1000, keep=keep)
        errors[method.phases] = np.abs(result.marginals - truth).mean()
    assert errors["random"] < 2e-3 and errors["half"] > 5 * errors["random"]
