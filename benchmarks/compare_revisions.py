"""python -m benchmarks.compare_revisions REVISION --only PART [OPTIONS]

The tables of a part of the benchmarks, of these files and of another revision of the repository:
how many times as long every time takes that both print. The two take turns, each turn is a process
of its own, and a ratio is the median of those of all rounds, beside the least and the greatest.
Rows of experts are the same code in both: theirs say how far ratios can be believed. `--rename`
changes words in rows of the other revision, where it named the same work otherwise:

    python -m benchmarks.compare_revisions 7752b6b --only lattice --rename ', 32 bits='
    python -m benchmarks.compare_revisions 7752b6b --only sparse --rename plan=layout
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path

HERE = Path(__file__).parents[1]
LIMIT = 1.05
RATIO = re.compile(r"over|times|at once")  # columns of these words have no times
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
CELL = re.compile(r"([\d.,]+)(?: (s|ms|us))?\b")

Times = dict[tuple[str, ...], float]


def main(words: list[str] | None = None, root: Path = HERE) -> None:
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.compare_revisions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("revision", help="any name that git knows it by")
    options.add_argument("--only", required=True, metavar="PART", help="of python -m benchmarks")
    options.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--quick", action="store_true", help="fewer models and repeats")
    chosen = options.parse_args(words)
    names = dict(pair.split("=", 1) for pair in chosen.rename)
    command = ["--only", chosen.only, *["--quick"] * chosen.quick]
    with checkout(root, chosen.revision) as other, tempfile.TemporaryDirectory() as kernels:
        rounds = []
        for number in range(chosen.rounds):
            print(f"round {number + 1} of {chosen.rounds}", file=sys.stderr, flush=True)
            now = times(printed(root, command, f"{kernels}/now"))
            before = times(printed(other, command, f"{kernels}/before"), names)
            rounds.append((now, before))
    for line in lines(rounds, chosen.revision):
        print(line)


@contextlib.contextmanager
def checkout(root: Path, revision: str) -> Iterator[Path]:
    """The files of a revision, for as long as they are needed."""
    git = ["git", "-C", str(root), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "other")
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), revision], check=True)
        try:
            yield other
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)


def printed(root: Path, words: list[str], kernels: str) -> list[str]:
    """What the benchmarks at `root` print, run with the package there."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "NUMBA_CACHE_DIR": kernels}
    command = [sys.executable, "-m", "benchmarks", *words]
    done = subprocess.run(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.splitlines()


def times(page: Iterable[str], names: Mapping[str, str] | None = None) -> Times:
    """Every time in the tables of a page, by the words of its row and the title of its column."""
    found: Times = {}
    titles: list[str] = []
    for line in page:
        for old, new in (names or {}).items():
            line = line.replace(old, new)
        if not line.startswith("|"):
            titles = []
        elif not titles:
            titles = _cells(line)
        else:
            cells = _cells(line)
            words = tuple(takewhile(lambda cell: not CELL.match(cell), cells))
            for title, time in zip(titles, map(CELL.match, cells), strict=True):
                if time and not RATIO.search(title):
                    value = float(time[1].replace(",", "")) * SECONDS.get(time[2], 1.0)
                    found[titles[0], *words, title] = value
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def lines(rounds: list[tuple[Times, Times]], revision: str) -> Iterator[str]:
    """A table of ratios, row by row."""
    both = [key for key in rounds[0][0] if all(key in now and key in old for now, old in rounds)]
    yield f"| work | now, over {revision} | least | most |"
    yield "|---|---|---|---|"
    slower = 0
    for key in both:
        ratios = [now[key] / old[key] for now, old in rounds]
        middle = statistics.median(ratios)
        slower += middle > LIMIT
        name = ", ".join(key[1:])
        yield f"| {name} | {middle:.3f} | {min(ratios):.3f} | {max(ratios):.3f} |"
    yield ""
    yield f"{slower} of {len(both)} take more than {LIMIT} times as long; rounds: {len(rounds)}."


if __name__ == "__main__":
    main()
