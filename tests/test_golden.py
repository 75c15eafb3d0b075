"""The bits of every layout and method are those on file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import golden
import pytest

CASES = dict(golden.cases())
EXPECTED = json.loads(golden.FILE.read_text())


def test_every_run_is_on_file():
    assert list(CASES) == list(EXPECTED)


@pytest.mark.parametrize("label", CASES)
def test_bits(label):
    """If they changed, and rightly so: python -m tests.golden --write"""
    assert CASES[label]() == EXPECTED[label]


@pytest.mark.parametrize(
    ("settings", "which"),
    [
        ({"NUMBA_DISABLE_JIT": "1"}, "short"),  # test_kernels.py has the twins
        ({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, "few"),
    ],
    ids=["uncompiled", "generic"],
)
def test_bits_elsewhere(settings, which):
    """Without a compiler, and for a processor without fused sums or vectors beyond SSE2."""
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "tests.golden", which]
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


def test_a_few_runs_have_every_layout_and_every_method():
    few = golden.FEW + golden.FEW_TABLES
    runs = [label.split(" | ") for label in few]
    assert set(few) <= CASES.keys()
    assert {kind for _, kind, *_ in runs} >= {"auto", "grid", "table", "field", "pairs"}
    methods = {method.partition("(")[0] for _, _, method, _ in runs}
    assert methods == {label.split(" | ")[2].partition("(")[0] for label in CASES}
