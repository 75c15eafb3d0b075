"""exp and log: less than one unit in the last place off, and the same bits everywhere."""

import os
import sys

import hypothesis.extra.numpy as hnp
import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from herded.system.numerics import exp_log_tables
from herded.system.numerics.exp_log import exp, exp_array, log, log_add_exp, log_array
from tests.conformance.twins.exp_log import naive_exp, naive_log
from tests.support.example_budget import ALL, UNCOMPILED, examples
from tests.support.warm_processes import NUMBA, Nursery
from tests.system.exp_log_hashes import GOLDEN, exp_arguments, hashes, log_arguments

MOST, LEAST = sys.float_info.max, 5e-324
NORMAL = sys.float_info.min
FEW = 16 if UNCOMPILED else 1  # of so many arguments one
floats = st.floats(width=64)


def neighbours(values, steps=3):
    """The values and the floats beside them, but for 0."""
    bits = values[values != 0.0].view(np.int64)
    return (bits + np.arange(-steps, steps + 1)[:, None]).view(np.float64).ravel()


def ulps(found, arguments, exactly):
    """The largest distance from what mpmath finds, in units in the last place of that."""
    worst = 0.0
    with mpmath.workprec(100):  # off by 2^-47 units at most
        for y, x in zip(found.tolist(), arguments.tolist(), strict=True):
            truth = exactly(mpmath.mpf(x))
            assert np.isfinite(y)
            worst = max(worst, float(abs(y - truth) / float(np.spacing(abs(float(truth))))))
    return worst


def hard_exp():
    """Ends of the steps of the table and middles between them, and both ends of the range."""
    steps = np.arange(-520, 520) * (np.log(2) / 256)  # the table has 128
    return neighbours(np.concatenate([steps, steps * 60, [1.0, -1.0, 2.0**-30, -(2.0**-54)]]))


def hard_log():
    """Ends of the intervals of the table, powers of two, and neighbours of 1."""
    ends = 1 + (np.arange(-160, 260) + 0.5) / 256
    near = 1 + np.outer([-1, 1], 2.0 ** -np.arange(1, 53)).ravel()
    powers = 2.0 ** np.arange(-1022, 1024, 7)
    found = neighbours(np.concatenate([ends, near, powers, powers * 1.41]))
    return found[(found != 1.0) & (found >= NORMAL)]


def test_exp_is_within_an_ulp():
    rng = np.random.default_rng(1)
    for x in (hard_exp(), rng.uniform(-700, 700, 5000), rng.uniform(-1, 1, 5000)):
        x = x[:: 8 * FEW if UNCOMPILED else 1]
        assert ulps(exp_array(x), x, mpmath.exp) < 0.51
    x = rng.uniform(700, 709.78, 1000)
    assert ulps(exp_array(x), x, mpmath.exp) < 0.51
    x = rng.uniform(-745.13, -700, 2000)  # subnormal ones are rounded twice
    assert 0.51 < ulps(exp_array(x), x, mpmath.exp) < 0.76


def test_log_is_within_an_ulp():
    rng = np.random.default_rng(2)
    far = 2.0 ** rng.uniform(-1022, 1023, 5000)
    for x in (hard_log(), far, rng.uniform(0.5, 2, 5000), rng.uniform(0.99, 1.01, 5000)):
        x = x[:: 8 * FEW if UNCOMPILED else 1]
        assert ulps(log_array(x), x, mpmath.log) < 0.52
    x = rng.uniform(0, NORMAL, 1000)
    assert ulps(log_array(x), x, mpmath.log) < 0.52


def test_both_are_within_an_ulp_of_numpy():
    rng = np.random.default_rng(3)
    n = 500_000 // FEW**2
    for x in (rng.uniform(-708, 709.7, n), rng.normal(0, 1, n)):
        y = np.exp(x)
        assert (np.abs(exp_array(x) - y) <= np.spacing(y)).all()
    for x in (rng.uniform(0, 1, n), rng.uniform(1, 3, n), 2.0 ** rng.uniform(-1074, 1023.9, n)):
        y = np.log(x)
        assert (np.abs(log_array(x) - y) <= np.spacing(np.abs(y))).all()


