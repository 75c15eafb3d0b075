"""Text for people: tables in columns, and names from files that cannot disturb a terminal."""

import io
import math
import sys
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

LONGEST_NAME = 40


def say(*lines: str) -> None:
    """Print lines at once, also where the terminal cannot show all of their characters."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    print("\n".join(lines), flush=True)


def safe(name: str, longest: int = LONGEST_NAME) -> str:
    """A name as it may be shown: without control characters, and not too long."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def facts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of a name and what there is to say, one below another."""
    return [f"{name:10} {text}" for name, text in pairs]


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows of cells as lines: the first `left` columns aligned left, the others right."""
    widths = [max(cell_len(row[c]) for row in rows if c < len(row)) for c in range(_most(rows))]
    lines = []
    for row in rows:
        cells = [
            cell + " " * (width - cell_len(cell))
            if c < left
            else " " * (width - cell_len(cell)) + cell
            for c, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def finite(value: float | None) -> float | None:
    """JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def and_more(n: int) -> list[str]:
    """What is left out of a table of variables, and how to see it."""
    return [f"... and {n:,} more: use --out or --json"] if n else []


def _most(rows: Sequence[Sequence[str]]) -> int:
    return max((len(row) for row in rows), default=0)


def count(n: int, what: str) -> str:
    """`1 chain`, `10,000 sweeps`, `no factors`."""
    plural = what if n == 1 else what + "s"
    return f"{n:,} {plural}" if n else f"no {plural}"
