"""What was measured, row by row, and the files that quote it."""

import csv
import io
import os
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path

from herded.errors import HerdedError
from herded.system.atomic_files import atomic_replacement


@dataclass(frozen=True)
class Row:
    """One number."""

    part: str
    work: str
    contender: str
    quantity: str
    value: float


@dataclass
class Book:
    """All numbers of a run."""

    rows: list[Row] = field(default_factory=list)

    def note(self, part: str, work: str, contender: str, quantity: str, value: float) -> None:
        self.rows.append(Row(part, work, contender, quantity, float(value)))

    def forget(self, part: str) -> None:
        """Make room for a part that is measured again."""
        self.rows = [row for row in self.rows if row.part != part]

    def find(self, work: str, quantity: str, part: str | None = None) -> dict[str, float]:
        """By contender."""
        return {
            row.contender: row.value
            for row in self.rows
            if row.work == work and row.quantity == quantity and part in (None, row.part)
        }

    def as_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([one.name for one in fields(Row)])
        for row in self.rows:
            writer.writerow([*astuple(row)[:-1], f"{row.value:.6g}"])
        return text.getvalue()


def read(folder: str | os.PathLike[str]) -> Book:
    """What earlier runs have noted in a folder, if any."""
    path = Path(folder) / "peers.csv"
    if not path.exists():
        return Book()
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return Book([Row(**{**row, "value": float(row["value"])}) for row in rows])
    except (OSError, TypeError, KeyError, ValueError) as problem:
        raise HerdedError(
            f"expected {path} as an earlier run wrote it, got {problem}: remove it to start anew"
        ) from problem


def merged(page: str, fresh: str) -> str:
    """`page` with the sections of `fresh` in place of its own of the same headings.

    Where others stay, each fresh section says what ran, as the head of `fresh` does for all.
    """
    old, new = _sections(page), _sections(fresh)
    if old.keys() - new.keys():
        ran = [line for line in new.get("", "").splitlines() if line.startswith("Output of ")]
        new = {heading: _with_origin(text, ran) for heading, text in new.items()}
    kept = {**old, **{heading: text for heading, text in new.items() if heading or not old}}
    return "\n\n".join(text.strip("\n") for text in kept.values()) + "\n"


def _with_origin(section: str, ran: list[str]) -> str:
    """The section with a sentence on what ran below its heading, if it has none."""
    if not section.startswith("## ") or "\nOutput of " in section:
        return section
    heading, _, rest = section.partition("\n")
    return "\n".join([heading, "", *ran[:1], rest]) if ran else section


def _sections(page: str) -> dict[str, str]:
    """By heading; what comes before the first has none."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return {
        part.partition("\n")[0] if part.startswith("## ") else "": part for part in parts if part
    }


def write(folder: str | os.PathLike[str], lines: Iterable[str], book: Book) -> None:
    """tables.md, where sections that were not run stay as they are, and peers.csv."""
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
        page = home / "tables.md"
        before = page.read_text("utf-8") if page.exists() else ""
    except OSError as problem:
        raise HerdedError(
            f"expected --out as a folder to write to, got {folder}: {problem.strerror}"
        ) from problem
    with atomic_replacement(page, HerdedError, "--out") as file:
        file.write(merged(before, "\n".join(lines)).encode())
    if book.rows:
        with atomic_replacement(home / "peers.csv", HerdedError, "--out") as file:
            file.write(book.as_csv().encode())
