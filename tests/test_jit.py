"""The cache of compiled kernels: used by a second process, never by other sources."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import herded
from herded.system.jit import PREFIX, cache_folder, sources_hash

SCRIPT = """
import numpy as np
from herded.draws.phases import start_all_scalar
w = np.zeros(1, np.uint32)
start_all_scalar(w, np.uint64(5))
print(w[0], sum(start_all_scalar.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be edited."""
    source = Path(herded.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "ner", "paper", "cli")
    return shutil.copytree(source, tmp_path / "herded", ignore=ignored)


def run(package):
    """A phase that starts at random, and how often its kernel came from the cache."""
    dropped = ("NUMBA_CACHE_DIR", "HERDED_CACHE", "NUMBA_DISABLE_JIT")
    env = {name: value for name, value in os.environ.items() if name not in dropped}
    env["PYTHONPATH"] = str(package.parent)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True
    )
    return [int(word) for word in done.stdout.split()]


def test_an_edit_in_an_imported_module_is_seen(package):
    """Numba by itself would go on with the old `draw`, which lies in another file."""
    first, hits = run(package)
    assert hits == 0
    assert run(package) == [first, 1]
    stream = package / "system" / "stream.py"
    old = stream.read_text()
    stream.write_text(old.replace("mix(key + ", "mix(key + np.uint64(1) + "))
    assert stream.read_text() != old
    second, hits = run(package)
    assert second != first and hits == 0
    folders = [path.name for path in (package / "__pycache__").glob(f"{PREFIX}*")]
    assert folders == [PREFIX + sources_hash(package)]  # the old one is gone


def test_the_folder(package, tmp_path, monkeypatch):
    name = PREFIX + sources_hash(package)
    assert cache_folder(package, "/chosen") == Path("/chosen") / name
    assert cache_folder(package, "") == package / "__pycache__" / name
    shutil.rmtree(package / "__pycache__")
    (package / "__pycache__").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder(package, "") == tmp_path / "caches" / name


def test_the_hash_sees_names_and_contents(package):
    before = sources_hash(package)
    assert sources_hash(package) == before
    (package / "system" / "stream.py").rename(package / "system" / "streams.py")
    renamed = sources_hash(package)
    (package / "system" / "streams.py").write_text("")
    assert len({before, renamed, sources_hash(package)}) == 3


def test_compilers_are_seen_at_work():
    """In a process of its own, whose kernel is compiled for the first time."""
    program = """
        import threading
        from herded.system.jit import is_compiling, jit

        @jit
        def kernel(n):
            total = 0
            for k in range(n):
                total += k
            return total

        assert not is_compiling()
        seen, over = [], threading.Event()

        def look():
            while not over.is_set():
                seen.append(is_compiling())

        looking = threading.Thread(target=look)
        looking.start()
        kernel(3)
        over.set()
        looking.join()
        assert any(seen) and not is_compiling()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "HERDED_CACHE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
