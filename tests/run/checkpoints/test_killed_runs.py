"""Killed at any moment, a run leaves whole files or none, and goes on to the same bits.

`python -m tests.run.checkpoints.kill_runs --count 50` is the long version.
"""

import os

import pytest

from tests.run.checkpoints.kill_runs import kill_runs, started
from tests.support.commands import Forked
from tests.support.example_budget import ALL


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("begin", [Forked, started] if ALL else [Forked])
def test_killed_runs(begin):
    """Forked, it has imported all: most moments of its life are those of the run."""
    done = kill_runs(3, seed=1, sweeps=20_000, tasks=("herded",), begin=begin)
    assert done.kills == 3 and done.runs >= 1 and sum(done.endings.values()) == 3
