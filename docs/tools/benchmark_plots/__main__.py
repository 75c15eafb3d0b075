"""python -m docs.tools.benchmark_plots: plots, and the leaderboard of docs/measured/benchmarks.md.

Pictures come from benchmarks/results/tables.md and benchmarks/results/herds.md.
A picture ends with a hash of its tables, by which the tests can tell whether it is as old as they.
"""

import hashlib
import json
import re
from pathlib import Path

from docs.tools.benchmark_plots.plots import PLOTS, data, drawn
from docs.tools.benchmark_plots.tables import TABLES, boards
from docs.tools.page_files import DOCS, page_files

PAGE = page_files()["benchmarks"]
FOLDER = DOCS / "pictures" / "measured"
BOARD = re.compile(r"(?<=<!-- leaderboard -->\n).*?(?=<!-- end -->)", re.DOTALL)


def mark(name: str) -> str:
    """The last line of a picture."""
    told = json.dumps(data(name), sort_keys=True)
    return f"<!-- tables {hashlib.sha256(told.encode()).hexdigest()[:16]} -->\n"


def write(folder: Path) -> None:
    """All pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PLOTS:
        (folder / f"{name}.svg").write_text(drawn(name) + mark(name), encoding="utf-8")


def with_board(page: str) -> str:
    """The page with the leaderboard of the tables as they are."""
    board = "\n".join(boards(TABLES.read_text(encoding="utf-8")))
    return BOARD.sub(lambda _: f"{board}\n\n", page, count=1)


def main() -> None:
    write(FOLDER)
    PAGE.write_text(with_board(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{len(PLOTS)} pictures in {FOLDER}, and the leaderboard of {PAGE}")


if __name__ == "__main__":
    main()
