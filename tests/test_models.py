"""Models: what they say, what they refuse, and that they never change."""

import contextlib
import dataclasses
import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import models, seeds

import herded as hd
from herded.errors import HerdedError, ModelError

quick = settings(max_examples=30, deadline=None)


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


def refused(match, call, *args, **options):
    """The call is refused with one clear sentence."""
    with pytest.raises(ModelError, match=match) as caught:
        call(*args, **options)
    text = str(caught.value)
    assert text.startswith("expected") and "\n" not in text and ("got" in text or "but" in text)


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
    model = hd.pairwise(rng.normal(size=(n, 2)), edges, rng.normal(size=(len(edges), 2, 2)))
    states = rng.integers(0, 2, (1500, n))
    np.testing.assert_allclose(model.log_score(states)[[0, -1]], model.log_score(states[[0, -1]]))


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
    one = hd.pairwise(unary, [(0, 1), (2, 1)], table)
    many = hd.pairwise(unary, np.array([[0, 1], [2, 1]]), [table, table])
    assert one.content_hash == many.content_hash
    score = unary[0, 1] + unary[1, 0] + unary[2, 1] + table[1, 0] + table[1, 0]
    np.testing.assert_allclose(one.log_score([1, 0, 1]), score)
    assert hd.pairwise(unary, [], table).n_factors == 3
    assert hd.pairwise(unary, [], np.zeros((0, 2, 2))).n_factors == 3


def test_chain_and_several_chains():
    rng = np.random.default_rng(0)
    unary, tables = rng.normal(size=(5, 3)), rng.normal(size=(4, 3, 3))
    x = [0, 1, 2, 1, 0]
    whole = hd.chain(unary, tables)
    score = sum(unary[t, x[t]] for t in range(5))
    np.testing.assert_allclose(
        whole.log_score(x), score + sum(tables[t, x[t], x[t + 1]] for t in range(4))
    )
    two = hd.chain(unary, tables, lengths=[2, 3])
    np.testing.assert_allclose(
        two.log_score(x), score + sum(tables[t, x[t], x[t + 1]] for t in (0, 2, 3))
    )
    assert two.neighbours(1).tolist() == [0] and two.neighbours(2).tolist() == [3]
    assert hd.chain(unary[:1], tables[0]).n_factors == 1


