"""The cache of compiled kernels: used by a second process, never by other sources."""

import ast
import copy
import gc
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import herded
import herded.system.compilation.jit as JIT  # noqa: N812
from herded.system.compilation.kernel_cache import (
    CACHE_FOLDER,
    LATE_IMPORT_WORDS,
    PACKAGE,
    PackageSources,
    cache_folder,
)
from herded.system.numerics.counter_rng import random_bits
from herded.system.numerics.exp_log import exp
from tests.support.ast_utils import statements
from tests.support.warm_processes import NUMBA, Nursery

SCRIPT = """
import numpy as np
from herded.draws.herded_weights import start_all_scalar
w = np.zeros(1, np.uint32)
start_all_scalar(w, np.uint64(5))
print(w[0], sum(start_all_scalar.dispatcher.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be edited."""
    source = Path(herded.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "ner", "paper", "cli")
    return shutil.copytree(source, tmp_path / "herded", ignore=ignored)


def edit(package, definition, old, new):
    """Edit the file that has this definition; the name of its module."""
    (path,) = [path for path in package.rglob("*.py") if definition in path.read_text()]
    text = path.read_text()
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    return ".".join(path.relative_to(package.parent).with_suffix("").parts)


@pytest.fixture(scope="module")
def nursery():
    """For programs that import the package, of these sources or of others, and compile."""
    with Nursery(NUMBA, HERDED_CACHE="1", NUMBA_DISABLE_JIT="0") as found:
        yield found


def run(nursery, package, **more):
    """A phase that starts at random, and how often its kernel came from the cache."""
    more |= {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": None}
    return [int(word) for word in nursery.run(SCRIPT, **more).split()]


def python(program, **more):
    """What a program of a new process prints."""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "0", **more}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_an_edit_and_a_processor_are_seen(nursery, package):
    """Numba by itself would go on with the old `random_bits`, which lies in another file.

    It keeps apart what it has compiled for different processors.
    """
    first, hits = run(nursery, package)
    assert hits == 0
    # Another than the one that all of this runs for.
    name = "nocona" if os.environ.get("NUMBA_CPU_NAME") == "generic" else "generic"
    assert run(nursery, package, NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES="") == [first, 0]
    assert run(nursery, package, NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES="") == [first, 1]
    module = edit(package, "class ErrorCurve:", "class ", "class  ")
    assert module not in PackageSources(package).reached("herded.draws.herded_weights")
    assert run(nursery, package) == [first, 1]
    edit(package, "def random_bits(key", "mix64(key + ", "mix64(key + np.uint64(1) + ")
    second, hits = run(nursery, package)
    assert second != first and hits == 0
    sources = PackageSources(package)
    folders = {path.name for path in (package / "__pycache__" / CACHE_FOLDER).iterdir()}
    modules = {
        name.partition("-")[0] for name in folders
    }  # of those that are no more, none is left
    assert folders == {f"{module}-{sources.hash(module)}" for module in modules}


def test_the_folder(package, tmp_path, monkeypatch):
    sources, module = PackageSources(package), "herded.system.numerics.counter_rng"
    name = f"{module}-{sources.hash(module)}"
    assert cache_folder(sources, module, "/chosen") == Path("/chosen") / CACHE_FOLDER / name
    beside = package / "__pycache__" / CACHE_FOLDER
    (beside / f"{module}-old").mkdir(parents=True)
    (beside / "herded.other-old").mkdir()
    assert cache_folder(sources, module, "") == beside / name
    assert {path.name for path in beside.iterdir()} == {name, "herded.other-old"}
    shutil.rmtree(package / "__pycache__")
    (package / "__pycache__").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder(sources, module, "") == tmp_path / "caches" / CACHE_FOLDER / name


# -- what is hashed ----------------------------------------------------------------------------


SMALL = {
    "__init__": "import importlib\ndef __getattr__(name): return importlib.import_module(name)\n",
    "kernel": "from small.part import inner\n",
    "part.__init__": "ONE = 1\n",
    "part.inner": "from small.part import (  # (of two)\n    deep as d,\n)\n",
    "part.deep": "def late():\n    from small.last import x, \\\n        y\n",
    "last": "x = y = 1\n",
    "apart": "from small.kernel import inner\n",
}


