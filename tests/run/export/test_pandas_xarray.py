"""Results as pandas tables and xarray trees, and the files written from them."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import MethodError, NotKeptError
from herded.run.build_result import full_repr
from tests.support.example_budget import examples
from tests.support.page_transcripts import transcripts

pandas = pytest.importorskip("pandas", reason="tables are pandas's")
xarray = pytest.importorskip("xarray", reason="trees are xarray's")

RNG = np.random.default_rng(3)
CARDS = [2, 3, 2]
TABLES = [((0, 1), RNG.normal(size=(2, 3))), ((1, 2), RNG.normal(size=(3, 2)))]
STATES = [["no", "yes"], ["low", "mid", "high"], ["no", "yes"]]
NAMED = hd.FactorGraph(CARDS, TABLES, names=["rain", "river", "flood"], state_names=STATES)
PLAIN = hd.FactorGraph(CARDS, TABLES)
PICTURE = hd.ising_grid(RNG.normal(size=(3, 4)), 0.4)
KEEP = [hd.Marginals(), hd.Samples(every=5), hd.BestState()]


@pytest.fixture(scope="module")
def result():
    return hd.infer(NAMED, hd.HerdedGibbs(), sweeps=100, burn_in=7, chains=3, keep=KEEP)


@pytest.fixture(scope="module")
def picture():
    return hd.infer(PICTURE, hd.HerdedGibbs(), sweeps=40, chains=2, keep=KEEP)


# -- pandas ------------------------------------------------------------------------------------


def test_a_table_of_marginals(result):
    """A row for each state of each variable, and none for states that it does not have."""
    table = result.to_pandas()
    names = ["variable", "state", "probability", "standard_error", "low", "high"]
    assert table.columns.tolist() == names and len(table) == 7
    assert table.variable.tolist() == ["rain"] * 2 + ["river"] * 3 + ["flood"] * 2
    assert table.state.tolist() == [name for own in STATES for name in own]
    row = table.set_index(["variable", "state"]).loc[("river", "high")]
    assert row.probability == result.marginals[1, 2]
    assert row.standard_error == result.standard_error[1, 2]
    assert [row.low, row.high] == result.interval[1, 2].tolist()


def test_without_names_numbers_are_used():
    table = hd.infer(PLAIN, hd.Exact()).to_pandas()
    assert table.columns.tolist() == ["variable", "state", "probability"]
    assert table.variable.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert table.state.tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert (table.groupby("variable").probability.sum() - 1).abs().max() < 1e-12


def test_pixels_are_named_by_row_and_column(picture):
    table = picture.to_pandas().set_index(["row", "column", "state"])
    assert table.loc[(2, 1, 1), "probability"] == picture.marginals[2, 1, 1]
    assert table.loc[(1, 3, 0), "standard_error"] == picture.standard_error[1, 3, 0]


def test_chains_that_agree_to_the_bit_have_no_standard_error():
    sure = PLAIN.given({0: 1, 1: 2, 2: 0})
    same = hd.infer(sure, hd.Gibbs(), sweeps=5, chains=2)
    assert np.isnan(same.to_pandas()["standard_error"].to_numpy()).all()
    assert np.isnan(same.to_xarray()["marginals/standard_error"].to_numpy()).all()


def test_a_table_needs_marginals():
    with pytest.raises(NotKeptError, match="keep="):
        hd.infer(PLAIN, hd.Gibbs(), sweeps=2, keep=[hd.Samples()]).to_pandas()


# -- xarray ------------------------------------------------------------------------------------


def test_groups_and_dimensions(result):
    tree = result.to_xarray()
    assert list(tree.children) == ["posterior", "sample_stats", "marginals", "best"]
    x = tree["posterior/x"]
    assert x.dims == ("chain", "draw", "node") and x.shape == (3, 20, 3)
    assert (x.to_numpy() == result.samples).all() and x.dtype == result.samples.dtype
    assert (x.sel(node="flood").to_numpy() == result.samples[:, :, 2]).all()
    stats = tree["sample_stats"]
    assert stats["sweep"].to_numpy().tolist() == list(range(5, 101, 5))
    assert stats["log_score"].dims == ("chain", "draw")
    assert (stats["log_score"].to_numpy() == NAMED.log_score(result.samples)).all()
    assert tree["best/x"].to_numpy().tolist() == result.best.state.tolist()
    assert float(tree["best/log_score"]) == result.best.log_score


def test_marginals_are_labelled(result):
    group = result.to_xarray()["marginals"]
    assert group["marginal"].dims == ("node", "state")
    assert float(group["marginal"].sel(node="river", state=2)) == result.marginals[1, 2]
    assert float(group["standard_error"].sel(node="river", state=0)) == result.standard_error[1, 0]
    known = np.array([[True, True, False], [True] * 3, [True, True, False]])
    assert (group["marginal"].notnull().to_numpy() == known).all()
    each = group["chain_marginal"]
    assert each.dims == ("chain", "node", "state")
    assert (each.to_numpy()[:, known] == result.chain_marginals[:, known]).all()
    assert group["state_name"].to_numpy().tolist() == [
        ["no", "yes", ""],
        ["low", "mid", "high"],
        ["no", "yes", ""],
    ]


def test_observables_have_a_group():
    keep = [hd.Observable(hd.energy), hd.Observable(hd.magnetisation, every=4, series=False)]
    keep.append(hd.Observable(hd.Correlations([1, 2]), every=2))
    result = hd.infer(PICTURE, hd.Gibbs(herd=4), sweeps=8, chains=2, keep=keep)
    group = result.to_xarray()["observables"]
    assert dict(group["energy"].sizes) == {"chain": 8, "draw": 8}
    assert (group["energy"].to_numpy() == result.observables["energy"].series).all()
    assert group["magnetisation"].dims == ("herd",)
    pairs = group["correlations"]
    assert pairs.dims == ("chain", "draw_of_2", "correlations_axis_0") and pairs.shape == (8, 4, 2)


def test_pictures_keep_their_rows_and_columns(picture):
    tree = picture.to_xarray()
    assert tree["posterior/x"].dims == ("chain", "draw", "row", "column")
    assert (tree["posterior/x"].to_numpy().reshape(2, 8, 12) == picture.samples).all()
    assert tree["marginals/marginal"].dims == ("row", "column", "state")
    assert (tree["marginals/marginal"].to_numpy() == picture.marginals).all()
    assert (tree["best/x"].to_numpy() == picture.best.state).all()
    pixel = tree["marginals/standard_error"].sel(row=2, column=3)
    assert (pixel.to_numpy() == picture.standard_error[2, 3]).all()


def test_only_what_was_kept_is_there():
    one = hd.infer(PLAIN, hd.Gibbs(), sweeps=4, keep=[hd.Samples()])
    tree = one.to_xarray(log_score=False)
    assert list(tree.children) == ["posterior", "sample_stats"]
    assert list(tree["sample_stats"].data_vars) == ["sweep"]
    assert tree["posterior"]["node"].to_numpy().tolist() == [0, 1, 2]
    exact = hd.infer(PLAIN, hd.Exact()).to_xarray()
    assert set(exact["marginals"].data_vars) == {"marginal"} and "posterior" not in exact.children
    assert exact.attrs["log_z"] == hd.infer(PLAIN, hd.Exact()).log_z
    with pytest.raises(NotKeptError, match="keep="):
        hd.infer(PLAIN, hd.Gibbs(), sweeps=2, keep=[hd.Joint()]).to_xarray()


def test_scores_do_not_depend_on_how_many_are_made_at_once(result, monkeypatch):
    whole = result.to_xarray()["sample_stats/log_score"]
    monkeypatch.setattr("herded.run.export.pandas_xarray.ENTRIES_PER_SCORING", 3 * 7)
    assert whole.identical(result.to_xarray()["sample_stats/log_score"])


def test_attributes_say_where_it_came_from(result):
    attributes = result.to_xarray().attrs
    assert json.loads(json.dumps(attributes)) == attributes
    assert all(type(value) in (str, int, float) for value in attributes.values())
    assert attributes["model"] == NAMED.content_hash
    assert attributes["method"] == full_repr(hd.HerdedGibbs()) and attributes["burn_in"] == 7
    assert attributes["inference_library"] == "herded"
    assert attributes["numpy_version"] == np.__version__ and attributes["interrupted"] == 0


# -- files -------------------------------------------------------------------------------------


def test_netcdf(result, picture, tmp_path):
    pytest.importorskip("h5netcdf")
    for number, one in enumerate((result, picture)):
        tree = one.to_xarray()
        tree.to_netcdf(tmp_path / f"{number}.nc", engine="h5netcdf")
        with xarray.open_datatree(tmp_path / f"{number}.nc", engine="h5netcdf") as read:
            assert read.identical(tree)


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.filterwarnings("error:The data type")
def test_zarr(result, tmp_path):
    pytest.importorskip("zarr")
    tree = result.to_xarray()
    tree.to_zarr(tmp_path / "run.zarr")
    with xarray.open_datatree(tmp_path / "run.zarr", engine="zarr") as read:
        assert read.identical(tree)


TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=4)


@given(st.lists(TEXTS, min_size=3, max_size=3, unique=True))
@examples(25)
def test_any_names_survive_a_file(tmp_path_factory, names):
    pytest.importorskip("h5netcdf")
    path = tmp_path_factory.mktemp("names") / "run.nc"
    model = hd.FactorGraph(CARDS, TABLES, names=names)
    hd.infer(model, hd.Exact()).to_xarray().to_netcdf(path, engine="h5netcdf")
    with xarray.open_datatree(path, engine="h5netcdf") as read:
        assert read["marginals"]["node"].to_numpy().tolist() == names


def test_a_scan_of_many_variables_fits_into_a_file(tmp_path):
    pytest.importorskip("h5netcdf")
    scan = tuple(range(20_000))
    wide = hd.FactorGraph([2] * len(scan), [])
    tree = hd.infer(wide, hd.Gibbs(scan=scan), sweeps=1).to_xarray()
    tree.to_netcdf(tmp_path / "wide.nc", engine="h5netcdf")
    assert tree.attrs["method"].startswith("Gibbs(seed=0, scan=(0, 1,")
    assert tree.attrs["method"].endswith("...")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_arviz_opens_it(result, tmp_path):
    arviz = pytest.importorskip("arviz", reason="needs ArviZ, which is large")
    result.to_xarray().to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    opened = arviz.from_netcdf(tmp_path / "run.nc")
    assert opened.posterior["x"].dims == ("chain", "draw", "node")
    summary = arviz.summary(opened, round_to="none")
    assert summary.index.tolist() == ["x[rain]", "x[river]", "x[flood]"]
    means = result.samples.reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(summary["mean"].to_numpy(float), means)


# -- what is missing ---------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "xarray"])
def test_libraries_may_be_missing(result, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MethodError, match=rf"{library} for to_{library}.*'herded\[xarray\]'"):
        getattr(result, f"to_{library}")()


def test_an_old_xarray_has_no_trees(result, monkeypatch):
    monkeypatch.delattr(xarray, "DataTree")
    with pytest.raises(MethodError, match=r"2024\.10 or later"):
        result.to_xarray()


def test_the_page_says_what_happens(tmp_path, monkeypatch):
    pytest.importorskip("h5netcdf")
    monkeypatch.chdir(tmp_path)  # it writes a file
    found = transcripts("results")
    assert len(found) == 7
    for said, printed in found:
        assert said == printed
