"""The benchmark against another revision: tables that are read, turns that are taken, ratios."""

import shutil
import subprocess

import pytest

from benchmarks import compare_revisions

PAGE = """
## Lattices

| work | method | ns | over the fastest expert | same bits |
|---|---|---|---|---|
| Ising | expert, by hand | 2.00 | 1.00 | yes |
| Ising | herded, shared, 32 bits | 1,024.5 | 0.51 | no |

| one table | K = 3 | K = 5 |
|---|---|---|
| Gibbs, pairs plan | 4.0 (1.20) | 8.0 (1.10) |

| small work | CPU |
|---|---|
| infer | 200 us |
| import | 30 ms |
| bits | same |
"""


def test_times_are_found_by_their_rows_and_columns():
    names = {", 32 bits": "", "plan": "layout"}
    assert compare_revisions.times(PAGE.splitlines(), names) == {
        ("work", "Ising", "expert, by hand", "ns"): 2.0,
        ("work", "Ising", "herded, shared", "ns"): 1024.5,
        ("one table", "Gibbs, pairs layout", "K = 3"): 4.0,
        ("one table", "Gibbs, pairs layout", "K = 5"): 8.0,
        ("small work", "infer", "CPU"): 200 * 1e-6,
        ("small work", "import", "CPU"): 30 * 1e-3,
    }


def test_ratios_are_medians_over_the_rounds():
    here, there = ("w", "a", "ns"), ("w", "b", "ns")
    rounds = [({here: now, there: 1.0}, {here: 2.0}) for now in (2.0, 9.0, 3.0)]
    assert list(compare_revisions.lines(rounds, "HEAD"))[2:] == [
        "| a, ns | 1.500 | 1.000 | 4.500 |",
        "",
        "1 of 1 take more than 1.05 times as long; rounds: 3.",
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")
def test_the_other_revision_is_run_and_leaves_nothing(tmp_path, capsys):
    def git(*words):
        own = ["-c", "user.name=n", "-c", "user.email=e"]
        done = subprocess.run(
            ["git", "-C", tmp_path, *own, *words], check=True, capture_output=True, text=True
        )
        return done.stdout

    program = tmp_path / "benchmarks" / "__main__.py"
    program.parent.mkdir()
    git("init", "--quiet")
    for cost in (4, 3):
        program.write_text(f"import sys; print('| work | ns |\\n|---|---|\\n| a |', {cost}, '|')")
        git("add", ".")
        git("commit", "--quiet", "-m", str(cost))
    compare_revisions.main(["HEAD~1", "--only", "lattice", "--rounds", "2"], root=tmp_path)
    assert "| a, ns | 0.750 | 0.750 | 0.750 |" in capsys.readouterr().out
    assert len(git("worktree", "list").splitlines()) == 1
