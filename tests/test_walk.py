"""How many files a reader passes from `infer` to the kernel: `python -m tests.walk` lists them."""

import os

import numpy as np
import pytest

import herded as hd
from tests import walk

# Of infer on a grid: 14 of 29 files estimate memory, record, and judge the length of the run.
FILES, CROSSINGS, FRAMES = 29, 200, 7
FILES_OF_A_CHOICE = 19  # of infer without a method
FILES_OF_A_COMMAND = 33

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are plain functions"
)


@compiled
def test_infer_on_a_grid():
    found = walk.infer_on_a_grid()
    assert 0 < found.frames <= FRAMES
    assert len(found.files) <= FILES and found.crossings <= CROSSINGS, walk.shown("infer", found)


@compiled
def test_infer_without_a_method():
    found = walk.infer_by_itself()
    assert len(found.files) <= FILES_OF_A_CHOICE, walk.shown("infer", found)


@compiled
def test_a_command(tmp_path, capsys):
    file = tmp_path / "model.uai"
    hd.io.write_uai(hd.ising_grid(np.zeros((3, 3)), 0.2).as_factor_graph(), file)
    walk.command(["infer", str(file)])
    found = walk.command(["infer", str(file)])
    assert len(found.files) <= FILES_OF_A_COMMAND, walk.shown("herded infer", found)


def test_what_is_counted():
    """A call within a file is no crossing; kernels and comprehensions are no functions."""
    model = hd.ising_grid(np.zeros((2, 2)))
    found = walk.walk(lambda: model.shape)
    assert found == walk.Walk(["models/lattice.py"], 1, 0, 0)