def test_special_values():
    for x in (0.0, -0.0, LEAST, -LEAST, 1e-300, 2.0**-54):
        assert exp(x) == 1.0
    largest = 709.782712893384
    assert exp(np.inf) == exp(1e300) == exp(710.0) == exp(np.nextafter(largest, 710)) == np.inf
    assert 0.999 * MOST < exp(largest) <= MOST
    assert exp(-np.inf) == exp(-1e300) == exp(-745.1332191019412) == 0.0
    assert exp(-745.133219101941) == LEAST
    assert not np.signbit([exp(-np.inf), exp(-1e300), exp(-750.0)]).any()
    assert log(0.0) == log(-0.0) == -np.inf and log(np.inf) == np.inf
    assert log(1.0) == 0.0 and not np.signbit(log(1.0))
    assert log(2) == 0.6931471805599453 and exp(1) == 2.718281828459045
    for x in (exp(np.nan), log(np.nan), log(-1.0), log(-LEAST), log(-np.inf)):
        assert np.float64(x).view(np.uint64) == 0x7FF8000000000000


def test_both_rise_with_their_argument():
    rng = np.random.default_rng(4)
    n = 100_000 // FEW
    ends = np.concatenate([rng.uniform(-746, 710, n), hard_exp()[::FEW]])
    assert (exp_array(np.nextafter(ends, np.inf)) >= exp_array(ends)).all()
    ends = np.concatenate([2.0 ** rng.uniform(-1074, 1023, n), hard_log()[::FEW]])
    assert (log_array(np.nextafter(ends, np.inf)) >= log_array(ends)).all()


@examples(400)
@given(x=floats | st.floats(-750, 712))
def test_exp_is_its_twin(x):
    assert np.float64(exp(x)).tobytes() == np.float64(naive_exp(x)).tobytes() or np.isnan(x)


@examples(400)
@given(x=floats | st.floats(0.4, 2.2) | st.floats(0.99, 1.01))
def test_log_is_its_twin(x):
    assert np.float64(log(x)).tobytes() == np.float64(naive_log(x)).tobytes()


def test_many_arguments_are_their_twins():
    for x in np.concatenate([exp_arguments(500), hard_exp()[::19]]).tolist():
        assert exp(x) == naive_exp(x) or np.isnan(x)
    for x in np.concatenate([log_arguments(500), hard_log()[::9]]).tolist():
        assert log(x) == naive_log(x) or not x >= 0


arrays = hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, min_side=0, max_side=5))


@examples(100)
@given(values=arrays, data=st.data())
def test_arrays(values, data):
    """Of any shape and layout, into themselves, into others, into those with gaps."""
    wide = np.repeat(values[..., None], 2, axis=-1)
    layouts = {"as it is": values, "turned": values.T, "with gaps": wide[..., 0]}
    given_values = layouts[data.draw(st.sampled_from(sorted(layouts)))].view()
    for of_one, of_all in ((exp, exp_array), (log, log_array)):
        expected = np.array([of_one(x) for x in given_values.ravel()]).reshape(given_values.shape)
        before = given_values.copy()
        given_values.flags.writeable = False
        found = of_all(given_values)
        np.testing.assert_array_equal(found, expected)
        assert found.shape == expected.shape and found.dtype == np.float64
        np.testing.assert_array_equal(given_values, before)
        gaps = np.zeros((*given_values.shape, 3))[..., 1]
        for out in (given_values.copy(), gaps, np.empty_like(given_values.T).T):
            assert of_all(given_values, out=out) is out
            np.testing.assert_array_equal(out, expected)
        itself = given_values.copy(order="K")
        assert of_all(itself, out=itself) is itself
        np.testing.assert_array_equal(itself, expected)


def test_lists_and_whole_numbers():
    assert exp_array([0, 1]).tolist() == [1.0, exp(1.0)]
    assert log_array(np.arange(3)).tolist() == [-np.inf, 0.0, log(2.0)]
    assert exp_array(np.float32(0.5)) == exp(0.5)


