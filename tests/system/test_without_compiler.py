"""Small questions are answered without the compiler: the same bits, and Numba is not imported."""

import subprocess
import sys

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded.system.compilation.jit as JIT  # noqa: N812
from herded.models.constraints.constraint_search import compile_hard, full_domains, propagate_all
from herded.system.numerics.exp_log import _exp_each, _log_each, exp_array, log_array
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.strategies import models

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="there is nothing but plain Python")

SMALL = """
import sys
import numpy as np
import herded as hd
from herded.cli.main import main

table = np.log([[0.7, 0.3], [0.2, 0.8]])
hd.io.write_uai(hd.FactorGraph([2, 2], [((0, 1), table), ((0,), np.log([1.0, 1e-300]))]), "m.uai")
main(["infer", "m.uai"])
assert "numba" not in sys.modules
many = np.linspace(-1.0, 1.0, 10_000)
few = hd.system.numerics.exp_log.exp_array(many[:100])
assert "numba" not in sys.modules
assert (hd.system.numerics.exp_log.exp_array(many)[:100] == few).all()
assert "numba" in sys.modules
"""


@compiled_only
@examples(100)
@given(hnp.arrays(np.float64, st.integers(0, 20), elements=st.floats(width=64)))
def test_exp_and_log(values):
    for kernel, compiled in ((_exp_each, exp_array), (_log_each, log_array)):
        found = values.copy()
        JIT.as_plain_python(kernel)(found)
        np.testing.assert_array_equal(found, compiled(values))


@compiled_only
@examples(60)
@given(models(max_variables=6, max_states=3, max_factors=8))
def test_possible_states(model):
    if not model.has_hard_zeros:
        return
    hard = compile_hard(model)
    found, expected = (full_domains(model, hard, model.evidence) for _ in range(2))
    assert JIT.as_plain_python(propagate_all)(hard, found) == propagate_all(hard, expected)
    np.testing.assert_array_equal(found.size, expected.size)
    np.testing.assert_array_equal(found.states, expected.states)


@compiled_only
def test_a_small_question_needs_no_compiler(tmp_path):
    run = [sys.executable, "-W", "error", "-c", SMALL]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)


def test_kernels_once_numba_is_there(monkeypatch):
    assert exp_array([0.0]) == 1.0
    monkeypatch.setattr(JIT, "_steps", 0)
    JIT._numba()
    assert JIT.plain_python_if_short(_exp_each, 1) is _exp_each
