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
    "settings",
    [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}],
    ids=["uncompiled", "generic"],
)
def test_bits_elsewhere(settings):
    """Without a compiler, and compiled for a processor without vector instructions beyond SSE2."""
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "tests.golden", "4"]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