@examples(150)
@given(a=st.floats(-1e3, 1e3), gap=st.floats(0, 800) | st.floats(0, 1))
@example(a=-0.1, gap=5.0)
def test_log_add_exp(a, gap):
    b = a - gap
    with mpmath.workprec(2500):
        truth = mpmath.log(mpmath.exp(a) + mpmath.exp(b))
        off = float(abs(log_add_exp(a, b) - truth))
        added = float(truth - a)  # and rounded before
    # The exponent b - a is rounded too, which moves e^(b - a) by as much, relative to itself.
    exponent = 0.5 * np.spacing(abs(b - a)) * added
    assert off <= 0.5 * np.spacing(abs(float(truth))) + 2 * np.spacing(added) + exponent
    assert log_add_exp(b, a) == log_add_exp(a, b)


def test_log_add_exp_of_infinities():
    assert log_add_exp(-np.inf, -np.inf) == -np.inf
    assert log_add_exp(-np.inf, 2) == log_add_exp(2.0, -np.inf) == 2.0
    assert log_add_exp(np.inf, 2.0) == log_add_exp(-np.inf, np.inf) == np.inf
    assert log_add_exp(np.inf, np.inf) == np.inf
    assert np.isnan(log_add_exp(np.nan, 1.0)) and np.isnan(log_add_exp(1.0, np.nan))
    assert log_add_exp(0.0, -40.0) == np.logaddexp(0.0, -40.0)


def test_the_tables():
    with mpmath.workprec(200):
        power = exp_log_tables.exp_table().reshape(-1, 2).tolist()
        for j, (rounded, less) in enumerate(power):
            exactly = mpmath.mpf(2) ** (mpmath.mpf(j) / 128)
            assert rounded == float(exactly) and less == float(exactly / rounded - 1)
        for top, bottom in ((2, 1), (3, 4), (4, 3), (2**16, 92_000)):
            found = mpmath.mpf(exp_log_tables.scaled_log(top, bottom)) / exp_log_tables.TABLE_ONE
            assert abs(found - mpmath.log(mpmath.mpf(top) / bottom)) < 2.0**-150


def test_golden():
    assert hashes() == GOLDEN


MACHINES = {
    "uncompiled": {"NUMBA_DISABLE_JIT": "1"},
    "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"},
}
if ALL:  # test_golden has both of them too; what could be fused is fused where there is +fma
    MACHINES["generic"] = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    MACHINES["host"] = {}
SCRIPT = """
import sys, warnings
warnings.simplefilter("error", RuntimeWarning)
sys.path.insert(0, sys.argv[1])
from exp_log_hashes import hashes
from herded.system.numerics import exp_log as exp
print(hashes())
kernels = [getattr(exp, name) for name in ("_exp_each", "_log_each")]
if hasattr(kernels[0], "dispatcher"):
    kernels = [kernel.dispatcher for kernel in kernels]
    print(*(code for k in kernels for code in (*k.inspect_llvm().values(),
                                               *k.inspect_asm().values())))
"""


@pytest.fixture(scope="module")
def nursery():
    dropped = dict.fromkeys(("NUMBA_DISABLE_JIT", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"))
    with Nursery(NUMBA, HERDED_CACHE="0", **dropped) as found:
        yield found


@pytest.mark.parametrize("machine", MACHINES)
def test_the_same_bits_on(machine, nursery):
    """And no instruction there that would not be everywhere: nothing fused, nothing of libm."""
    printed = nursery.run(SCRIPT, os.path.dirname(__file__), **MACHINES[machine])
    first, _, code = printed.partition("\n")
    assert first == str(GOLDEN)
    assert (code.strip() == "") == (machine == "uncompiled")
    for fused in ("vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "llvm.fma", "llvm.fmuladd"):
        assert fused not in code
    for other in ("@exp", "@log", "llvm.exp", "llvm.log", "fmul fast", "contract"):
        assert other not in code
