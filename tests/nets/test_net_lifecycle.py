"""Nets that are looked at, copied, changed by interventions, or made from factor graphs."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest

import herded as hd
from herded.io.bif import read_bif, write_bif

GRASS = [[0.9, 0.1], [0.2, 0.8]]  # rain, grass
WIND = ("wind", ["no", "yes"], [], [0.5, 0.5])


def rain_net():
    return hd.BayesNet(
        {"rain": (["no", "yes"], [], [0.8, 0.2]), "grass": (["dry", "wet"], ["rain"], GRASS)}
    )


# -- building -------------------------------------------------------------------------------------


def test_names_that_read_alike_are_refused():
    coin = (["n", "y"], [], [0.5, 0.5])
    with pytest.raises(hd.ModelError, match="distinct variables, got '1' twice"):
        hd.BayesNet({1: coin, "1": coin})


def test_looking_at_a_net_leaves_it_open():
    net = rain_net()
    assert isinstance(net, hd.Model) and net.n_variables == 2 and net.names == ("rain", "grass")
    for name in dir(net):
        if name not in hd.BayesNet.__dataclass_fields__ and name != "n_factors":
            getattr(net, name)
    before = net.content_hash
    net.add(*WIND)
    assert net.n_variables == 3 and net.names[-1] == "wind" and net.shape == (3,)
    assert net.content_hash != before and len(net.adjacency[0]) == 4
    net.log_score([0, 0, 0])
    with pytest.raises(hd.ModelError, match="before the net is used"):
        net.add("b", ["n", "y"], [], [0.5, 0.5])


def test_a_net_that_is_given_evidence_is_used():
    net = rain_net()
    assert net.given({"rain": "yes"}).evidence.tolist() == [1, -1]
    with pytest.raises(hd.ModelError, match="before the net is used"):
        net.add(*WIND)


def test_an_empty_net_can_be_inspected():
    net = hd.BayesNet()
    assert not hasattr(net, "evidence") and not hasattr(net, "n_variables")
    assert not hasattr(net, "content_hash") and not isinstance(net, hd.Model)
    for ask in (lambda: net.evidence, lambda: net.n_variables, lambda: net.content_hash):
        with pytest.raises(hd.ModelError, match="got none: add some"):
            ask()


def test_copies_can_grow_apart():
    net = rain_net()
    other = copy.copy(net)
    other.add(*WIND)
    assert net.n_variables == 2 and other.n_variables == 3


def test_nets_are_equal_if_their_content_is():
    net, other = rain_net(), rain_net()
    assert net == other and net == copy.deepcopy(net) and net != hd.BayesNet()
    assert hd.BayesNet() == hd.BayesNet() and net != net.as_factor_graph().content_hash
    other.add(*WIND)  # comparing leaves a net open
    assert net != other and len({net, rain_net(), other}) == 2
    assert net.given({"rain": "no"}) == rain_net().given({"rain": 0}) != net
    with pytest.raises(hd.ModelError, match="before the net is used"):  # hashing does not
        net.add(*WIND)


def test_tables_are_read_only(tmp_path):
    path = tmp_path / "net.bif"
    write_bif(rain_net(), path)
    for net in (rain_net(), read_bif(path), rain_net().do({"grass": "wet"})):
        with pytest.raises(ValueError, match="read-only"):
            net.cpt("grass").probabilities[...] = 0.5


def test_only_names_are_looked_up():
    with pytest.raises(hd.ModelError, match=r"the name of a variable, got \['rain'\]"):
        rain_net().cpt(["rain"])


def test_a_result_names_its_net_in_one_line():
    text = repr(hd.infer(rain_net()))
    assert "BayesNet(2 variables, 1 arc)\n" in text and "P(rain)" not in text


# -- factor graphs --------------------------------------------------------------------------------

COIN = np.log([0.5, 0.5])
NAMES = {"names": ["a", "b"], "state_names": [["n", "y"]] * 2}
TABLE = np.log(GRASS)


@pytest.mark.parametrize(
    ("match", "graph"),
    [
        ("with names=", hd.FactorGraph([2], [((0,), COIN)])),
        ("with names=", hd.FactorGraph([2], [((0,), COIN)], names=["a"])),
        ("other than one for each", hd.FactorGraph([2, 2], [((0, 1), TABLE)], **NAMES)),
        ("other than one for each",
         hd.FactorGraph([2, 2], [((0,), COIN), ((1,), COIN), ((0, 1), TABLE)], **NAMES)),
        ("other than one for each",
         hd.FactorGraph([2, 2], [((0,), COIN), ((1, 0), TABLE)], **NAMES)),
        ("other numbers in factor 1",
         hd.FactorGraph([2, 2], [((0,), COIN), ((0, 1), TABLE + 1)], **NAMES)),
        ("a cycle of parents",
         hd.FactorGraph([2, 2], [((1, 0), TABLE), ((0, 1), TABLE)], **NAMES)),
        ("a Bayes net as a FactorGraph, got Lattice", hd.ising_grid([[0.0]])),
    ],
)  # fmt: skip
def test_what_is_no_net_is_refused(match, graph):
    with pytest.raises(hd.ModelError, match=match):
        hd.BayesNet.from_factor_graph(graph)


def test_flat_arrays_are_checked_too():
    arrays = ([2, 2], [0, 1, 3], [0, 0, 1], np.concatenate([COIN, TABLE.ravel()]))
    net = hd.BayesNet.from_arrays(*arrays, **NAMES)
    assert net.parents == {"a": (), "b": ("a",)} and repr(net).startswith("BayesNet(2 variables")
    with pytest.raises(hd.ModelError, match="with names="):
        hd.BayesNet.from_arrays(*arrays)


# -- interventions --------------------------------------------------------------------------------


def test_interventions_and_evidence_must_agree():
    seen = rain_net().given({"grass": "dry"})
    with pytest.raises(hd.ModelError, match="'grass' to be set to 'dry', as it was observed"):
        seen.do({"grass": "wet"})
    done = seen.do({"grass": "dry"})
    assert done.evidence.tolist() == [-1, -1]
    assert hd.infer(done).marginal("rain") == pytest.approx({"no": 0.8, "yes": 0.2})


def test_subclasses_may_have_a_constructor_of_their_own():
    class Weather(hd.BayesNet):
        def __init__(self, chance):
            super().__init__({"rain": (["no", "yes"], [], [1 - chance, chance])})

    assert isinstance(Weather(0.2).do({"rain": "yes"}), Weather)


# -- data -----------------------------------------------------------------------------------------


def test_impossible_states_are_never_drawn():
    """Also where a file has rounded a row to less than 1, and its last state is impossible."""
    row = np.log([0.4975, 0.4975, 1e-300])
    row[2] = -np.inf
    graph = hd.FactorGraph([3], [((0,), row)], names=["a"], state_names=[["x", "y", "z"]])
    rows = hd.BayesNet.from_factor_graph(graph).sample(10_000, labelled=False)
    counts = np.bincount(rows[:, 0], minlength=3)
    assert counts[2] == 0 and abs(counts[0] - 5_000) < 5 * 50


@pytest.mark.parametrize("seed", [None, "a", 1.5, -1, True])
def test_wrong_seeds_of_samples(seed):
    with pytest.raises(hd.HerdedError, match="whole number of 0 or more as seed"):
        rain_net().sample(2, seed=seed)


def test_samples_fit_in_memory():
    with pytest.raises(hd.MemoryLimitError, match="expected a sample of at most"):
        rain_net().sample(10**13)
    with pytest.raises(hd.MemoryLimitError, match=r"at most 1.0 MiB.*draw fewer rows"):
        rain_net().sample(10**6, max_memory="1M")


def test_rows_without_known_states_count():
    net = rain_net()
    for rows in ([{}, {}], pd.DataFrame(index=range(2)), {"rain": [None, None]}):
        np.testing.assert_array_equal(net.log_probability(rows), [0.0, 0.0])


def test_columns_that_are_no_variables_are_reported():
    net = rain_net()
    with pytest.warns(hd.HerdedWarning, match="columns 'Wind' of data are no variables") as caught:
        found = net.log_probability({"rain": ["yes"], "Wind": ["no"]})
    assert caught[0].filename == __file__
    np.testing.assert_allclose(np.exp(found), [0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.log_probability({"rain": ["yes"]})
