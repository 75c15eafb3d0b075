"""python -m docs.measured: draw the pictures of docs/benchmarks.md, and write its leaderboard.

Both come from docs/tables.md. A picture ends with a hash of its tables, so that the tests can tell
whether it is as old as they are.
"""

import hashlib
import json
import re
from pathlib import Path

from docs.measured.plots import PLOTS, data, drawn
from docs.measured.tables import TABLES, boards

PAGE = TABLES.with_name("benchmarks.md")
FOLDER = TABLES.parent / "pictures" / "measured"
BOARD = re.compile(r"(?<=<!-- leaderboard -->\n).*?(?=<!-- end -->)", re.DOTALL)


def mark(name: str, text: str) -> str:
    """The last line of a picture."""
    told = json.dumps(data(name, text), sort_keys=True)
    return f"<!-- tables {hashlib.sha256(told.encode()).hexdigest()[:16]} -->\n"


def write(folder: Path, text: str) -> None:
    """All pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PLOTS:
        picture = drawn(name, text) + mark(name, text)
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


def with_board(page: str, text: str) -> str:
    """The page with the leaderboard of these tables."""
    return BOARD.sub(lambda _: "\n".join(boards(text)) + "\n\n", page, count=1)


def main() -> None:
    text = TABLES.read_text(encoding="utf-8")
    write(FOLDER, text)
    PAGE.write_text(with_board(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(f"{len(PLOTS)} pictures in {FOLDER}, and the leaderboard of {PAGE}")


if __name__ == "__main__":
    main()
