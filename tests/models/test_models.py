"""Models: what they say, and that they never change."""

import dataclasses
import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from tests.support.example_budget import examples
from tests.support.strategies import models, seeds

quick = examples(30)


def plain_score(model, x):
    """The sum over the factors, written out."""
    graph = model.as_factor_graph()
    if any(v not in (-1, k) for v, k in zip(graph.evidence, x, strict=True)):
        return -np.inf
    total = 0.0
    for f in range(graph.n_factors):
        variables, table = graph.factor(f)
        total += table[tuple(x[i] for i in variables)]
    return total


def all_states(model):
    return np.array(list(itertools.product(*(range(k) for k in model.cardinalities))))


# -- log_score --------------------------------------------------------------------------------


@quick
@given(models(max_variables=4, max_states=3))
def test_log_score_is_the_sum_over_factors(model):
    states = all_states(model)
    scores = model.log_score(states)
    assert scores.shape == (len(states),)
    np.testing.assert_allclose(scores, [plain_score(model, x) for x in states], atol=1e-9)
    one = model.log_score(states[-1])
    assert isinstance(one, float)
    np.testing.assert_allclose(one, scores[-1], atol=1e-9)


@quick
@given(models(evidence=False))
def test_log_score_takes_any_leading_shape(model):
    states = np.zeros((2, 3, model.n_variables), np.uint8)
    scores = model.log_score(states)
    assert scores.shape == (2, 3) and (scores == scores[0, 0]).all()
    assert model.log_score(np.zeros((0, model.n_variables), int)).shape == (0,)


