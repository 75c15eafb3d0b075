"""Our own models on disk: every bit comes back, and no file takes more than it holds."""

import gzip
import io
import json
import os
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import FileError, MemoryLimitError, ModelError
from herded.io.model_arrays import load_model, save_model
from tests.support.strategies import lattices, models

SUFFIXES = [".npz", ".safetensors"]


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    if request.param == ".safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    return tmp_path / f"model{request.param}"


def same(found, model):
    assert type(found) is type(model)
    assert found.content_hash == model.content_hash
    assert found.names == model.names and found.state_names == model.state_names
    assert found.shape == model.shape
    assert found.evidence.tobytes() == model.evidence.tobytes()
    assert found.log_score(np.zeros(model.n_variables, int)) == model.log_score(
        np.zeros(model.n_variables, int)
    )


@given(models(), st.sampled_from(SUFFIXES))
def test_factor_graphs_come_back(tmp_path_factory, model, suffix):
    if suffix == ".safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    path = tmp_path_factory.mktemp("saved") / f"model{suffix}"
    save_model(model, path)
    same(load_model(path), model)


@given(lattices(), st.sampled_from(SUFFIXES))
def test_lattices_come_back(tmp_path_factory, model, suffix):
    if suffix == ".safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    path = tmp_path_factory.mktemp("saved") / f"model{suffix}"
    save_model(model, path)
    found = load_model(path)
    same(found, model)
    assert (found.unlike, found.periodic) == (model.unlike, model.periodic)
    save_model(model.as_factor_graph(), path)
    same(load_model(path), model.as_factor_graph())


def test_names_and_odd_numbers_come_back(path):
    table = [[-0.0, 5e-324], [-np.inf, 1e12 / 3]]
    names = {"names": ["rain", "\ud800 naïve"], "state_names": [["yes", "no"], ["", "\n"]]}
    model = hd.FactorGraph([2, 2], [((1, 0), table), ((), 0.5)], **names).given({"rain": "no"})
    save_model(model, path)
    same(load_model(path), model)
    periodic = hd.potts_grid(np.random.default_rng(0).normal(size=(3, 4, 3)), periodic=True)
    save_model(periodic, str(path))
    same(load_model(str(path)), periodic)


