"""How many files a reader passes from `infer` to the kernel.

`python -m tests.repository.call_trace` lists them.
"""

import os

import numpy as np
import pytest

import herded as hd
from tests.repository import call_trace

# Of infer on a grid: 14 of 42 files estimate memory, record, and judge the length of the run.
FILES, CROSSINGS, FRAMES = 42, 218, 7
FILES_OF_A_CHOICE = 25  # of infer without a method
FILES_OF_A_COMMAND = 40

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are plain functions"
)


@compiled
def test_infer_on_a_grid():
    found = call_trace.infer_on_a_grid()
    assert 0 < found.frames <= FRAMES
    assert len(found.files) <= FILES and found.crossings <= CROSSINGS, call_trace.shown(
        "infer", found
    )


@compiled
def test_infer_without_a_method():
    found = call_trace.infer_by_itself()
    assert len(found.files) <= FILES_OF_A_CHOICE, call_trace.shown("infer", found)


@compiled
def test_a_command(tmp_path, capsys):
    file = tmp_path / "model.uai"
    hd.io.write_uai(hd.ising_grid(np.zeros((3, 3)), 0.2).as_factor_graph(), file)
    call_trace.command(["infer", str(file)])
    found = call_trace.command(["infer", str(file)])
    assert len(found.files) <= FILES_OF_A_COMMAND, call_trace.shown("herded infer", found)


def test_what_is_counted():
    """A call within a file is no crossing; kernels and comprehensions are no functions."""
    model = hd.ising_grid(np.zeros((2, 2)))
    found = call_trace.walk(lambda: model.shape)
    assert found == call_trace.Walk(["models/lattice.py"], 1, 0, 0)