def test_log_score_in_parts_is_the_same():
    """The gather is done in parts where there are many factors: the parts must join."""
    rng = np.random.default_rng(0)
    n = 3000
    edges = rng.integers(0, n, (n, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    model = hd.pairwise_model(rng.normal(size=(n, 2)), edges, rng.normal(size=(len(edges), 2, 2)))
    states = rng.integers(0, 2, (800, n))
    np.testing.assert_allclose(model.log_score(states)[[0, -1]], model.log_score(states[[0, -1]]))


@pytest.mark.parametrize("pixels", [1, 13, 40])
def test_log_scores_of_a_lattice_in_parts_are_the_same_to_the_bit(pixels, monkeypatch):
    """Of one picture and of three at once, where seven are asked for."""
    rng = np.random.default_rng(0)
    model = hd.potts_grid(rng.normal(size=(3, 4, 3)), 0.7).given({(1, 2): 2})
    states = rng.integers(0, 3, (7, 12))
    at_once = model.log_score(states)
    assert 0 < np.isneginf(at_once).sum() < 7
    monkeypatch.setattr("herded.models.lattice.PIXELS_PER_PASS", pixels)
    assert model.log_score(states).tolist() == at_once.tolist()
    assert [model.log_score(x) for x in states] == at_once.tolist()


@quick
@given(seeds, st.integers(3, 4), st.integers(3, 4), st.booleans(), st.booleans(), st.integers(1, 3))
def test_lattice_scores_as_its_factor_graph(seed, h, w, periodic, ising, k):
    rng = np.random.default_rng(seed)
    shapes = ((h, w), (h, w)) if periodic else ((h, w - 1), (h - 1, w))
    couplings = tuple(rng.normal(size=shape) for shape in shapes)
    if ising:
        model = hd.ising_grid(rng.normal(size=(h, w)), couplings, periodic=periodic)
    else:
        unary = rng.normal(size=(h, w, k))
        model = hd.potts_grid(unary, couplings, periodic=periodic)
    k = model.log_unary.shape[2]
    model = model.given({(1, 2): k - 1})
    states = rng.integers(0, k, (6, h, w))
    states[:3, 1, 2] = k - 1
    graph = model.as_factor_graph()
    assert graph.shape == model.shape == (h, w)
    np.testing.assert_allclose(model.log_score(states), graph.log_score(states), atol=1e-9)
    np.testing.assert_allclose(
        model.log_score(states.reshape(6, -1)), model.log_score(states), atol=0
    )
    for i in range(h * w):
        assert model.neighbours(i).tolist() == graph.neighbours(i).tolist()


# -- builders ---------------------------------------------------------------------------------


def test_ising_grid_counts_each_edge_once():
    field = np.array([[0.1, -0.2], [0.3, 0.7]])
    model = hd.ising_grid(field, 0.5)
    for x in itertools.product((0, 1), repeat=4):
        s = 2 * np.array(x).reshape(2, 2) - 1
        edges = (s[0] * s[1]).sum() + (s[:, 0] * s[:, 1]).sum()
        np.testing.assert_allclose(model.log_score(x), (field * s).sum() + 0.5 * edges)


def test_denoising_model_is_the_papers_posterior():
    rng = np.random.default_rng(3)
    y, sigma, coupling = rng.normal(size=(3, 4)), 0.8, 0.7
    model = hd.denoising_model(y, sigma=sigma, coupling=coupling)
    np.testing.assert_allclose(model.log_unary[..., 1], y / sigma**2)
    np.testing.assert_allclose(model.log_unary[..., 0], -y / sigma**2)
    assert (model.right == coupling).all() and (model.down == coupling).all()
    states = rng.integers(0, 2, (20, 3, 4))
    s = 2.0 * states - 1
    edges = (s[:, 1:] * s[:, :-1]).sum((1, 2)) + (s[:, :, 1:] * s[:, :, :-1]).sum((1, 2))
    formula = coupling * edges - ((y - s) ** 2).sum((1, 2)) / (2 * sigma**2)
    difference = model.log_score(states) - formula
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)  # a constant apart


def test_potts_grid_rewards_equal_neighbours():
    unary = np.zeros((1, 2, 3))
    unary[0, 0] = [0.0, 1.0, 2.0]
    model = hd.potts_grid(unary, 0.5)
    assert model.log_score([[2, 2]]) == 2.5 and model.log_score([[2, 1]]) == 2.0


def test_pairwise_takes_one_table_or_many():
    rng = np.random.default_rng(0)
    unary, table = rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    one = hd.pairwise_model(unary, [(0, 1), (2, 1)], table)
    many = hd.pairwise_model(unary, np.array([[0, 1], [2, 1]]), [table, table])
    assert one.content_hash == many.content_hash
    score = unary[0, 1] + unary[1, 0] + unary[2, 1] + table[1, 0] + table[1, 0]
    np.testing.assert_allclose(one.log_score([1, 0, 1]), score)
    assert hd.pairwise_model(unary, [], table).n_factors == 3
    assert hd.pairwise_model(unary, [], np.zeros((0, 2, 2))).n_factors == 3


def test_chain_and_several_chains():
    rng = np.random.default_rng(0)
    unary, tables = rng.normal(size=(5, 3)), rng.normal(size=(4, 3, 3))
    x = [0, 1, 2, 1, 0]
    whole = hd.chain_model(unary, tables)
    score = sum(unary[t, x[t]] for t in range(5))
    np.testing.assert_allclose(
        whole.log_score(x), score + sum(tables[t, x[t], x[t + 1]] for t in range(4))
    )
    two = hd.chain_model(unary, tables, lengths=[2, 3])
    np.testing.assert_allclose(
        two.log_score(x), score + sum(tables[t, x[t], x[t + 1]] for t in (0, 2, 3))
    )
    assert two.neighbours(1).tolist() == [0] and two.neighbours(2).tolist() == [3]
    assert hd.chain_model(unary[:1], tables[0]).n_factors == 1


def test_skip_chain_adds_its_edges():
    rng = np.random.default_rng(0)
    unary, table, skip = rng.normal(size=(4, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    model = hd.skip_chain_model(unary, table, [(0, 3), (2, 0)], skip)
    x = [1, 0, 1, 0]
    extra = model.log_score(x) - hd.chain_model(unary, table).log_score(x)
    np.testing.assert_allclose(extra, skip[1, 0] + skip[1, 1])
    assert model.neighbours(0).tolist() == [1, 2, 3]
    none = hd.skip_chain_model(unary, table, [], skip)
    assert none.content_hash == hd.chain_model(unary, table).content_hash


def test_from_networkx():
    graph = nx.Graph()
    graph.add_node("a", field=0.5)
    graph.add_node("b", log_unary=[0.1, 0.2])
    graph.add_node("c", states=3)
    graph.add_edge("a", "b", coupling=0.7)
    graph.add_edge("b", "c", log_pairwise=np.arange(6.0).reshape(2, 3))
    model = hd.from_networkx(graph)
    assert model.names == ("a", "b", "c") and model.cardinalities.tolist() == [2, 2, 3]
    np.testing.assert_allclose(model.log_score([1, 1, 2]), 0.5 + 0.2 + 0.7 + 5.0)
    np.testing.assert_allclose(model.log_score([0, 1, 0]), -0.5 + 0.2 - 0.7 + 3.0)


# -- neighbours, hash, names, evidence --------------------------------------------------------


@quick
@given(models())
def test_neighbours_share_a_factor(model):
    for i in range(model.n_variables):
        near = set()
        for f in range(model.n_factors):
            variables = set(model.factor(f)[0].tolist())
            near |= variables if i in variables else set()
        assert model.neighbours(i).tolist() == sorted(near - {i})


def test_content_hash_sees_numbers_only():
    table = np.array([[0.0, 1.0], [2.0, 3.0]])
    make = hd.FactorGraph
    one = make([2, 2], [((0, 1), table)])
    assert one.content_hash == make((2, 2), [([0, 1], table.tolist())], names="ab").content_hash
    others = [
        make([2, 2], [((0, 1), table + 1e-12)]),
        make([2, 2], [((1, 0), table)]),
        make([2, 2, 2], [((0, 1), table)]),
        make([2, 2], [((0, 1), table), ((), 0.0)]),
        one.given({0: 0}),
        one.given({0: 1}),
        make([2, 3], []),
        make([3, 2], []),
    ]
    assert len({one.content_hash, *(other.content_hash for other in others)}) == 9


def test_lattice_hash_sees_numbers_only():
    field = np.arange(12.0).reshape(3, 4)
    one = hd.ising_grid(field, 0.5)
    assert one.content_hash == hd.ising_grid(field.tolist(), 0.5).content_hash
    others = [
        hd.ising_grid(field, 0.25),
        hd.ising_grid(field + 1, 0.5),
        hd.ising_grid(field.T, 0.5),
        hd.ising_grid(field, 0.5, periodic=True),
        one.given({(0, 0): 1}),
        hd.potts_grid(one.log_unary, 0.5),
    ]
    assert len({one.content_hash, *(other.content_hash for other in others)}) == 7


def test_given_by_index_name_and_pixel():
    model = hd.FactorGraph([2, 3, 2], [], names=["a", "b", "c"])
    assert model.given({"b": 2, 0: 1}).evidence.tolist() == [1, 2, -1]
    assert model.evidence.tolist() == [-1, -1, -1]
    picture = hd.ising_grid(np.zeros((2, 3)))
    assert picture.given({(1, 2): 1, 0: 0}).evidence.tolist() == [0, -1, -1, -1, -1, 1]
    graph = picture.as_factor_graph()
    assert graph.given({(1, 2): True}).evidence[5] == 1
    assert picture.given({(0, 1): np.int64(1)}).as_factor_graph().evidence[1] == 1


def test_given_merges_and_the_last_word_counts():
    model = hd.FactorGraph([2, 3], []).given({0: 1}).given({1: 2})
    assert model.evidence.tolist() == [1, 2]
    assert model.given({1: 0}).evidence.tolist() == [1, 0]
    assert model.given({}).content_hash == model.content_hash
    picture = hd.ising_grid(np.zeros((1, 2))).given({0: 1}).given({(0, 1): 0})
    assert picture.evidence.tolist() == [1, 0]


def test_log_score_respects_evidence():
    model = hd.FactorGraph([2, 2], []).given({0: 1})
    assert model.log_score([[0, 0], [1, 0]]).tolist() == [-np.inf, 0.0]


# -- frozen -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        hd.FactorGraph([2, 3], [((0, 1), np.zeros((2, 3)))]),
        hd.FactorGraph([2, 3], []).given({0: 1}),
        hd.ising_grid(np.zeros((2, 3))),
        hd.ising_grid(np.zeros((2, 3))).given({0: 1}),
    ],
)
def test_models_are_frozen(model):
    fields = [field.name for field in dataclasses.fields(model)]
    for name in fields:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(model, name, None)
        value = getattr(model, name)
        if isinstance(value, np.ndarray) and value.size:
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        model.cardinalities[0] = 7


def test_models_do_not_follow_the_arrays_they_came_from():
    table, field = np.zeros((2, 2)), np.zeros((2, 2))
    graph, lattice = hd.FactorGraph([2, 2], [((0, 1), table)]), hd.ising_grid(field)
    hashes = graph.content_hash, lattice.content_hash
    table[:], field[:] = 5, 5
    assert graph.log_score([0, 0]) == 0.0
    again = hd.FactorGraph([2, 2], [((0, 1), np.zeros((2, 2)))]), hd.ising_grid(np.zeros((2, 2)))
    assert hashes == tuple(model.content_hash for model in again)


def test_factor_graphs_are_equal_if_their_content_is():
    def graph(names=("a", "b"), one=1.0):
        return hd.FactorGraph([2, 2], [((0, 1), [[one, 0.0], [0.0, 1.0]])], names=names)

    assert graph() == graph() and hash(graph()) == hash(graph())
    for other in (graph(("a", "c")), graph(None), graph(one=2.0), graph().given({"a": 1}), 5):
        assert graph() != other
    assert len({graph(), graph(), graph(one=2.0)}) == 2