def test_skip_chain_adds_its_edges():
    rng = np.random.default_rng(0)
    unary, table, skip = rng.normal(size=(4, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    model = hd.skip_chain(unary, table, [(0, 3), (2, 0)], skip)
    x = [1, 0, 1, 0]
    extra = model.log_score(x) - hd.chain(unary, table).log_score(x)
    np.testing.assert_allclose(extra, skip[1, 0] + skip[1, 1])
    assert model.neighbours(0).tolist() == [1, 2, 3]
    none = hd.skip_chain(unary, table, [], skip)
    assert none.content_hash == hd.chain(unary, table).content_hash


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


@pytest.mark.parametrize(
    ("match", "change"),
    [
        ("directed", lambda g: g.to_directed()),
        ("networkx graph", lambda g: [1, 2]),
        ("got neither", lambda g: g.add_edge("a", "d") or g),
        ("loops", lambda g: g.add_edge("a", "a", coupling=1) or g),
        ("as many states", lambda g: g.add_edge("a", "c", coupling=1) or g),
        ("numbers", lambda g: g.add_node("e", field="strong") or g),
        ("numbers", lambda g: g.add_node("e", log_unary=["x", 1]) or g),
        ("whole number", lambda g: g.add_node("e", states=2.5) or g),
        ("1 or more states", lambda g: g.add_node("e", states=-1) or g),
        ("NaN|nan", lambda g: g.add_node("e", field=np.nan) or g),
        ("log-table of shape", lambda g: g.add_edge("a", "c", log_pairwise=[1.0]) or g),
        ("distinct names", lambda g: g.add_nodes_from([1, "1"]) or g),
    ],
)
def test_from_networkx_refuses(match, change):
    graph = nx.Graph()
    graph.add_node("a", field=0.5)
    graph.add_node("c", states=3)
    refused(match, hd.from_networkx, change(graph))


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


# -- what is refused --------------------------------------------------------------------------

Z2, Z22 = np.zeros(2), np.zeros((2, 2))
INF = np.inf


@pytest.mark.parametrize(
    ("match", "cards", "factors"),
    [
        ("shape \\(2, 2\\) for factor 0 over variables \\(0, 1\\)", [2, 2], [((0, 1), Z2)]),
        ("got nan in factor 1", [2, 2], [((0,), Z2), ((0, 1), [[0, np.nan], [0, 0]])]),
        ("got inf in factor 0", [2], [((0,), [INF, 0])]),
        ("cardinality of 1 or more for variable 1", [2, 0], []),
        ("cardinality of 1 or more for variable 0", [-3], []),
        ("variable 1 twice", [2, 2], [((1, 1), Z22)]),
        ("variables from 0 to 1 in factor 0, got 2", [2, 2], [((0, 2), Z22)]),
        ("variables from 0 to 1 in factor 0, got -1", [2, 2], [((-1,), Z2)]),
        ("-inf everywhere", [2], [((0,), [-INF, -INF])]),
        ("unary factors of variable 0", [2], [((0,), [-INF, 0]), ((0,), [0, -INF])]),
        ("whole numbers as cardinalities", [2.5], []),
        ("whole numbers as cardinalities", ["2"], []),
        ("whole numbers as cardinalities", None, []),
        ("whole numbers as cardinalities", [[2], [2, 2]], []),
        ("whole numbers as cardinalities", [np.nan], []),
        ("whole numbers as cardinalities", [10**30], []),
        ("whole numbers as cardinalities", "abc", []),
        ("one or more cardinalities", [], []),
        ("one or more cardinalities", 2, []),
        ("one or more cardinalities", [[2, 2]], []),
        ("list of factors", [2], None),
        ("list of factors", [2], 7),
        ("factor 0 as", [2], [7]),
        ("factor 0 as", [2], [((0,), Z2, 3)]),
        ("factor 0 as", [2], "abc"),
        ("whole numbers as the variables of factor 0", [2], [((0.5,), Z2)]),
        ("whole numbers as the variables of factor 0", [2], [("0", Z2)]),
        ("whole numbers as the variables of factor 0", [2], [(None, Z2)]),
        ("numbers in the log-table of factor 0", [2], [((0,), ["a", "b"])]),
        ("numbers in the log-table of factor 0", [2, 2], [((0, 1), [[0, 1], [0]])]),
        ("numbers in the log-table of factor 0", [2], [((0,), [1j, 0])]),
        ("shape", [2], [((0,), None)]),
        ("shape", [2] * 100, [(range(100), Z2)]),
        ("shape", [2**40, 2**40], [((0, 1), Z22)]),
    ],
)
def test_factor_graph_refuses(match, cards, factors):
    refused(match, hd.FactorGraph, cards, factors)


def test_tables_beyond_any_memory_are_refused():
    flat = np.zeros(4)
    refused("2\\^48", hd.FactorGraph.from_arrays, [2] * 60, [0, 60], np.arange(60), flat)
    refused(
        "1073741824 table entries", hd.FactorGraph.from_arrays, [2] * 30, [0, 30], range(30), Z2
    )
    refused("rise to 2", hd.FactorGraph.from_arrays, [2], [0, 3], [0, 0], flat)
    refused("flat array", hd.FactorGraph.from_arrays, [2], [1, 2], [0, 0], flat)


def test_a_huge_variable_is_no_reason_to_take_memory():
    model = hd.FactorGraph([10**12, 2], [((1,), [0.0, -INF])])
    assert model.log_score([10**11, 0]) == 0.0


@pytest.mark.parametrize(
    ("match", "names"),
    [("expected 2 names", ["a"]), ("distinct names", ["a", "a"]), ("2 names", 5)],
)
def test_names_refused(match, names):
    refused(match, hd.FactorGraph, [2, 2], [], names=names)


@pytest.mark.parametrize(
    ("match", "evidence"),
    [
        ("evidence from 0 to 1 for variable 0, got 2", {0: 2}),
        ("evidence from 0 to 1 for variable 0, got -1", {0: -1}),
        ("whole numbers as evidence", {0: 0.5}),
        ("whole numbers as evidence", {0: "one"}),
        ("whole numbers as evidence", {0: None}),
        ("one whole number as evidence", {0: [1]}),
        ("variable from 0 to 1", {2: 0}),
        ("variable from 0 to 1", {-1: 0}),
        ("variable from 0 to 1", {(0, 0): 0}),
        ("whole numbers as a variable", {None: 0}),
        ("whole numbers as a variable", {0.5: 0}),
        ("name of a variable", {"z": 0}),
        ("{variable: value}", [0, 1]),
        ("{variable: value}", None),
        ("{0: 1, 1: 1} is impossible in factor 0", {0: 1, 1: 1}),
    ],
)
def test_evidence_refused(match, evidence):
    model = hd.FactorGraph([2, 2], [((0, 1), [[0, 0], [0, -INF]])], names=["a", "b"])
    refused(match, model.given, evidence)


def test_lattice_evidence_refused():
    unary = np.zeros((2, 2, 2))
    unary[1, 0, 1] = -INF
    model = hd.potts_grid(unary)
    refused(r"pixel \(1, 0\) cannot be 1", model.given, {(1, 0): 1})
    refused("pixel", model.given, {(2, 0): 1})
    refused("name of a variable", model.given, {"a": 1})


@pytest.mark.parametrize(
    ("match", "states"),
    [
        ("states of 2 variables", [0]),
        ("states of 2 variables", 0),
        ("states of 2 variables", np.zeros((2, 3))),
        ("states of variable 1 from 0 to 2, got 3", [0, 3]),
        ("states of variable 0 from 0 to 1, got -1", [[0, 0], [-1, 0]]),
        ("whole numbers as states", [0, 0.5]),
        ("whole numbers as states", [0, np.nan]),
        ("whole numbers as states", [0, INF]),
        ("whole numbers as states", ["a", "b"]),
        ("whole numbers as states", [[0], [0, 1]]),
        ("whole numbers as states", None),
    ],
)
def test_states_refused(match, states):
    refused(match, hd.FactorGraph([2, 3], []).log_score, states)


@pytest.mark.parametrize(
    ("match", "call", "args"),
    [
        ("non-empty 2-D", hd.ising_grid, [np.zeros(3)]),
        ("non-empty 2-D", hd.ising_grid, [np.zeros((0, 3))]),
        ("non-empty 2-D", hd.ising_grid, [None]),
        ("numbers in field", hd.ising_grid, ["abc"]),
        ("numbers in field", hd.ising_grid, [[[1, 2], [3]]]),
        ("NaN", hd.ising_grid, [[[np.nan]]]),
        ("inf", hd.ising_grid, [[[INF]]]),
        ("finite couplings", hd.ising_grid, [Z22, np.nan]),
        ("finite couplings", hd.ising_grid, [Z22, INF]),
        ("couplings right of shape", hd.ising_grid, [Z22, (Z22, Z22)]),
        ("pair of arrays", hd.ising_grid, [Z22, Z22]),
        ("numbers in the coupling", hd.ising_grid, [Z22, "strong"]),
        ("finite couplings", hd.ising_grid, [Z22, None]),
        ("non-empty 3-D", hd.potts_grid, [Z22]),
        ("non-empty 3-D", hd.potts_grid, [np.zeros((2, 2, 0))]),
        (r"all states of \(0, 1\) are -inf", hd.potts_grid, [[[[0, 0], [-INF, -INF]]]]),
        ("finite pixels", hd.denoising_model, [[[np.nan]], 1.0]),
        ("sigma above 0", hd.denoising_model, [Z22, 0.0]),
        ("sigma above 0", hd.denoising_model, [Z22, -1.0]),
        ("sigma above 0", hd.denoising_model, [Z22, np.nan]),
        ("sigma above 0", hd.denoising_model, [Z22, None]),
        ("sigma above 0", hd.denoising_model, [Z22, 1e-300]),
        ("one number as sigma", hd.denoising_model, [Z22, [1.0, 2.0]]),
        ("numbers in sigma", hd.denoising_model, [Z22, "1"]),
        ("non-empty 2-D", hd.pairwise, [Z2, [], []]),
        (r"shape \(E, 2\)", hd.pairwise, [Z22, [0, 1], Z22]),
        ("whole numbers as edges", hd.pairwise, [Z22, [(0, 0.5)], Z22]),
        ("whole numbers as edges", hd.pairwise, [Z22, "ab", Z22]),
        ("whole numbers as edges", hd.pairwise, [Z22, [(0, 1), (0,)], Z22]),
        ("variables from 0 to 1", hd.pairwise, [Z22, [(0, 2)], Z22]),
        ("twice", hd.pairwise, [Z22, [(1, 1)], Z22]),
        ("log_pairwise of shape", hd.pairwise, [Z22, [(0, 1)], np.zeros((3, 3))]),
        ("numbers in log_pairwise", hd.pairwise, [Z22, [(0, 1)], [[0, 1], [0]]]),
        ("log_pairwise of shape", hd.chain, [Z22, np.zeros((3, 3))]),
        ("numbers in log_pairwise", hd.chain, [Z22, "abc"]),
        ("log_skip of shape", hd.skip_chain, [Z22, Z22, [(0, 1)], Z2]),
        (r"shape \(E, 2\)", hd.skip_chain, [Z22, Z22, [0, 1, 1], Z22]),
        ("whole numbers as skip_edges", hd.skip_chain, [Z22, Z22, [(0.5, 1)], Z22]),
    ],
)
def test_builders_refuse(match, call, args):
    refused(match, call, *args)


@pytest.mark.parametrize("lengths", [[3], [0, 2], [1.5, 0.5], "ab", [[2]], 2])
def test_chain_lengths_refused(lengths):
    refused("chain lengths", hd.chain, Z22, Z22, lengths=lengths)


def test_small_periodic_grids_are_refused():
    refused("periodic", hd.ising_grid, np.zeros((2, 5)), periodic=True)


# -- garbage ----------------------------------------------------------------------------------

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([10**30, -(2**63), 2**63]),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=2),
    st.binary(max_size=2),
    st.sampled_from([Z2, Z22, np.zeros((0, 2)), np.array("x"), np.array([None]), object]),
)
garbage = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.integers(0, 2), inner, max_size=2),
    ),
    max_leaves=8,
)


