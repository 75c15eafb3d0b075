"""The bits of every layout and method are those on file."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from herded.system.compilation.jit import IS_JIT_DISABLED
from herded.system.compilation.kernel_cache import PACKAGE, PackageSources
from herded.system.numerics.exp_log import exp
from tests.conformance import golden
from tests.support import example_budget

CASES = dict(golden.cases())
EXPECTED = json.loads(golden.FILE.read_text())


def test_every_run_is_on_file():
    assert list(CASES) == list(EXPECTED)


@pytest.mark.parametrize("label", CASES)
def test_bits(label):
    """If they changed, and rightly so: python -m tests.conformance.golden --write"""
    assert CASES[label]() == EXPECTED[label]


@pytest.mark.parametrize(
    ("settings", "which"),
    [
        ({"NUMBA_DISABLE_JIT": "1"}, "short"),  # test_kernels.py has the twins
        (
            {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
            "few" if example_budget.ALL else "fewest",
        ),
    ],
    ids=["uncompiled", "generic"],
)
def test_bits_elsewhere(settings, which):
    """Without a compiler, and for a processor without fused sums or vectors beyond SSE2."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.conformance.golden", which]
    environment = {**os.environ, **settings}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_other_bits_are_named(monkeypatch, tmp_path):
    solved, tables = "chain | auto | Exact() | 1", "binary graph | table | HerdedGibbs() | 1"
    assert golden.wrong([solved], [tables]) == []
    others = {label: {**EXPECTED[label], "tables": "others"} for label in (solved, tables)}
    monkeypatch.setattr(golden, "FILE", tmp_path / "golden.json")
    golden.FILE.write_text(json.dumps(others))
    assert golden.wrong([solved], [tables]) == [f"{tables}: tables", solved]


# -- no kernel could differ -----------------------------------------------------------------------

# What gives the same bits on every processor, since IEEE 754 or whole numbers leave no choice, and
# needs no module of Numba that imports SciPy's linear algebra
# (`herded.system.numerics.argmax_kernel`).
SAME = re.compile(
    "arange|array|empty|empty_like|full|ones|zeros|zeros_like"
    "|bool_|float32|float64|int16|int32|int64|uint8|uint16|uint32|uint64|inf|nan|isfinite|isnan|rint|sqrt"
)
METHODS = {"copy", "reshape", "view"}


def kernels():
    """The functions of the package that are compiled, as trees, and their modules."""
    sources = PackageSources(PACKAGE)
    for module in sources.paths:
        if b"@jit" in sources.text(module):
            for node in ast.parse(sources.text(module)).body:
                if "jit" in map(ast.unparse, getattr(node, "decorator_list", ())):
                    yield module, node


def what_may_differ(kernel):
    """Parts of a kernel that a processor or its mathematical library may do in its own way."""
    for node in ast.walk(kernel):
        match node:
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if not SAME.fullmatch(name):
                yield f"np.{name}"
            case ast.Call(func=ast.Attribute(value=whose, attr=name)):
                if ast.unparse(whose) != "np" and name not in METHODS:
                    yield f"{ast.unparse(whose)}.{name}"
            case ast.BinOp(op=ast.MatMult()) | ast.Name(id="math" | "pow" | "scipy"):
                yield ast.unparse(node)
            case ast.BinOp(op=ast.Pow(), left=base) if ast.unparse(base) not in ("2", "2.0"):
                yield ast.unparse(node)  # powers of 2 are exact, or only count


def test_kernels_calculate_with_what_is_the_same_everywhere():
    """All of them: runs for other processors are few."""
    found = list(kernels())
    assert len(found) > 300
    differ = [f"{m}.{k.name}: {part}" for m, k in found for part in what_may_differ(k)]
    assert differ == []


@pytest.mark.parametrize(
    "text",
    ["np.exp(x)", "np.dot(x, y)", "x.sum()", "x @ y", "x**0.5", "math.log(x)", "pow(2.0, x)"],
)
def test_what_may_differ_is_seen(text):
    assert list(what_may_differ(ast.parse(f"def kernel(x, y):\n    return 1 + {text}")))


@pytest.mark.skipif(IS_JIT_DISABLED, reason="nothing is compiled")
def test_no_compiler_may_reorder_or_fuse():
    for compiler in (exp.dispatcher, exp._numba_type_.dispatcher):
        assert not compiler.targetoptions.get("fastmath")
    sources = PackageSources(PACKAGE)
    for module in sources.paths:
        assert not re.search(rb"fastmath(=|\":)", sources.text(module)), module


def test_a_few_runs_have_every_layout_and_every_method():
    few = golden.FEW + golden.FEW_TABLES
    runs = [label.split(" | ") for label in few]
    assert {*golden.FEWEST, *golden.FEWEST_TABLES} <= set(few)
    assert set(golden.SHORT_RUNS) <= set(golden.FEW)
    assert set(few) <= CASES.keys()
    assert {kind for _, kind, *_ in runs} >= {"auto", "grid", "table", "field", "pairs"}
    methods = {method.partition("(")[0] for _, _, method, _ in runs}
    assert methods == {label.split(" | ")[2].partition("(")[0] for label in CASES}
