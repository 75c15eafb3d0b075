"""Tables with labels: whatever the order of rows and columns, each number belongs to its label."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import herded as hd

GRASS = [[0.9, 0.1], [0.2, 0.8]]  # rain, grass


def rain_net():
    return hd.BayesNet({"rain": (["no", "yes"], [], [0.8, 0.2])})


def grass_table(table):
    net = rain_net()
    net.add("grass", ["dry", "wet"], ["rain"], table)
    return net.cpt("grass").probabilities


def test_series_are_matched_by_their_index():
    for table in (pd.Series([0.2, 0.8], ["yes", "no"]), pd.Series([0.8, 0.2])):
        net = hd.BayesNet({"rain": (["no", "yes"], [], table)})
        np.testing.assert_array_equal(net.cpt("rain").probabilities, [0.8, 0.2])
    dry, wet = pd.Series({"wet": 0.1, "dry": 0.9}), pd.Series({"wet": 0.8, "dry": 0.2})
    np.testing.assert_array_equal(grass_table({"no": dry, "yes": wet}), GRASS)
    keys = [("wet", "yes"), ("dry", "yes"), ("dry", "no"), ("wet", "no")]
    index = pd.MultiIndex.from_tuples(keys, names=["grass", "rain"])
    np.testing.assert_array_equal(grass_table(pd.Series([0.8, 0.2, 0.9, 0.1], index)), GRASS)


def test_polars_frames_are_matched_by_their_columns():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    plain = hd.BayesNet({"rain": (["no", "yes"], [], pl.Series([0.8, 0.2]))})
    np.testing.assert_array_equal(plain.cpt("rain").probabilities, [0.8, 0.2])
    frame = pl.DataFrame({"wet": [0.8, 0.1], "dry": [0.2, 0.9], "rain": ["yes", "no"]})
    np.testing.assert_array_equal(grass_table(frame), GRASS)
    net = hd.BayesNet({"rain": (["no", "yes"], [], pl.DataFrame({"yes": [0.2], "no": [0.8]}))})
    np.testing.assert_array_equal(net.cpt("rain").probabilities, [0.8, 0.2])


def test_tables_of_other_nets_are_matched_by_name():
    other = hd.BayesNet(
        {
            "a": (["x", "y"], [], [0.5, 0.5]),
            "b": (["p", "q", "r"], [], [0.2, 0.3, 0.5]),
            "c": (["n", "m"], ["b", "a"], np.linspace([0.1, 0.9], [0.6, 0.4], 6).reshape(3, 2, 2)),
        }
    )
    net = hd.BayesNet(
        {
            "a": (["y", "x"], [], other.cpt("a")),
            "b": (["r", "p", "q"], [], other.cpt("b")),
            "c": (["m", "n"], ["a", "b"], other.cpt("c")),
        }
    )
    np.testing.assert_allclose(net.cpt("b").probabilities, [0.5, 0.2, 0.3])
    row = {"a": "y", "b": "q", "c": "m"}
    np.testing.assert_allclose(net.log_probability(row), other.log_probability(row))


FRAME = pd.DataFrame({"rain": ["no", "yes"], "dry": [0.9, 0.2], "wet": [0.1, 0.8]})


@pytest.mark.parametrize(
    ("match", "table"),
    [
        ("without labels, got <xarray.DataArray", xr.DataArray(GRASS, dims=["rain", "grass"])),
        ("without labels, got <xarray.DataArray",
         {"no": xr.DataArray([0.9, 0.1]), "yes": xr.DataArray([0.2, 0.8])}),
        ("the table of 'grass' without labels",
         [pd.Series({"wet": 0.1, "dry": 0.9}), pd.Series({"wet": 0.8, "dry": 0.2})]),
        ("masked", np.ma.masked_array(GRASS, [[0, 1], [0, 0]])),
        ("a probability for each state of 'grass'", {"no": pd.Series({"dry": 1.0}), "yes": [0, 1]}),
        ("an index with the levels", pd.Series([0.9, 0.1], ["dry", "wet"])),
        ("once in the table of 'grass', got it twice",
         pd.Series([1.0, 1.0], pd.MultiIndex.from_tuples([("no", "dry")] * 2,
                                                         names=["rain", "grass"]))),
        ("pass its probabilities", rain_net().cpt("rain")),
        ("expected numbers in the table of 'grass'", FRAME.assign(dry=["often", "rarely"])),
        ("one column 'dry' in the table of 'grass', got two",
         pd.concat([FRAME, FRAME[["dry"]]], axis=1)),
    ],
)  # fmt: skip
def test_labels_that_do_not_fit_are_refused(match, table):
    with pytest.raises(hd.ModelError, match=match):
        grass_table(table)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_sets_have_no_order(kind):
    with pytest.raises(hd.ModelError, match="a list of the states of 'rain', got a set"):
        hd.BayesNet({"rain": (kind(["no", "yes"]), [], [0.8, 0.2])})
    for add in (
        lambda parents: rain_net().add("grass", ["dry", "wet"], parents, GRASS),
        lambda parents: hd.BayesNet({"rain": (["no", "yes"], [], [0.8, 0.2]),
                                     "grass": (["dry", "wet"], parents, GRASS)}),
    ):  # fmt: skip
        with pytest.raises(hd.ModelError, match="a list of the parents of 'grass', got a set"):
            add(kind(["rain"]))


def test_parents_may_be_none_or_a_generator():
    net = hd.BayesNet(
        {
            "grass": (["dry", "wet"], (name for name in ["rain"]), GRASS),
            "rain": (["no", "yes"], None, [0.8, 0.2]),
        }
    )
    net.add("wind", (state for state in ["no", "yes"]), None, [0.5, 0.5])
    net.add("mood", ["bad", "good"], (name for name in ["wind"]), GRASS)
    assert net.parents == {"rain": (), "grass": ("rain",), "wind": (), "mood": ("wind",)}
