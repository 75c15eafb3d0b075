"""Rows of data by name: frames, mappings, arrays, and what a cell may hold."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.data_frames import MISSING, distinct_values, read_rows
from herded.models.naming import find_state
from tests.support.example_budget import examples

NAMED = hd.FactorGraph(
    [2, 3, 2],
    [],
    names=["rain", "wind", "on"],
    state_names=[["no", "yes"], ["low", "mid", "high"], ["TRUE", "FALSE"]],
)
PLAIN = hd.FactorGraph([2, 2, 2], [])
RATED = hd.FactorGraph([3], [], names=["stars"], state_names=[["1", "2", "3"]])


def columns(model, data):
    return {i: column.tolist() for i, column in read_rows(model, data).columns.items()}


def test_frames_match_by_name_in_any_order():
    frame = pd.DataFrame({"on": [True, False], "wind": ["mid", None], "rain": ["yes", "no"]})
    expected = {0: [1, 0], 1: [1, -1], 2: [0, 1]}
    assert columns(NAMED, frame) == columns(NAMED, frame[["wind", "rain", "on"]]) == expected
    assert columns(NAMED, frame.to_dict("list")) == expected
    assert columns(NAMED, frame.to_dict("records")) == expected
    assert columns(NAMED, frame.astype("category")) == expected
    structured = np.array([("yes", "mid"), ("no", "high")], dtype=[("rain", "U3"), ("wind", "U4")])
    assert columns(NAMED, structured) == {0: [1, 0], 1: [1, 2]}
    assert columns(NAMED, frame.iloc[0]) == {0: [1], 1: [1], 2: [0]}
    assert columns(NAMED, {"rain": "yes"}) == {0: [1]}


def test_polars_frames():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"wind": ["mid", None, "low"], "on": [True, None, False]})
    assert columns(NAMED, frame) == {1: [1, -1, 0], 2: [0, -1, 1]}
    assert columns(RATED, polars.DataFrame({"stars": [3, None, 1]})) == {0: [2, -1, 0]}


@pytest.mark.parametrize(
    "empty",
    [None, np.nan, float("nan"), pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT")],
)
def test_empty_cells_are_missing(empty):
    assert columns(NAMED, {"rain": ["yes", empty, "no"]}) == {0: [1, MISSING, 0]}
    assert columns(NAMED, pd.DataFrame({"rain": ["yes", empty, "no"]})) == {0: [1, MISSING, 0]}


def test_masked_cells_are_missing():
    masked = np.ma.masked_equal([1, 2, 3], 2)
    assert columns(RATED, {"stars": masked}) == {0: [0, MISSING, 2]}
    plain = np.ma.masked_array([[0, 1, 1], [1, 0, 0]], mask=[[0, 0, 1], [1, 0, 0]])
    assert columns(PLAIN, plain) == {0: [0, -1], 1: [1, 0], 2: [-1, 0]}


def test_numbers_that_are_names_are_names():
    for cells in ([1, 3], [1.0, 3.0], ["1", "3"], np.array([1, 3], np.int8), [1.0, np.nan, 3.0]):
        found = columns(RATED, {"stars": cells})[0]
        assert [k for k in found if k >= 0] == [0, 2]
    with pytest.raises(hd.ModelError, match=r"one of \('1', '2', '3'\), got 0 at row 1 in column"):
        read_rows(RATED, {"stars": [1, 0]})
    assert columns(NAMED, {"wind": [2, 0]}) == {1: [2, 0]}  # indices: no name is a number


@pytest.mark.parametrize(
    ("states", "value", "expected"),
    [
        (["TRUE", "FALSE"], True, 0),
        (["TRUE", "FALSE"], np.False_, 1),
        (["false", "true"], "TRUE", 1),
        (["TRUE", "FALSE"], 1, None),
        (["yes", "no"], True, None),
        (["yes", "no"], 1, 1),
        (["No", "no"], "NO", None),  # either
        (["No", "no"], "no", 1),
        (["10", "20"], 10.0, 0),
        (["10", "20"], 0, None),
        (["1.5", "2.5"], 1.5, 0),
        (["a", "b"], 0.5, None),
        (["a", "b"], -1, None),
        (["a", "b"], float("inf"), None),
        ([], True, 1),
        ([], "1", None),
    ],
)
def test_what_a_value_means(states, value, expected):
    assert find_state(states, 2, value) == expected


def test_extra_columns_are_ignored_and_listed():
    rows = read_rows(NAMED, {"rain": ["yes"], "id": [7]})
    assert rows.ignored == ("id",) and list(rows.columns) == [0]
    with pytest.raises(hd.ModelError, match="got 'Rain', 'id'"):
        read_rows(NAMED, {"Rain": ["yes"], "id": [7]})


def test_labels_of_rows():
    frame = pd.DataFrame({"rain": ["yes", "no"]}, index=["mon", "tue"])
    assert list(read_rows(NAMED, frame).labels) == ["mon", "tue"]
    assert read_rows(NAMED, frame.reset_index(drop=True)).labels is None


def test_arrays_match_by_position():
    assert columns(PLAIN, [[0, 1, -1], [1, 0, 0]]) == {0: [0, 1], 1: [1, 0], 2: [-1, 0]}
    assert columns(PLAIN, np.array([[0.0, 1.0, np.nan]])) == {0: [0], 1: [1], 2: [-1]}
    image = hd.ising_grid(np.zeros((2, 2)), 0.1)
    assert read_rows(image, np.ones((5, 2, 2), int)).as_array(4).tolist() == [[1] * 4] * 5
    with pytest.raises(hd.ModelError, match=r"of shape \(rows, 3\), .* by position"):
        read_rows(PLAIN, [[0, 1]])


def test_spins_are_refused():
    with pytest.raises(hd.ModelError, match=r"only -1 and 1, which look like spins: pass \(data"):
        read_rows(PLAIN, [[-1, 1, 1], [1, -1, 1]])
    frame = pd.DataFrame({0: [-1, 1], 1: [1, 1]})
    with pytest.raises(hd.ModelError, match="looks like spins"):
        read_rows(PLAIN, frame)
    spins = hd.FactorGraph([2, 2], [], state_names=[["-1", "1"]] * 2)
    with pytest.raises(hd.ModelError, match="got -1, which is also the name of a state: pass a"):
        read_rows(spins, [[-1, 1], [1, 1]])
    assert columns(spins, {0: [-1, 1], 1: [1, 1]}) == {0: [0, 1], 1: [1, 1]}
    with pytest.raises(hd.ModelError, match="look like spins"):
        read_rows(PLAIN, [[-1, 1, 1]])
    named = hd.FactorGraph([3], [], state_names=[["1", "2", "3"]])
    assert columns(named, [[1], [0]]) == {0: [1, 0]} and columns(named, {0: [1]}) == {0: [0]}


@pytest.mark.parametrize(
    ("match", "data"),
    [
        ("got 'maybe' at row 1 in column 'rain' of data", {"rain": ["yes", "maybe"]}),
        ("got datetime.date", {"rain": [datetime.date(2020, 1, 1)]}),
        ("one state in each cell", {"rain": [["yes"]]}),
        ("distinct columns", pd.DataFrame([["a", "b"]], columns=["rain", "rain"])),
        ("a data frame, a mapping", [[0, 1], [0]]),
        ("of shape", 3),
        ("of shape", "rain"),
    ],
)
def test_refused(match, data):
    with pytest.raises(hd.ModelError, match=match):
        read_rows(NAMED, data)


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["no", "yes", "NO", pd.NA, pd.NaT, np.nan, np.int8(1), b"no", (), 1j]),
)


@examples(200)
@given(st.lists(CELLS, max_size=6), st.sampled_from(["rain", "wind", "on", "x"]))
def test_any_column_is_read_or_refused_in_one_sentence(cells, name):
    sentences = []
    for data in ({name: cells}, pd.DataFrame({name: pd.Series(cells, dtype=object)})):
        try:
            found = read_rows(NAMED, data)
        except hd.ModelError as error:
            sentences.append(str(error))
            continue
        for i, column in found.columns.items():
            assert column.shape == (len(cells),)
            for cell, code in zip(cells, column.tolist(), strict=True):
                expected = find_state(NAMED.state_names[i], NAMED.cardinalities[i], cell)
                assert code == (MISSING if expected is None else expected)
    assert all("expected" in text and "got" in text for text in sentences)


DTYPES = [
    "int8", "uint8", "int64", "float32", "float64", "bool", "object", "string", "category",
    "Int64", "UInt8", "Float64", "boolean",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_of_column(dtype):
    frame = pd.DataFrame({"stars": pd.Series([1, 1, 1]).astype(dtype)})
    if dtype in ("bool", "boolean"):
        with pytest.raises(hd.ModelError, match="got True"):
            read_rows(RATED, frame)
    else:
        assert columns(RATED, frame) == {0: [0, 0, 0]}
    if dtype in ("Int64", "Float64", "string", "category", "object"):
        frame.loc[1, "stars"] = None
        assert columns(RATED, frame) == {0: [0, MISSING, 0]}


def test_distinct_values_keep_the_order_of_cells():
    values, codes = distinct_values(["b", "a", None, "b"], "a column")
    assert values == ["b", "a"] and codes.tolist() == [0, 1, -1, 0]


def test_categories_that_no_cell_has_are_no_matter():
    cells = pd.Categorical(["yes", "no"], categories=["no", "yes", "unknown"])
    assert columns(NAMED, pd.DataFrame({"rain": cells})) == {0: [1, 0]}


def test_numbers_that_name_one_variable_and_index_another():
    net = hd.FactorGraph([2, 2], [], names=["1", "0"])
    with pytest.raises(hd.ModelError, match="got 1, which is the name of variable 0 and the"):
        read_rows(net, {1: [0]})
    assert columns(net, {"1": [0]}) == {0: [0]}


@pytest.mark.parametrize(
    "cells", [pd.to_datetime([0, 1]), [10**400, 1], [10**5000], [{"yes"}], [np.array([0.2, 0.8])]]
)
def test_cells_that_are_no_states(cells):
    for states in (NAMED, hd.FactorGraph([2], [], names=["rain"])):
        with pytest.raises(hd.ModelError, match="expected"):
            read_rows(states, {"rain": cells})
        with pytest.raises(hd.ModelError, match="expected"):
            read_rows(states, pd.DataFrame({"rain": pd.Series(list(cells))}))


def test_missing_is_no_state_called_none():
    model = hd.FactorGraph([2], [], names=["x"], state_names=[["None", "nan"]])
    assert columns(model, {"x": [None, np.nan, "None", "nan"]}) == {0: [-1, -1, 0, 1]}
    with pytest.raises(hd.ModelError, match="got None"):
        model.given({"x": None})
    with pytest.raises(hd.ModelError, match="one state for variable 'x', got two"):
        model.given({"x": "None", 0: "nan"})


def test_columns_have_an_order():
    with pytest.raises(hd.ModelError, match="a column with an order, got the set"):
        read_rows(NAMED, {"rain": {"yes", "no"}})
