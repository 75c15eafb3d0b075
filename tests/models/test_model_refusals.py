"""What models and their builders refuse: in one sentence, whatever they are given."""

import contextlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import HerdedError, ModelError
from tests.support.example_budget import examples

Z2, Z22 = np.zeros(2), np.zeros((2, 2))
INF = np.inf


def refused(match, call, *args, **options):
    """The call is refused with one clear sentence."""
    with pytest.raises(ModelError, match=match) as caught:
        call(*args, **options)
    text = str(caught.value)
    assert text.startswith("expected") and "\n" not in text and ("got" in text or "but" in text)


# -- factor graphs, evidence, states ----------------------------------------------------------


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
        ("evidence from 0 to 1 for variable 0, got 0.5", {0: 0.5}),
        ("evidence from 0 to 1 for variable 0, got 'one'", {0: "one"}),
        ("evidence from 0 to 1 for variable 0, got None", {0: None}),
        (r"evidence from 0 to 1 for variable 0, got \[1\]", {0: [1]}),
        ("variable from 0 to 1", {2: 0}),
        ("variable from 0 to 1", {-1: 0}),
        ("variable from 0 to 1", {(0, 0): 0}),
        ("whole numbers as a variable", {None: 0}),
        ("whole numbers as a variable", {0.5: 0}),
        ("name of a variable", {"z": 0}),
        ("{variable: value}", [0, 1]),
        ("{variable: value}", None),
        ("{'a': 1, 'b': 1} is impossible in factor 0", {0: 1, 1: 1}),
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


# -- builders ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "call", "args"),
    [
        ("non-empty array of 1 or more dimensions", hd.ising_grid, [0.5]),
        ("non-empty array of 1 or more dimensions", hd.ising_grid, [np.zeros((0, 3))]),
        ("non-empty array of 1 or more dimensions", hd.ising_grid, [None]),
        (r"looks like a shape: write np\.zeros\(\(128, 128\)\)", hd.ising_grid, [(128, 128), 0.4]),
        (r"or \[4, 5, 6\] for a chain with these 3 fields", hd.ising_grid, [(4, 5, 6)]),
        ("numbers in field", hd.ising_grid, ["abc"]),
        ("numbers in field", hd.ising_grid, [[[1, 2], [3]]]),
        (r"finite numbers in field, got nan at \(0, 1\)", hd.ising_grid, [[[0, np.nan]]]),
        (r"in field, got -inf at \(1, 0\)", hd.ising_grid, [[[0], [-INF]]]),
        (r"in log_unary, got inf at \(0, 0, 1\)", hd.potts_grid, [[[[0, INF]]]]),
        ("finite couplings", hd.ising_grid, [Z22, np.nan]),
        ("finite couplings", hd.ising_grid, [Z22, INF]),
        ("couplings right of shape", hd.ising_grid, [Z22, (Z22, Z22)]),
        ("pair of arrays", hd.ising_grid, [Z22, Z22]),
        ("numbers in the coupling", hd.ising_grid, [Z22, "strong"]),
        ("finite couplings", hd.ising_grid, [Z22, None]),
        ("non-empty array of 2 or more dimensions", hd.potts_grid, [Z2]),
        ("non-empty array of 2 or more dimensions", hd.potts_grid, [np.zeros((2, 2, 0))]),
        (r"all states of \(0, 1\) are -inf", hd.potts_grid, [[[[0, 0], [-INF, -INF]]]]),
        ("finite pixels", hd.denoising_model, [[[np.nan]], 1.0]),
        ("noisy pixels over sigma", hd.denoising_model, [[[1e300]], 1e-50]),
        ("sigma above 0", hd.denoising_model, [Z22, 0.0]),
        ("sigma above 0", hd.denoising_model, [Z22, -1.0]),
        ("sigma above 0", hd.denoising_model, [Z22, np.nan]),
        ("sigma above 0", hd.denoising_model, [Z22, None]),
        ("sigma above 0", hd.denoising_model, [Z22, 1e-300]),
        ("one number as sigma", hd.denoising_model, [Z22, [1.0, 2.0]]),
        ("numbers in sigma", hd.denoising_model, [Z22, "1"]),
        ("non-empty 2-D", hd.pairwise_model, [Z2, [], []]),
        (r"shape \(E, 2\)", hd.pairwise_model, [Z22, [0, 1], Z22]),
        ("whole numbers as edges", hd.pairwise_model, [Z22, [(0, 0.5)], Z22]),
        ("whole numbers as edges", hd.pairwise_model, [Z22, "ab", Z22]),
        ("whole numbers as edges in rows of one", hd.pairwise_model, [Z22, [(0, 1), (0,)], Z22]),
        ("variables from 0 to 1 in edge 1, got 2", hd.pairwise_model, [Z22, [(0, 1), (0, 2)], Z22]),
        ("once in edge 0, got variable 1 twice", hd.pairwise_model, [Z22, [(1, 1)], Z22]),
        ("nan in edge 0 over", hd.pairwise_model, [Z22, [(0, 1)], [[0, np.nan], [0, 0]]]),
        ("nan in row 1 of log_unary", hd.pairwise_model, [[Z2, [0, np.nan]], [], []]),
        ("edge 0 over variables .* -inf every", hd.pairwise_model, [Z22, [(0, 1)], Z22 - INF]),
        (
            "rows of one length, got .*: use FactorGraph",
            hd.pairwise_model,
            [[[0, 1], [0, 1, 2]], [], []],
        ),
        ("rows of one length, got .*: use FactorGraph", hd.chain_model, [[[0, 1], [0, 1, 2]], Z22]),
        ("from 0 to 1 in skip edge 0, got 2", hd.skip_chain_model, [Z22, Z22, [(0, 2)], Z22]),
        ("the link from 0 to 1 over", hd.skip_chain_model, [Z22, Z22 - INF, [(0, 1)], Z22]),
        ("log_pairwise of shape", hd.pairwise_model, [Z22, [(0, 1)], np.zeros((3, 3))]),
        (
            "in log_pairwise in rows of one length",
            hd.pairwise_model,
            [Z22, [(0, 1)], [[0, 1], [0]]],
        ),
        ("log_pairwise of shape", hd.chain_model, [Z22, np.zeros((3, 3))]),
        ("numbers in log_pairwise", hd.chain_model, [Z22, "abc"]),
        ("log_skip of shape", hd.skip_chain_model, [Z22, Z22, [(0, 1)], Z2]),
        (r"shape \(E, 2\)", hd.skip_chain_model, [Z22, Z22, [0, 1, 1], Z22]),
        ("whole numbers as skip_edges", hd.skip_chain_model, [Z22, Z22, [(0.5, 1)], Z22]),
    ],
)
def test_builders_refuse(match, call, args):
    refused(match, call, *args)


