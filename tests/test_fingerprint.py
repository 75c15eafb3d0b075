"""Names of functions: the same for the same code, another for what could change it."""

import functools
import math
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from herded.system.fingerprint import Fingerprint

SOURCE = """
import math
import numpy as np
SHIFT = 1.0
TABLE = np.arange(3.0)
def inner(a):
    return a + SHIFT
def function(x, scale=2.0):
    def within(y):
        return y * TABLE[0]
    return scale * inner(x) + within(math.sqrt(x)) + np.log(x)
"""


def made(source=SOURCE):
    names = {}
    exec(textwrap.dedent(source), names)
    return names["function"]


def test_the_same_again():
    """Wherever it is written, also below an empty line."""
    first, again = Fingerprint(made()), Fingerprint(made("\n\n" + SOURCE))
    assert first.hex == again.hex and first.is_whole and again.is_whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0", "3.0"),  # a default
        ("SHIFT = 1.0", "SHIFT = 1.5"),  # a global that another function reads
        ("a + SHIFT", "a - SHIFT"),  # its code
        ("arange(3.0)", "arange(4.0)"),  # an array, read by a function within
        ("y * TABLE", "y + TABLE"),
        ("np.log", "np.exp"),
        ("math.sqrt", "math.floor"),
        ("import math", "import cmath as math"),
    ],
)
def test_an_edit_is_seen(old, new):
    assert Fingerprint(made()).hex != Fingerprint(made(SOURCE.replace(old, new))).hex


def closed(number):
    return lambda x: x + number


def test_what_is_closed_over_bound_and_given():
    def first(a, b):
        return a

    parts = [closed(1), closed(2), functools.partial(first, 1), functools.partial(first, 2)]
    parts += [(1, 2), [1, 2], (1, (2,)), {"a": 1}, {"a": 2}, {1, 2}, {2, 3}, 1, 1.0, True, "1"]
    parts += [np.zeros(2), np.zeros((1, 2)), np.zeros(2, np.int64), None, math, math.sin, "sin"]
    names = [Fingerprint(part).hex for part in parts]
    assert len(set(names)) == len(names)
    assert Fingerprint(closed(1)).hex == names[0]


def test_a_function_that_calls_itself():
    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    assert Fingerprint(count).is_whole and Fingerprint(count).hex == Fingerprint(count).hex


def test_what_nobody_can_look_into_is_no_whole_name():
    """Somebody's module or object may change without a sign of it."""

    class Odd:
        def __reduce__(self):
            raise TypeError

    for part in (Odd(), Odd, subprocess, np.random.default_rng(0)):
        assert not Fingerprint(part).is_whole
    assert Fingerprint(Odd()).hex == Fingerprint(Odd()).hex
    assert Fingerprint(math.sin, np.log, np.ndarray, float, len).is_whole


SCRIPT = """
import sys
import numpy as np
import herded as hd
from herded.layouts.function_sweeps import function_sweeps
SLOPE = {slope}
def field(i):
    return SLOPE * i
def conditional(i, x, statistics, data, out):
    out[0], out[1] = 0.0, field(i)
model = hd.ConditionalModel([2] * 3, conditional)
tally = hd.infer(model, hd.Gibbs(), sweeps=4, keep=[hd.Marginals(rao_blackwell=True)]).marginals
visit = model.calls.fast.visit
hits = [sum(d.stats.cache_hits.values()) for d in (visit, function_sweeps.dispatcher)]
print(float(tally[2, 1].round(6)), *hits)
"""


def test_compiled_functions_are_kept_for_the_next_process(tmp_path):
    """The kernel for all functions of the same types; an edit of what they call is seen."""

    def run(slope):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(slope=slope)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [float(word) for word in done.stdout.split()]

    first = pytest.approx(1 / (1 + math.exp(-1.0)), abs=1e-6)
    assert run(0.5) == [first, 0, 0]
    assert run(0.5) == [first, 1, 1]
    assert run(1.5) == [pytest.approx(1 / (1 + math.exp(-3.0)), abs=1e-6), 0, 1]


SEVERAL = """
import sys
import numpy as np
import herded as hd
def made(slope):
    def conditional(i, x, statistics, data, out):
        out[0], out[1] = 0.0, slope * i
    return hd.ConditionalModel([2] * 3, conditional)
for slope in map(float, sys.argv[1:]):
    method, keep = hd.Gibbs(), [hd.Marginals(rao_blackwell=True)]
    print(float(hd.infer(made(slope), method, sweeps=4, keep=keep).marginals[2, 1].round(6)))
"""


def test_functions_of_one_name_from_several_processes_are_told_apart(tmp_path):
    """Each process would number its own in the same way."""

    def run(*slopes):
        done = subprocess.run(
            [sys.executable, "-c", SEVERAL, *map(str, slopes)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [float(word) for word in done.stdout.split()]

    expected = [pytest.approx(1 / (1 + math.exp(-2 * slope)), abs=1e-6) for slope in (0.5, -1.5)]
    assert run(0.5) == expected[:1] and run(-1.5) == expected[1:]
    assert run(0.5, -1.5, 0.5) == [*expected, expected[0]]
