"""Fixtures of many suites, and compiled kernels that are kept from one session to the next.

The folder of a kernel is named by a hash of all that it may have taken in (`test_jit.py` guards
that), and Numba itself keeps apart what was compiled by other versions or for other processors: no
session runs yesterday's code.
"""

import atexit
import gc
import os
import shutil
import signal
import sys
import warnings
from pathlib import Path

import hypothesis
import pytest

from tests.support.example_budget import examples

# Shared by the workers of a session and by all processes that its tests start.
KERNELS = Path(__file__).parents[1] / ".pytest_cache" / "kernels"
os.environ.setdefault("NUMBA_CACHE_DIR", str(KERNELS))

# Workers have all cores already: small matrices gain nothing from more threads, which wait busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Bytecode is kept as well: each of a hundred processes would parse the whole package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A session that a shell runs in the background is started deaf to Ctrl-C, which the tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("herded", examples())
hypothesis.settings.load_profile("herded")


def pytest_configure(config):
    """Kernels of sources that are no more go away, before there are workers, who end at once."""
    if hasattr(config, "workerinput"):
        # Its last word is said by then. To give back all that it holds, one by one, takes seconds.
        atexit.register(os._exit, 0)
        return
    if os.environ["NUMBA_CACHE_DIR"] != str(KERNELS):
        return
    from herded.system.compilation.kernel_cache import CACHE_FOLDER, PACKAGE, PackageSources

    sources = PackageSources(PACKAGE)
    for folder in (KERNELS / CACHE_FOLDER).glob("*"):
        module, _, version = folder.name.rpartition("-")
        if sources.hash(module) != version:
            shutil.rmtree(folder, ignore_errors=True)


# Suites with tests of a second or more, and those that start a browser, a notebook or a cluster.
LONG = (
    "test_kernels",
    "test_golden",
    "test_docs",
    "test_live_browser",
    "test_notebook",
    "test_killed_runs",
    "test_examples",
    "test_paper_command",
    "test_fingerprint",
    "test_dask_cluster",
    "test_jit",
    "test_hard_model_benchmarks",
)


def pytest_collection_modifyitems(items):
    """What takes long comes first: what comes last is short, so that all workers end together."""
    items.sort(key=lambda item: item.path.stem not in LONG)


gc.disable()  # modules and tests are made, and stay: see `pytest_collection_finish`


def pytest_collection_finish():
    """What is there by now stays: whoever looks for garbage need not look there."""
    gc.freeze()
    gc.set_threshold(20_000)  # a worker has memory for more than 700 objects that nobody needs
    gc.enable()


def pytest_sessionfinish():
    """Nobody needs what is garbage by now: pytest would look for it several times."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _signals_as_before():
    """An interrupted command ignores further signals, as its process is about to end."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGTERM, before[1])


@pytest.fixture(autouse=True, scope="session")
def _every_machine_is_alike():
    """Once for all tests, since to patch something for each of thousands takes seconds.

    - Memory is free, as much as any machine has that runs these, whatever else it does just now.
    - There is one core. Workers have all cores already: a run of a few milliseconds takes twice as
      long on threads. Tests of threads say how many.
    - Disks are not waited for. No test cuts the power: only then does it matter whether a file has
      reached the disk.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("herded.system.memory_limits.free_memory_bytes", lambda: 2**33)
        patch.setattr("herded.system.cpu_count.count_usable_cpus", lambda: 1)
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The test runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def waves_within(monkeypatch):
    """A function that lets waves be as long as so many bytes hold, and no longer.

    Lengths are remembered by the size of a lattice, which is the same in all the test's runs.
    """
    from herded.layouts.packing import wavefront

    def set_bytes(near):
        monkeypatch.setattr(wavefront, "MIN_WAVE_HALF_SWEEPS", 1)
        monkeypatch.setattr(wavefront, "CORE_CACHE_BYTES", near)
        wavefront.wave_length.cache_clear()

    yield set_bytes
    wavefront.wave_length.cache_clear()


@pytest.fixture
def quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    import numpy as np

    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
