"""One reader for every kind of file, by its name or by what is in it."""

import gzip
import os
import threading

import numpy as np
import pytest

import herded as hd
from herded.errors import FileError
from herded.io.model_files import read_model

TABLES = [((0,), np.log([0.25, 0.75])), ((0, 1), np.log([[0.5, 0.5], [0.125, 0.875]]))]
NET = hd.FactorGraph([2, 2], TABLES, names=["a", "b"], state_names=[["x", "y"]] * 2)
WRITERS = {
    "uai": hd.io.write_uai,
    "bif": hd.io.write_bif,
    "xmlbif": hd.io.write_xmlbif,
    "npz": hd.save_model,
    "safetensors": hd.save_model,
}
KINDS = pytest.mark.parametrize("kind", WRITERS)


def written(kind, tmp_path):
    if kind == "safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    path = tmp_path / f"net.{kind}"
    WRITERS[kind](NET, path)
    return path


def same(model):
    assert model.content_hash == NET.content_hash
    assert model.names in (NET.names, None)


@KINDS
def test_by_name(tmp_path, kind):
    path = written(kind, tmp_path)
    same(read_model(path))
    same(read_model(str(path)))
    packed = tmp_path / f"net.{kind.upper()}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(read_model(packed))


@KINDS
@pytest.mark.parametrize("packed", [False, True])
def test_by_content(tmp_path, kind, packed):
    data = written(kind, tmp_path).read_bytes()
    path = tmp_path / "net.dat"
    path.write_bytes(gzip.compress(data) if packed else data)
    same(read_model(path))


@KINDS
def test_by_format(tmp_path, kind):
    path = tmp_path / "net.bif" if kind != "bif" else tmp_path / "net.uai"
    path.write_bytes(written(kind, tmp_path).read_bytes())
    same(read_model(path, kind))
    with pytest.raises(FileError, match="expected"):
        read_model(path)


@pytest.mark.parametrize("suffix", [".xml", ".bifxml", ".XML"])
def test_other_names_of_xmlbif(tmp_path, suffix):
    hd.io.write_xmlbif(NET, tmp_path / f"net{suffix}")
    same(read_model(tmp_path / f"net{suffix}"))


@pytest.mark.parametrize(
    "data", [b"", b"hello", bytes(100), b"%PDF-1.4", b"root:x:0:0:network variable:/root:/bin/sh"]
)
def test_files_of_no_known_kind(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FileError, match=r"\(UAI, BIF, XMLBIF, \.npz or .* got a file of none"):
        read_model(tmp_path / "file")


@pytest.mark.parametrize("begin", ["// a network\n", "\ufeff\n/* two\nlines */ // and one\n"])
def test_a_bif_may_begin_with_comments(tmp_path, begin):
    hd.io.write_bif(NET, tmp_path / "net.bif")
    (tmp_path / "file").write_text(begin + (tmp_path / "net.bif").read_text(), encoding="utf-8")
    same(read_model(tmp_path / "file"))


def test_wrong_arguments(tmp_path):
    with pytest.raises(FileError, match="expected format= as one of 'uai', 'bif'"):
        read_model(tmp_path / "net.uai", "net")
    with pytest.raises(FileError, match="No such file"):
        read_model(tmp_path / "net")
    with pytest.raises(FileError, match="expected the path as the name of a file, got 5"):
        read_model(5)


def test_the_limit_reaches_the_reader(tmp_path):
    path = written("uai", tmp_path)
    with pytest.raises(hd.MemoryLimitError, match="raise max_memory="):
        read_model(path, max_memory=100)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_a_pipe_is_read_once(tmp_path, pack):
    path = written("uai", tmp_path)
    content = pack(path.read_bytes())
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    assert hd.read_model(tmp_path / "pipe").content_hash == read_model(path).content_hash
    writer.join()


def test_a_file_without_a_telling_name_is_held_against_the_limit(tmp_path):
    written("uai", tmp_path).rename(tmp_path / "model")
    with pytest.raises(hd.MemoryLimitError, match=r"expected at most .* in .*model, since reading"):
        hd.read_model(tmp_path / "model", max_memory=200)