def small(folder, **more):
    """The sources of a package of a few lines."""
    for name, text in {**SMALL, **more}.items():
        path = folder / "small" / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return PackageSources(folder / "small")


def test_all_that_is_imported_is_reached(tmp_path):
    names = ("kernel", "part.inner", "part.deep", "last")
    assert small(tmp_path).reached("small.kernel") == {f"small.{name}" for name in names}
    assert small(tmp_path).reached("small.last") == {"small.last"}


@pytest.mark.parametrize(
    "text",
    [
        "import small\n",
        "import os, small.last\n",
        "from small import *\n",
        "from small import __getattr__\n",
        "from . import part\n",
        "x = __import__('small.apart')\n",
    ],
)
def test_what_may_be_anything_is_everything(text, tmp_path):
    sources = small(tmp_path, last=text)
    assert sources.reached("small.kernel") == set(sources.paths)
    assert sources.reached("elsewhere") == set(sources.paths)


def test_an_import_by_another_name(tmp_path):
    sources = small(tmp_path, last="import small.part as p, os\n")
    assert "small.part" in sources.reached("small.kernel")
    assert "small.apart" not in sources.reached("small.kernel")


def test_the_hash_sees_what_is_reached_and_nothing_else(tmp_path):
    before = small(tmp_path).hash("small.kernel")
    assert small(tmp_path).hash("small.kernel") == before
    for name in ("kernel", "part.inner", "part.deep", "last"):
        edited = small(tmp_path, **{name: SMALL[name] + "\n"})
        assert edited.hash("small.kernel") != before, name
    for name in ("__init__", "part.__init__", "apart"):
        edited = small(tmp_path, **{name: SMALL[name] + "\n"})
        assert edited.hash("small.kernel") == before, name


def test_the_hash_sees_named_tuples_anywhere(tmp_path):
    """They are arguments of kernels that need not import them."""
    pair = "class Pair(NamedTuple):\n    {}: int\n\n    {}: int\n\n\n{} = 1\n"
    before = small(tmp_path, apart=pair.format("a", "b", "c")).hash("small.kernel")
    assert small(tmp_path, apart=pair.format("b", "a", "c")).hash("small.kernel") != before
    assert small(tmp_path, apart=pair.format("a", "b", "d")).hash("small.kernel") == before


def test_commands_are_not_hashed():
    """An edit of a command, a figure or a reader throws no kernel away."""
    sources = PackageSources(PACKAGE)
    kernels = [name for name in sources.paths if b"\n@jit\n" in sources.text(name)]
    assert len(kernels) > 20 and all(JIT.__name__ in sources.imports(name) for name in kernels)
    reached = set().union(*(sources.reached(module) for module in kernels))
    for part in ("cli", "io", "paper"):
        assert f"herded.{part}" in sources.paths
        assert not [name for name in reached if name.startswith(f"herded.{part}.")]


