"""Killed at any moment, a run leaves whole files or none, and goes on to the same bits.

`python -m tests.kill_runs --count 50` is the long version.
"""

import os

import pytest

from tests.kill_runs import kill_runs


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_killed_runs():
    done = kill_runs(2, seed=1, sweeps=20_000, tasks=("herded",))
    assert done.kills == 2 and done.runs >= 1 and sum(done.endings.values()) == 2