@pytest.mark.parametrize(
    "field", [[4, 5], (4.0, 5.0), (1, 0, 0), (-2, 3), (7,), (2,) * 7, ((2, 3), (4, 5))]
)
def test_fields_that_read_like_no_shape(field):
    assert (hd.ising_grid(field).log_unary[..., 1] == np.array(field)).all()


@pytest.mark.parametrize("lengths", [[3], [0, 2], [1.5, 0.5], "ab", [[2]], 2])
def test_chain_lengths_refused(lengths):
    refused("chain lengths", hd.chain_model, Z22, Z22, lengths=lengths)


def test_small_periodic_grids_are_refused():
    refused("periodic", hd.ising_grid, np.zeros((2, 5)), periodic=True)


@pytest.mark.parametrize(
    ("match", "change"),
    [
        ("directed", lambda g: g.to_directed()),
        ("networkx graph", lambda g: [1, 2]),
        ("got neither", lambda g: g.add_edge("a", "d") or g),
        ("loops", lambda g: g.add_edge("a", "a", coupling=1) or g),
        ("equally many states", lambda g: g.add_edge("a", "c", coupling=1) or g),
        ("numbers", lambda g: g.add_node("e", field="strong") or g),
        ("numbers", lambda g: g.add_node("e", log_unary=["x", 1]) or g),
        ("whole number", lambda g: g.add_node("e", states=2.5) or g),
        ("1 or more states", lambda g: g.add_node("e", states=-1) or g),
        ("nan in node 'e' over", lambda g: g.add_node("e", field=np.nan) or g),
        (
            "shape .* for the edge from 'a' to 'c' over",
            lambda g: g.add_edge("a", "c", log_pairwise=[1.0]) or g,
        ),
        (
            "nan in the edge from 'a' to 'd' over",
            lambda g: g.add_edge("a", "d", coupling=np.nan) or g,
        ),
        ("distinct names", lambda g: g.add_nodes_from([1, "1"]) or g),
    ],
)
def test_from_networkx_refuses(match, change):
    graph = nx.Graph()
    graph.add_node("a", field=0.5)
    graph.add_node("c", states=3)
    refused(match, hd.from_networkx, change(graph))


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


@examples(60)
@given(garbage, garbage, garbage)
@pytest.mark.filterwarnings("ignore")
def test_garbage_for_factor_graphs(cards, factors, names):
    only_our_errors(hd.FactorGraph, cards, factors, names=names)
    only_our_errors(hd.FactorGraph, [2, 2], factors)
    only_our_errors(hd.FactorGraph, [2, 2], [(factors, cards)])
    only_our_errors(hd.FactorGraph, [2, 2], [((0, 1), cards)], names=names)


@examples(60)
@given(garbage, garbage, garbage)
@pytest.mark.filterwarnings("ignore")
def test_garbage_for_builders(a, b, c):
    for build in (hd.ising_grid, hd.potts_grid):
        only_our_errors(build, a, b)
        only_our_errors(build, Z22 if build is hd.ising_grid else np.zeros((1, 1, 2)), b)
    only_our_errors(hd.denoising_model, a, b, c)
    only_our_errors(hd.denoising_model, Z22, b, c)
    only_our_errors(hd.pairwise_model, a, b, c)
    only_our_errors(hd.pairwise_model, Z22, b, c)
    only_our_errors(hd.pairwise_model, Z22, [(0, 1)], c)
    only_our_errors(hd.chain_model, Z22, b, lengths=c)
    only_our_errors(hd.chain_model, Z22, Z22, lengths=c)
    only_our_errors(hd.skip_chain_model, Z22, Z22, b, c)


@examples(60)
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
