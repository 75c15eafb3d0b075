"""python -m docs.tools.benchmark_plots: draw the plots of measurements.

They come from benchmarks/results/tables.md and benchmarks/results/herds.md. A picture ends with a
hash of its tables, by which the tests can tell whether it is as old as they.
"""

import hashlib
import json
from pathlib import Path

from docs.tools.benchmark_plots.plots import PLOTS, data, drawn
from docs.tools.page_files import DOCS

FOLDER = DOCS / "pictures" / "measured"


def mark(name: str) -> str:
    """The last line of a picture."""
    told = json.dumps(data(name), sort_keys=True)
    return f"<!-- tables {hashlib.sha256(told.encode()).hexdigest()[:16]} -->\n"


def write(folder: Path) -> None:
    """All pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PLOTS:
        (folder / f"{name}.svg").write_text(drawn(name) + mark(name), encoding="utf-8")


def main() -> None:
    write(FOLDER)
    print(f"{len(PLOTS)} pictures in {FOLDER}")


if __name__ == "__main__":
    main()
