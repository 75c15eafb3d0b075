"""How many files a reader passes from `infer` to the kernel: `python -m tests.walk` lists them."""

import os

import pytest

from tests import walk

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are plain functions"
)


@compiled
def test_infer_on_a_grid():
    found = walk.infer_on_a_grid()
    assert found.frames <= 5
    assert len(found.files) <= FILES and found.crossings <= CROSSINGS, walk.shown("infer", found)