def test_imports_and_named_tuples_are_found_as_python_finds_them():
    """`PackageSources` only looks for words; here the package is parsed."""
    sources = PackageSources(PACKAGE)
    for module in sources.paths:
        nodes = statements(ast.parse(sources.text(module)))
        assert b"namedtuple(" not in sources.text(module)
        if not any(name + b"(" in sources.text(module) for name in LATE_IMPORT_WORDS):
            assert sources.imports(module) == parsed_imports(nodes) & sources.paths.keys(), module
        tuples = [node for node in nodes if is_named_tuple(node)]
        lines = sources.text(module).splitlines()
        texts = [b"\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in tuples]
        assert all(text in sources.tuples() for text in texts), module


def parsed_imports(nodes):
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {n.name if n.asname else n.name.partition(".")[0] for n in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                found.add(inner if find_spec_of(inner) else node.module)
    return found


def find_spec_of(name):
    path = PACKAGE.parent / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def is_named_tuple(node):
    """Whether it is a class of them; there is no other way in the package."""
    return isinstance(node, ast.ClassDef) and any("NamedTuple" in ast.dump(b) for b in node.bases)


# -- compilers ---------------------------------------------------------------------------------


@pytest.mark.skipif(JIT.IS_JIT_DISABLED, reason="nothing is compiled")
def test_compilers_are_seen_at_work(monkeypatch):
    """No garbage is looked for meanwhile."""
    monkeypatch.setattr(JIT, "IS_CACHE_ENABLED", False)  # it is compiled for the first time

    @JIT.jit
    def kernel(n):
        total = 0
        for k in range(n):
            total += k
        return total

    assert not JIT.is_compiling() and gc.isenabled()
    seen, over = [], threading.Event()

    def look():
        while not over.wait(0.001):
            seen.append((JIT.is_compiling(), not gc.isenabled()))

    looking = threading.Thread(target=look)
    looking.start()
    kernel(3)
    over.set()
    looking.join()
    assert (True, True) in seen and not JIT.is_compiling() and gc.isenabled()


# -- kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("inner_first", [True, False])
def test_a_kernel_is_called_by_kernels_and_by_python(inner_first, nursery, tmp_path):
    """Both ways in one process, compiled and then from the cache, in either order.

    What comes from the cache needs no compiler.
    """
    calls = [
        "start_all_scalar(w, np.uint64(5))",
        "print(random_bits(np.uint64(5), np.uint64(0)) >> 33)",
    ]
    program = "\n".join(
        [
            "import numpy as np, sys",
            "from herded.draws.herded_weights import start_all_scalar",
            "from herded.system.numerics.counter_rng import random_bits",
            "w = np.zeros(1, np.uint32)",
            *(calls if inner_first else reversed(calls)),
            "print(w[0], sum(random_bits.dispatcher.stats.cache_hits.values()))",
            "print('numba.np.linalg' in sys.modules)",  # so it is where compilers were prepared
        ]
    )
    first, again = (nursery.run(program, NUMBA_CACHE_DIR=str(tmp_path)).split() for _ in range(2))
    assert first[0] == first[1] and first[2:] == ["0", "True"]
    assert again == [*first[:2], "1", "False"]


def test_what_only_kernels_call_is_no_machine_code_by_itself():
    """It is compiled as a part of its callers, and kept for others of them."""
    import numba

    inner = exp._numba_type_.dispatcher
    inner.compile((numba.float64,))
    for result in inner.overloads.values():
        name = result.fndesc.llvm_func_name
        assert name in [function.name for function in result.library.get_defined_functions()]
        assert result.library.get_pointer_to_function(name) == 0


def test_numba_is_imported_when_a_kernel_is_called():
    """Not before, and what Numba would take from SciPy not even then."""
    program = """
        import sys
        import numpy as np
        import herded.run.infer, herded.ner.recogniser
        from herded.system.compilation.jit import is_compiling
        from herded.system.numerics.counter_rng import random_bits
        print("numba" in sys.modules, is_compiling())
        random_bits(np.uint64(1), np.uint64(2))
        print("numba" in sys.modules, "scipy.linalg" in sys.modules)
    """
    assert python(program) == ["False", "False", "True", "False"]


def test_kernels_of_others_multiply_matrices_as_ever(nursery):
    pytest.importorskip("scipy")
    program = """
import numba
import numpy as np
from herded.system.numerics.counter_rng import random_bits
random_bits(np.uint64(1), np.uint64(2))
print(numba.njit(lambda a: np.dot(a, a))(np.arange(3.0)))
"""
    assert nursery.run(program) == "5.0\n"


@pytest.mark.skipif(JIT.IS_JIT_DISABLED, reason="kernels are plain functions")
def test_a_kernel_is_a_function_with_a_name():
    assert (
        JIT.Kernel is type(random_bits)
        and random_bits.__name__ == "random_bits"
        and "random bits" in random_bits.__doc__
    )
    assert (
        pickle.loads(pickle.dumps(random_bits)) is random_bits
        and copy.deepcopy(random_bits) is random_bits
    )
    assert list(inspect.signature(random_bits).parameters) == ["key", "counter"]
    assert (
        random_bits.py_func(np.uint64(0), np.uint64(0))
        == random_bits(np.uint64(0), np.uint64(0))
        == 0
    )
