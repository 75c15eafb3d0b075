"""Bayes nets: built by name, refused where they are wrong, printed, sampled and used as models."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from tests.support.example_budget import examples
from tests.support.strategies import seeds

GRASS = [[[1.0, 0.0], [0.2, 0.8]], [[0.1, 0.9], [0.01, 0.99]]]  # sprinkler, rain, grass


def sprinkler():
    net = hd.BayesNet()
    net.add("rain", ["no", "yes"], table=[0.8, 0.2])
    net.add("sprinkler", ["off", "on"], ["rain"], [[0.6, 0.4], [0.99, 0.01]])
    net.add("grass", ["dry", "wet"], ["sprinkler", "rain"], GRASS)
    return net


ROWS = {
    ("off", "no"): [1.0, 0.0],
    ("off", "yes"): {"wet": 0.8, "dry": 0.2},
    ("on", "yes"): [0.01, 0.99],
    ("on", "no"): [0.1, 0.9],
}


def test_all_forms_of_a_table_are_one():
    frame = pd.DataFrame(
        [["on", "no", 0.9, 0.1], ["on", "yes", 0.99, 0.01], ["off", "no", 0.0, 1.0],
         ["off", "yes", 0.8, 0.2]],
        columns=["sprinkler", "rain", "wet", "dry"],
    )  # fmt: skip
    tables = [GRASS, np.array(GRASS), ROWS, frame, frame.set_index(["rain", "sprinkler"])]
    tables += [sprinkler().cpt("grass"), sprinkler().cpt("grass").to_pandas()]
    for table in tables:
        net = hd.BayesNet()
        net.add("rain", ["no", "yes"], table={"yes": 0.2, "no": 0.8})
        net.add("sprinkler", ["off", "on"], ["rain"], {"yes": [0.99, 0.01], "no": [0.6, 0.4]})
        net.add("grass", ["dry", "wet"], ["sprinkler", "rain"], table)
        assert net.content_hash == sprinkler().content_hash
        np.testing.assert_array_equal(net.cpt("grass").probabilities, GRASS)


def test_one_mapping_in_any_order():
    net = hd.BayesNet(
        {
            "grass": {"states": ["dry", "wet"], "parents": ["sprinkler", "rain"], "table": ROWS},
            "sprinkler": (["off", "on"], ["rain"], [[0.6, 0.4], [0.99, 0.01]]),
            "rain": (["no", "yes"], [], [0.8, 0.2]),
        }
    )
    assert net.topological_order == ("rain", "sprinkler", "grass")
    assert net.parents == {"rain": (), "sprinkler": ("rain",), "grass": ("sprinkler", "rain")}
    assert net.children == {"rain": ("sprinkler", "grass"), "sprinkler": ("grass",), "grass": ()}
    found = hd.infer(net.given({"grass": "wet"})).marginal("rain")
    assert found == hd.infer(sprinkler().given({"grass": "wet"})).marginal("rain")


def test_it_is_a_model_for_every_method():
    net = sprinkler()
    assert isinstance(net, hd.Model) and isinstance(net, hd.FactorGraph)
    exact = hd.infer(net, hd.Exact())
    np.testing.assert_allclose(exact.log_z, 0.0, atol=1e-12)
    for method in (hd.Gibbs(herd=64), hd.HerdedGibbs(), hd.BeliefPropagation()):
        found = hd.infer(net, method, sweeps=2000).marginals
        np.testing.assert_allclose(found, exact.marginals, atol=0.05)


def test_evidence_keeps_the_net():
    seen = sprinkler().given({"grass": "wet"})
    assert isinstance(seen, hd.BayesNet) and seen.parents == sprinkler().parents
    assert seen.evidence.tolist() == [-1, -1, 1]
    assert "1 observed" in repr(seen)
    with pytest.raises(hd.ModelError, match="without evidence to sample"):
        seen.sample(3)


def test_printed_tables_have_labels():
    text = repr(sprinkler())
    assert text.splitlines()[0] == "BayesNet(3 variables, 3 arcs)"
    assert (
        "P(grass | sprinkler, rain)\nsprinkler  rain  dry   wet\noff        no    1     0" in text
    )
    assert "<th" in sprinkler()._repr_html_() and "P(rain)" in sprinkler()._repr_html_()
    wide = hd.BayesNet({f"v{i}": ([f"s{k}" for k in range(9)], [], [1 / 9] * 9) for i in range(50)})
    assert repr(wide).splitlines()[1].startswith("P(v0): s0, s1")
    assert repr(wide).endswith("... and 26 more variables") and "v49" not in repr(wide)


def test_interventions_cut_arcs():
    net = sprinkler()
    done = net.do({"sprinkler": "on"})
    assert done.parents["sprinkler"] == () and net.parents["sprinkler"] == ("rain",)
    assert hd.infer(done).marginal("rain") == pytest.approx({"no": 0.8, "yes": 0.2})
    assert hd.infer(net.given({"sprinkler": "on"})).marginal("rain")["yes"] < 0.01
    wet = 0.8 * 0.9 + 0.2 * 0.99
    assert hd.infer(done).marginal("grass")["wet"] == pytest.approx(wet)
    kept = net.given({"grass": "wet"}).do({"sprinkler": "on"})
    assert kept.evidence.tolist() == [-1, -1, 1]


def test_samples_follow_the_net():
    net = sprinkler()
    frame = net.sample(200_000, seed=5)
    assert list(frame.columns) == ["rain", "sprinkler", "grass"]
    exact = hd.infer(net, hd.Exact(), keep=[hd.Joint()]).joint
    counts = frame.value_counts(normalize=True)
    for (rain, on, grass), share in counts.items():
        index = (["no", "yes"].index(rain), ["off", "on"].index(on), ["dry", "wet"].index(grass))
        sigma = np.sqrt(exact[index] * (1 - exact[index]) / 200_000)
        assert abs(share - exact[index]) <= 5 * sigma
    assert frame.head(10).equals(net.sample(10, seed=5))
    assert not frame.head(10).equals(net.sample(10, seed=6))
    assert net.sample(3, labelled=False).shape == (3, 3)


def test_log_probability_of_whole_and_partial_rows():
    net = sprinkler()
    rows = pd.DataFrame(
        {"grass": ["wet", "wet", None, "dry"], "rain": ["yes", None, None, "no"],
         "sprinkler": ["on", None, None, "off"]}
    )  # fmt: skip
    wet = 0.8 * 0.4 * 0.9 + 0.2 * (0.99 * 0.8 + 0.01 * 0.99)
    expected = [0.2 * 0.01 * 0.99, wet, 1.0, 0.8 * 0.6]
    np.testing.assert_allclose(np.exp(net.log_probability(rows)), expected, atol=1e-12)
    shuffled = rows[["sprinkler", "grass", "rain"]]
    np.testing.assert_array_equal(net.log_probability(rows), net.log_probability(shuffled))


def test_copies_are_equal_and_nets_can_be_pickled():
    for net in (sprinkler(), sprinkler().given({"rain": "no"})):
        for other in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            assert other.content_hash == net.content_hash and repr(other) == repr(net)
    unused = copy.deepcopy(hd.BayesNet())
    unused.add("a", ["x", "y"], table=[0.5, 0.5])
    assert unused.n_variables == 1


def test_from_a_factor_graph_keeps_its_bits():
    graph = hd.FactorGraph(
        [2, 2], [((0,), np.log([0.3, 0.7])), ((0, 1), np.log([[0.9, 0.1], [0.2, 0.8]]))],
        names=["a", "b"], state_names=[["n", "y"]] * 2,
    )  # fmt: skip
    net = hd.BayesNet.from_factor_graph(graph)
    assert net.content_hash == graph.content_hash
    np.testing.assert_allclose(net.cpt("b").probabilities, [[0.9, 0.1], [0.2, 0.8]], rtol=1e-15)
    with pytest.raises(hd.ModelError, match="before the net is used"):
        net.add("c", ["n", "y"], table=[0.5, 0.5])


AB = {"a": (["n", "y"], [], [0.5, 0.5])}


@pytest.mark.parametrize(
    ("match", "arguments"),
    [
        (r"given 'a'='y'|given a='y' to sum to 1, got \[0.3, 0.8\], which sums to 1.1",
         ("b", ["n", "y"], ["a"], [[0.5, 0.5], [0.3, 0.8]])),
        ("its columns sum to 1, so transpose", ("b", ["n", "y"], ["a"], [[0.9, 0.2], [0.1, 0.8]])),
        ("probabilities of 0 or more in the row of 'b' given a='n'",
         ("b", ["n", "y"], ["a"], [[-0.5, 1.5], [0.3, 0.7]])),
        (r"shape \(2, 3\) for 'b', with axes \(a, b\), got shape \(3, 2\): the child's",
         ("b", ["x", "y", "z"], ["a"], [[0.1, 0.2], [0.3, 0.3], [0.6, 0.5]])),
        (r"got shape \(4,\): reshape it to \(2, 2\)", ("b", ["n", "y"], ["a"], [0.5] * 4)),
        (r"got shape \(5,\): give it one axis", ("b", ["n", "y"], ["a"], [0.2] * 5)),
        ("parents of 'b' that were added before, got 'A'", ("b", ["n", "y"], ["A"], [0.5] * 2)),
        ("distinct variables, got 'a' twice", ("a", ["n", "y"], [], [0.5, 0.5])),
        ("distinct states of 'b'", ("b", ["n", "n"], [], [0.5, 0.5])),
        ("a list of the states of 'b', got 'ny'", ("b", "ny", [], [0.5, 0.5])),
        ("a list of the parents of 'b', got 'a'", ("b", ["n", "y"], "a", [0.5, 0.5])),
        ("a table of probabilities for 'b'", ("b", ["n", "y"], [], None)),
        ("got none for", ("b", ["n", "y"], ["a"], {"n": [0.5, 0.5]})),
        ("a state of 'a' .n, y. in the table of 'b', got 'maybe'",
         ("b", ["n", "y"], ["a"], {"maybe": [0.5, 0.5]})),
        ("a probability for each state of 'b'", ("b", ["n", "y"], ["a"], {"n": {"n": 1.0}})),
        ("2 probabilities in each row of 'b'", ("b", ["n", "y"], ["a"], {"n": [1.0]})),
        ("a state for each of the parents", ("b", ["n", "y"], ["a"], {("n", "n"): [1.0, 0.0]})),
        ("expected numbers in the table of 'b'", ("b", ["n", "y"], [], ["x", "y"])),
        ("probabilities of 0 or more", ("b", ["n", "y"], [], [np.nan, 1.0])),
        ("none for 'y' in|got none for 'y'", ("b", ["n", "y"], [], pd.DataFrame({"n": [1.0]}))),
    ],
)  # fmt: skip
def test_wrong_variables_are_refused_and_change_nothing(match, arguments):
    net = hd.BayesNet(AB)
    with pytest.raises(hd.ModelError, match=match):
        net.add(*arguments)
    assert net.n_variables == 1


def test_cycles_and_unknown_parents_of_a_mapping():
    half = [[0.5, 0.5], [0.5, 0.5]]
    loop = {"a": (["n", "y"], ["b"], half), "b": (["n", "y"], ["a"], half)}
    with pytest.raises(hd.ModelError, match="no cycle of parents, got"):
        hd.BayesNet(loop)
    with pytest.raises(hd.ModelError, match="got 'c'"):
        hd.BayesNet({"a": (["n", "y"], ["c"], half)})
    with pytest.raises(hd.ModelError, match=r"\(states, parents, table\) of 'a'"):
        hd.BayesNet({"a": ["n", "y"]})
    with pytest.raises(hd.ModelError, match="states, table and perhaps parents"):
        hd.BayesNet({"a": {"states": ["n", "y"], "cpt": [0.5, 0.5]}})
    with pytest.raises(hd.ModelError, match="got none: add some"):
        hd.infer(hd.BayesNet())
    with pytest.raises(AttributeError):
        hd.BayesNet().nothing  # noqa: B018


@examples(40)
@given(st.integers(1, 6), seeds)
def test_random_nets_multiply_their_tables(n, seed):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    cards = rng.integers(1, 4, n).tolist()
    net, joint = hd.BayesNet(), np.ones(cards)
    for i, name in enumerate(names):
        parents = sorted(rng.permutation(i)[: rng.integers(0, 3)].tolist())
        table = rng.random([*(cards[p] for p in parents), cards[i]]) + 0.01
        table /= table.sum(axis=-1, keepdims=True)
        states = [f"s{k}" for k in range(cards[i])]
        net.add(name, states, [names[p] for p in parents], table)
        axes = [*parents, i]
        joint = joint * table.transpose(np.argsort(axes)).reshape(
            [cards[a] if a in axes else 1 for a in range(n)]
        )
    every = np.array(list(np.ndindex(*cards)))
    found = net.log_probability(every)
    np.testing.assert_allclose(np.exp(found), joint.ravel(), rtol=1e-9)
    np.testing.assert_allclose(net.log_score(every), found, atol=1e-9)
