"""Random models for hypothesis."""

import itertools

import numpy as np
from hypothesis import strategies as st

from herded.models.factor_graph import FactorGraph

seeds = st.integers(0, 2**32 - 1)


@st.composite
def models(
    draw,
    max_variables=5,
    max_states=4,
    max_arity=3,
    max_factors=8,
    zeros=(0.0, 0.3, 0.8),
    scales=(0.0, 1.0, 10.0),
    evidence=True,
):
    """Factor graphs of any shape; some state, which the evidence agrees with, is possible.

    `zeros` are the shares of hard zeros and `scales` the sizes of log-potentials to choose from.
    """
    n = draw(st.integers(1, max_variables))
    cards = draw(st.lists(st.integers(1, max_states), min_size=n, max_size=n))
    scope = st.lists(st.integers(0, n - 1), max_size=min(n, max_arity), unique=True)
    scopes = draw(st.lists(scope, max_size=max_factors))
    rng = np.random.default_rng(draw(seeds))
    zero, scale = draw(st.sampled_from(zeros)), draw(st.sampled_from(scales))
    witness = rng.integers(0, cards)
    factors = [(s, random_table(rng, cards, s, witness, zero, scale)) for s in scopes]
    model = FactorGraph(cards, factors)
    if not evidence:
        return model
    clamped = draw(st.lists(st.integers(0, n - 1), max_size=n, unique=True))
    return model.given({i: int(witness[i]) for i in clamped})


@st.composite
def chains(draw, max_variables=6, max_states=4, whole=False):
    """Chains in any order of variables, with several factors on an edge, zeros and evidence.

    Clamped variables may hang on any two neighbours by a factor of three, and on each other.
    `whole` makes log-potentials whole numbers, so that ties are exact.
    """
    n = draw(st.integers(1, max_variables))
    n_clamped = draw(st.integers(0, 2))
    rng = np.random.default_rng(draw(seeds))
    cards = rng.integers(1, max_states + 1, n + n_clamped)
    path, clamped = np.split(rng.permutation(n + n_clamped), [n])
    scopes = [(i,) for i in path if draw(st.booleans())]
    for pair in itertools.pairwise(path):
        for _ in range(draw(st.integers(0, 2))):  # none: the chain falls apart
            scope = [*pair, *clamped[: draw(st.integers(0, n_clamped))]]
            scopes.append(rng.permutation(scope))
    zero = draw(st.sampled_from((0.0, 0.3, 0.6)))
    witness = rng.integers(0, cards)
    tables = [random_table(rng, cards, s, witness, zero, 2.0) for s in scopes]
    if whole:
        tables = [np.round(table) for table in tables]
    model = FactorGraph(cards, list(zip(scopes, tables, strict=True)))
    return model.given({int(i): int(witness[i]) for i in clamped})


def random_table(rng, cards, scope, witness, zero, scale):
    """A log-table over `scope` where the witness is possible."""
    shape = tuple(int(cards[i]) for i in scope)
    table = np.asarray(scale * rng.normal(size=shape))
    hard = np.asarray(rng.random(shape) < zero)
    hard[tuple(int(witness[i]) for i in scope)] = False
    return np.where(hard, -np.inf, table)