def only_our_errors(call, *args, **options):
    with contextlib.suppress(HerdedError):
        call(*args, **options)


@settings(max_examples=60, deadline=None)
@given(garbage, garbage, garbage)
@pytest.mark.filterwarnings("ignore")
def test_garbage_for_factor_graphs(cards, factors, names):
    only_our_errors(hd.FactorGraph, cards, factors, names=names)
    only_our_errors(hd.FactorGraph, [2, 2], factors)
    only_our_errors(hd.FactorGraph, [2, 2], [(factors, cards)])
    only_our_errors(hd.FactorGraph, [2, 2], [((0, 1), cards)], names=names)


@settings(max_examples=60, deadline=None)
@given(garbage, garbage, garbage)
@pytest.mark.filterwarnings("ignore")
def test_garbage_for_builders(a, b, c):
    for build in (hd.ising_grid, hd.potts_grid):
        only_our_errors(build, a, b)
        only_our_errors(build, Z22 if build is hd.ising_grid else np.zeros((1, 1, 2)), b)
    only_our_errors(hd.denoising_model, a, b, c)
    only_our_errors(hd.denoising_model, Z22, b, c)
    only_our_errors(hd.pairwise, a, b, c)
    only_our_errors(hd.pairwise, Z22, b, c)
    only_our_errors(hd.pairwise, Z22, [(0, 1)], c)
    only_our_errors(hd.chain, Z22, b, lengths=c)
    only_our_errors(hd.chain, Z22, Z22, lengths=c)
    only_our_errors(hd.skip_chain, Z22, Z22, b, c)


@settings(max_examples=60, deadline=None)
@given(garbage, garbage, st.dictionaries(st.one_of(st.text(max_size=1), st.floats()), atoms))
@pytest.mark.filterwarnings("ignore")
def test_garbage_for_models(a, b, evidence):
    graph = hd.FactorGraph([2, 2], [((0, 1), Z22)], names="ab")
    for model in (graph, hd.ising_grid(Z22)):
        only_our_errors(model.log_score, a)
        only_our_errors(model.given, a)
        only_our_errors(model.given, {0: b})
        only_our_errors(model.given, evidence)
        only_our_errors(model.given, {(0, 1): b})
