"""Fixtures of many suites, and kernels that are compiled afresh for every session.

A stale cache would test yesterday's code.
"""

import os
import signal
import tempfile
import warnings

import pytest

# Workers of one session share what one of them has compiled; the next session starts empty.
if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="herded-tests-")

# A session that a shell runs in the background is started deaf to Ctrl-C, which the tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _signals_as_before():
    """An interrupted command ignores further signals, as its process is about to end."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGTERM, before[1])


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The test runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    import numpy as np

    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