def test_packed_files(path):
    model = hd.ising_grid(np.ones((2, 3)), 0.5).given({0: 1})
    save_model(model, path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    same(load_model(path), model)


def test_compressed_arrays(tmp_path):
    model = hd.ising_grid(np.ones((20, 30)), 0.5)
    save_model(model, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        np.savez_compressed(tmp_path / "b.npz", **arrays)
    assert (tmp_path / "b.npz").stat().st_size < (tmp_path / "a.npz").stat().st_size / 4
    same(load_model(tmp_path / "b.npz"), model)


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model", "model.uai", "model.npy", 5, None, ""])
def test_saved_under_known_suffixes_only(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="expected"):
        save_model(hd.FactorGraph([2], []), name)
    assert os.listdir() == []


def test_only_models_are_saved(path):
    with pytest.raises(ModelError, match="expected a FactorGraph or a Lattice, got dict"):
        save_model({}, path)
    assert not path.exists()


def test_safetensors_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(FileError, match=r"pip install 'herded\[io\]', or save as \.npz"):
        save_model(hd.FactorGraph([2], []), tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").write_bytes(b"\x02" + bytes(7) + b"{}")
    with pytest.raises(FileError, match="is not installed"):
        load_model(tmp_path / "model.safetensors")


def changed(tmp_path, model, changes):
    """The saved model with other arrays, or other entries of its header."""
    save_model(model, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    header |= {name: value for name, value in changes.items() if name in header}
    arrays |= {name: value for name, value in changes.items() if name in arrays}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    if "header" in changes:
        arrays["header"] = changes["header"]
    np.savez(tmp_path / "model.npz", **{k: v for k, v in arrays.items() if v is not None})
    return tmp_path / "model.npz"


CHAIN = hd.FactorGraph([2, 2, 2], [((0, 1), np.eye(2)), ((1, 2), np.eye(2))], names="abc")
GRID = hd.ising_grid(np.ones((2, 3)), 0.5)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (CHAIN, {"header": np.zeros(3, np.uint8)}),
        (CHAIN, {"header": np.frombuffer(b"[" * 10**5, np.uint8)}),
        (CHAIN, {"header": np.frombuffer(b"[1, 2]", np.uint8)}),
        (CHAIN, {"header": np.frombuffer(b"{}", np.uint8)}),
        (CHAIN, {"header": None}),
        (CHAIN, {"format": 2}),
        (CHAIN, {"format": {}}),
        (CHAIN, {"model": "tree"}),
        (CHAIN, {"model": "lattice"}),
        (CHAIN, {"model": ["lattice"]}),
        (CHAIN, {"names": ["a", "b"]}),
        (CHAIN, {"names": 5}),
        (CHAIN, {"state_names": [["a", "b"]]}),
        (CHAIN, {"state_names": {"a": 1}}),
        (CHAIN, {"shape": [2, 2]}),
        (CHAIN, {"shape": [-1, -3]}),
        (CHAIN, {"shape": [1.5, 2]}),
        (CHAIN, {"shape": "three"}),
        (CHAIN, {"shape": []}),
        (CHAIN, {"evidence": None}),
        (CHAIN, {"evidence": np.array([-1, -1])}),
        (CHAIN, {"evidence": np.array([-1, -1, 2])}),
        (CHAIN, {"evidence": np.array([-1, -1, -2])}),
        (CHAIN, {"evidence": np.array([-1, -1, 0.5])}),
        (CHAIN, {"log_tables": np.zeros((2, 4))}),
        (CHAIN, {"log_tables": np.zeros(7)}),
        (CHAIN, {"log_tables": np.full(8, np.nan)}),
        (CHAIN, {"log_tables": np.array(["a"] * 8)}),
        (CHAIN, {"log_tables": np.zeros(8, complex)}),
        (CHAIN, {"cardinalities": np.array([2, 2, 10**18])}),
        (CHAIN, {"cardinalities": np.array([2, 0, 2])}),
        (CHAIN, {"factor_start": np.array([0, 2**63 - 1, 4])}),
        (CHAIN, {"factor_start": np.array([0, -1, 4])}),
        (CHAIN, {"factor_start": np.array(0)}),
        (CHAIN, {"factor_start": np.empty(0, int)}),
        (CHAIN, {"factor_start": np.array(["a"])}),
        (CHAIN, {"factor_variables": np.array([0, 1, 1, 3])}),
        (CHAIN, {"factor_variables": np.array([0, 1, 1, 1])}),
        (GRID, {"unlike": "no"}),
        (GRID, {"unlike": 1e999}),
        (GRID, {"periodic": 1}),
        (GRID, {"periodic": True}),
        (GRID, {"log_unary": np.zeros((2, 3))}),
        (GRID, {"right": np.zeros((3, 2))}),
        (GRID, {"clamped": np.zeros(6)}),
        (GRID, {"clamped": np.full((2, 3), 7)}),
    ],
)
def test_what_makes_no_model_is_refused(tmp_path, model, changes):
    path = changed(tmp_path, model, changes)
    with pytest.raises(FileError, match=r"expected .*model\.npz"):
        load_model(path)


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\3\4" + bytes(99), b"text", bytes(8) + b"{}"])
def test_other_files_are_refused(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FileError, match=r"expected a model that save_model wrote at .*unreadable"):
        load_model(tmp_path / "file")


def npy(kind, shape, data=b""):
    """An array's file whose header promises what `data` need not keep."""
    file = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + data


def zipped(path, member, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("header.npy", member)


@pytest.mark.parametrize(
    "member",
    [
        npy("<f8", (10**11,)),
        npy("<f8", (2**62, 4)),
        npy("|V0", (10**11,)),
        npy("|O", (1,), bytes(8)),
        npy("|u1", (3,), b"{}"),
    ],
)
def test_arrays_that_promise_too_much(tmp_path, member):
    zipped(tmp_path / "model.npz", member)
    tracemalloc.start()
    with pytest.raises(FileError, match="unreadable"):
        load_model(tmp_path / "model.npz")
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_bombs(tmp_path):
    path = tmp_path / "model.npz"
    zipped(path, npy("|u1", (2**25,), bytes(2**25)))
    assert path.stat().st_size < 2**16
    honest = path.read_bytes()
    with pytest.raises(MemoryLimitError, match=r"expected at most 2\.0 MiB"):
        load_model(path, max_memory=2**24)
    lying = honest.replace((2**25 + 128).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lying != honest
    path.write_bytes(lying)
    tracemalloc.start()
    with pytest.raises(FileError, match="unreadable"):
        load_model(path, max_memory=2**24)
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()
    zipped(path, npy("|u1", (2**20,), bytes(2**20)), zipfile.ZIP_LZMA)
    with pytest.raises(FileError, match="unreadable"):
        load_model(path)
