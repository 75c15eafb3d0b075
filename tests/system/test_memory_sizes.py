"""Sizes of memory as numbers and as people write them."""

import argparse

import numpy as np
import pytest

import herded as hd
from herded.cli.commands.infer_arguments import parse_size
from herded.methods.default_weights import default_weights
from herded.system.memory_limits import bytes_of, memory_limit

SIZES = {
    "1": 1,
    "1000000": 10**6,
    "1e6": 10**6,
    "1.5e3": 1500,
    ".5k": 512,
    "500M": 500 * 2**20,
    "500MB": 500 * 2**20,
    "2G": 2 * 2**30,
    "2g": 2 * 2**30,
    "2 GiB": 2 * 2**30,
    " 2gb ": 2 * 2**30,
    "0.25T": 2**38,
    "100 b": 100,
}
NO_SIZES = [
    "",
    " ",
    "G",
    ".",
    "much",
    "0",
    "0G",
    "-2G",
    "+2G",
    "2 G G",
    "2  G",
    "2X",
    "2Gs",
    "1.2.3M",
    "1,5G",
    "1e",
    "1e999",
    "inf",
    "nan",
    "2G\0",
    "٢G",
]
CHAIN = hd.chain_model(np.zeros((6, 2)), np.eye(2))
GRID = hd.ising_grid(np.zeros((4, 4)), 0.5)


@pytest.mark.parametrize(("text", "expected"), SIZES.items())
def test_sizes(text, expected):
    assert bytes_of(text) == memory_limit(text) == parse_size(text) == expected


@pytest.mark.parametrize("text", NO_SIZES)
def test_what_is_no_size(text):
    assert bytes_of(text) is None
    with pytest.raises(hd.MethodError, match=r'expected max_memory= .*"500M" or "2G", got '):
        memory_limit(text)
    with pytest.raises(argparse.ArgumentTypeError, match="expected a number of bytes"):
        parse_size(text)


@pytest.mark.parametrize(
    "method", [hd.HerdedGibbs(), hd.Gibbs(), hd.MeanField(), hd.BeliefPropagation(), hd.Exact()]
)
def test_every_method_takes_a_size(method):
    for model in (CHAIN, GRID):
        written = hd.infer(model, method, sweeps=3, max_memory="2G")
        told = hd.infer(model, method, sweeps=3, max_memory=2 * 2**30)
        assert (written.marginals == told.marginals).all()
        with pytest.raises(hd.MethodError, match="got 'two'"):
            hd.infer(model, method, sweeps=3, max_memory="two")


def test_a_size_is_held():
    for method in (hd.HerdedGibbs(), hd.BeliefPropagation(), hd.Exact()):
        with pytest.raises(hd.MemoryLimitError, match=r"at most 16 bytes.*raise max_memory="):
            hd.infer(CHAIN, method, max_memory="16b")
    with pytest.raises(hd.MemoryLimitError, match=r"at most 1\.0 KiB"):
        hd.infer(GRID, hd.HerdedGibbs(), chains=1000, max_memory="1k")


def test_a_size_of_weights_that_suit():
    assert default_weights(CHAIN, max_memory="1M").weights == "blanket"
    assert default_weights(CHAIN, max_memory="64").weights == "pooled"


def test_readers_take_a_size(tmp_path):
    hd.io.write_uai(CHAIN, tmp_path / "chain.uai")
    hd.io.write_bif(hd.FactorGraph([2], [((0,), np.log([0.25, 0.75]))]), tmp_path / "one.bif")
    hd.save_model(CHAIN, tmp_path / "chain.npz")
    for read, name in (
        (hd.io.read_uai, "chain.uai"),
        (hd.io.read_bif, "one.bif"),
        (hd.load_model, "chain.npz"),
        (hd.read_model, "chain.uai"),
    ):
        path = tmp_path / name
        assert read(path, max_memory="1M").content_hash == read(path).content_hash
        with pytest.raises(hd.MemoryLimitError, match="raise max_memory="):
            read(path, max_memory="20b")
        with pytest.raises(hd.MethodError, match="got '20 bytes'"):
            read(path, max_memory="20 bytes")


def test_a_tiled_run_takes_a_size(tmp_path):
    np.save(tmp_path / "field.npy", np.zeros((8, 8)))
    lattice = hd.StoredLattice(tmp_path / "field.npy", 0.3)
    found = hd.infer_tiled(lattice, out=tmp_path / "out.npy", sweeps=2, max_memory="100M")
    assert found.marginals.shape == (8, 8)
    with pytest.raises(hd.MethodError, match="got 'lots'"):
        hd.infer_tiled(lattice, out=tmp_path / "out.npy", sweeps=2, max_memory="lots")
