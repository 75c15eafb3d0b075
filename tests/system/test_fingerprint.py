"""Names of functions: the same for the same code, another for what could change it."""

import functools
import math
import os
import subprocess
import textwrap

import numpy as np
import pytest

from herded.models.callbacks import function_calls
from herded.system.compilation.fingerprint import Fingerprint
from herded.system.compilation.kernel_cache import (
    CACHE_FOLDER,
    PACKAGE,
    PackageSources,
    cache_folder,
)
from tests.support.warm_processes import Nursery

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


PREPARE = """
import herded.run.infer
from herded.system.compilation.jit import _numba
_numba().njit(lambda: 0)()
"""
SCRIPT = """
import sys
import herded as hd
from herded.layouts.callback.sweeps import callback_sweeps
SHIFT = {shift}
def field(i):
    return SHIFT * i
def made(slope):
    def conditional(i, x, statistics, data, out):
        out[0], out[1] = 0.0, field(i) + slope * i
    return hd.ConditionalModel([2] * 3, conditional)
for slope in map(float, sys.argv[1:]):
    model, keep = made(slope), [hd.Marginals(rao_blackwell=True)]
    found = hd.infer(model, hd.Gibbs(), sweeps=4, keep=keep).marginals[2, 1]
    print(float(found.round(6)), sum(model.callbacks.fast.visit.stats.cache_hits.values()))
print(sum(callback_sweeps.dispatcher.stats.cache_hits.values()))
"""


def test_compiled_functions_are_kept_for_the_next_process(tmp_path):
    """With the kernel for all functions of the same types; an edit of what they call is seen.

    Functions of one name from several processes are told apart: each process would number its own
    in the same way.
    """
    only_functions_are_new(tmp_path)
    with Nursery(PREPARE, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0") as nursery:

        def run(shift, *slopes):
            """The odds by each function, whether it was kept; at last whether the kernel was."""
            printed = nursery.run(SCRIPT.format(shift=shift), *slopes)
            return [float(word) for word in printed.split()]

        def odds(number):
            return pytest.approx(1 / (1 + math.exp(-2 * number)), abs=1e-6)

        assert run(0.5, 0)[:2] == [odds(0.5), 0]
        assert run(0.5, -2) == [odds(-1.5), 0, 1]
        assert run(0.5, 0, -2, 0) == [odds(0.5), 1, odds(-1.5), 1, odds(0.5), 1, 1]
        assert run(1.5, 0) == [odds(1.5), 0, 1]


def only_functions_are_new(folder):
    """Let `folder` have the kernels of this session, but no function of a user's own."""
    if not hasattr(os, "fork"):  # no Unix: links are not for everyone, and so all are compiled
        return
    sources = PackageSources(PACKAGE)
    for module in sources.paths:
        kept = cache_folder(sources, module, os.environ["NUMBA_CACHE_DIR"])
        if module != function_calls.__name__:
            kept.mkdir(parents=True, exist_ok=True)
            (folder / CACHE_FOLDER).mkdir(exist_ok=True)
            (folder / CACHE_FOLDER / kept.name).symlink_to(kept.resolve())
