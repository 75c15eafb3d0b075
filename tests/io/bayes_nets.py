"""Bayes nets for the tests of their file formats: random ones, and what other programs ship."""

import importlib.util
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import herded as hd

# Names that need quotes, look like keywords, or are not ASCII.
ODD_NAMES = [
    *("a", "B2", "x_1", "<5", "12+", ">=7.5", "5-12", "w/o", "a//b", "a/*b", "/", "*/"),
    *("two words", "a,b", "a|b", "{", "}", "(", ";", "[0]", "property", "table", "variable"),
    *("default", "1", "0.5", "-1", "naïve", "'", "#", "&amp;", "<b>", "]]>", "property x"),
]


@st.composite
def bayes_nets(draw, names=True):
    """Random nets with parents in any order, zeros, and odd names."""
    n = draw(st.integers(1, 5))
    cards = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order, factors = rng.permutation(n), [None] * n
    for k, child in enumerate(order):
        parents = rng.permutation(order[:k])[: draw(st.integers(0, 3))]
        shape = [*(cards[i] for i in parents), cards[child]]
        table = rng.random(shape) * (rng.random(shape) > 0.2) + 1e-3 * rng.integers(0, 2, shape)
        table[..., 0] += 1e-9
        with np.errstate(divide="ignore"):
            factors[child] = ([*parents, child], np.log(table / table.sum(-1, keepdims=True)))
    if not names:
        return hd.FactorGraph(cards, factors)
    label = st.lists(st.sampled_from(ODD_NAMES), min_size=n, max_size=n, unique=True)
    states = [
        draw(st.lists(st.sampled_from(ODD_NAMES), min_size=k, max_size=k, unique=True))
        for k in cards
    ]
    return hd.FactorGraph(cards, factors, names=draw(label), state_names=states)


def shipped_nets():
    """The networks of bnlearn's repository that pgmpy's package has, found without importing it."""
    spec = importlib.util.find_spec("pgmpy")
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = Path(spec.submodule_search_locations[0]) / "utils" / "example_models"
    return sorted(folder.glob("*.bif.gz"))


def same_net(one, other):
    """The same numbers to the bit, and the same names."""
    assert one.content_hash == other.content_hash
    assert one.names == other.names and one.state_names == other.state_names
