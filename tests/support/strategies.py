"""Random models and distributions for hypothesis."""

import itertools

import numpy as np
from hypothesis import strategies as st

from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid, potts_grid
from tests.conformance.twins.integer_conditionals import WEIGHT

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


@st.composite
def sampled_models(
    draw, least=1, most=4, max_variables=5, zeros=(0.0, 0.3), scales=(0.0, 1.0, 3.0)
):
    """Models for samplers: cardinalities from `least` to `most`, evidence, hard zeros.

    Some tables are whole numbers, so that different contexts have equal conditionals.
    """
    n = draw(st.integers(1, max_variables))
    cards = draw(st.lists(st.integers(least, most), min_size=n, max_size=n))
    scope = st.lists(st.integers(0, n - 1), min_size=1, max_size=min(n, 3), unique=True)
    scopes = draw(st.lists(scope, min_size=1, max_size=7))
    rng = np.random.default_rng(draw(seeds))
    zero, scale = draw(st.sampled_from(zeros)), draw(st.sampled_from(scales))
    witness = rng.integers(0, cards)
    tables = [random_table(rng, cards, s, witness, zero, scale) for s in scopes]
    if draw(st.booleans()):
        tables = [np.round(table) for table in tables]
    model = FactorGraph(cards, list(zip(scopes, tables, strict=True)))
    clamped = draw(st.lists(st.integers(0, n - 1), max_size=n // 2, unique=True))
    return model.given({i: int(witness[i]) for i in clamped})


def binary_pairs(max_variables=14):
    """Some variables have more neighbours than a field layout keeps near."""
    return linked_pairs(2, 2, max_variables)


@st.composite
def linked_pairs(draw, least, most, max_variables, zeros=(0.0,)):
    """Models of pairs, several factors on some; what is clamped may have other cardinalities."""
    n = draw(st.integers(1, max_variables))
    rng = np.random.default_rng(draw(seeds))
    clamped = rng.random(n) < draw(st.sampled_from((0.0, 0.3)))
    cards = np.where(clamped, rng.integers(1, 7, n), rng.integers(least, most + 1, n))
    density = draw(st.sampled_from((0.1, 0.5, 1.0)))
    pairs = [p for p in itertools.permutations(range(n), 2) if rng.random() < density]
    scopes = [(i,) for i in range(n) if rng.random() < 0.5] + pairs
    scale, zero = draw(st.sampled_from((0.0, 0.5, 4.0))), draw(st.sampled_from(zeros))
    witness = rng.integers(0, cards)
    tables = [random_table(rng, cards, s, witness, zero, scale) for s in scopes]
    model = FactorGraph(cards, list(zip(scopes, tables, strict=True)))
    return model.given({int(i): int(witness[i]) for i in np.flatnonzero(clamped)})


@st.composite
def lattices(draw, max_height=6, max_width=7, evidence=True, uniform=None):
    """Open binary grids, Ising or Potts, with equal or other couplings, zeros and evidence."""
    h, w = draw(st.integers(1, max_height)), draw(st.integers(1, max_width))
    rng = np.random.default_rng(draw(seeds))
    equal = draw(st.booleans()) if uniform is None else uniform
    scale = draw(st.sampled_from((0.1, 0.5, 2.0) if uniform else (0.0, 0.5, 2.0)))
    right, down = rng.normal(size=(h, w - 1)), rng.normal(size=(h - 1, w))
    coupling = scale * rng.normal() if equal else (scale * right, scale * down)
    if draw(st.booleans()):
        model = ising_grid(rng.normal(size=(h, w)), coupling)
    else:
        unary = rng.normal(size=(h, w, 2))
        unary[rng.random((h, w)) < draw(st.sampled_from((0.0, 0.2))), rng.integers(2)] = -np.inf
        model = potts_grid(unary, coupling)
    if not evidence or not draw(st.booleans()):
        return model
    pixels = [(int(r), int(c)) for r, c in np.argwhere(rng.random((h, w)) < 0.2)]
    possible = ~np.isneginf(model.log_unary)
    return model.given({pixel: int(possible[pixel].argmax()) for pixel in pixels})


@st.composite
def distributions(draw, most=6):
    """Probabilities of 1 to `most` states that sum to 2^24, some of them 0 or a single quantum."""
    cuts = draw(st.lists(st.integers(0, WEIGHT), max_size=most - 1))
    extreme = draw(st.lists(st.sampled_from((0, 1, WEIGHT - 1, WEIGHT)), max_size=1))
    edges = sorted([0, WEIGHT, *cuts, *extreme])
    return np.diff(edges).astype(np.int32)
