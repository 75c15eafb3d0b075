"""The results of experiments, and the files for them: a page, and a CSV for each table."""

import csv
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from herded.errors import FileError


@dataclass
class Table:
    """Rows under headings; `name` is also the CSV's file name. Folded tables open on a click."""

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    folded: bool = False


@dataclass
class Figure:
    """<svg> elements side by side, on a phone one below the other, and their caption."""

    panels: Sequence[str]
    caption: str


@dataclass
class Passage:
    """A text in pieces, each with the kind of name that it is, or None."""

    pieces: Sequence[tuple[str, str | None]]
    caption: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of an experiment; also the paper's claim, if any, and whether it holds here."""

    text: str
    claim: str = ""
    holds: bool | None = None


@dataclass
class Section:
    """One experiment: its setup, its results, and whether it agrees with the paper."""

    title: str
    text: str
    verdicts: Sequence[Verdict]
    parts: Sequence[Table | Figure | Passage] = field(default_factory=list)
    seconds: float = 0.0


def write_report(sections: Sequence[Section], folder: Path, command: str) -> Path:
    """Write index.html and the tables' CSV files into `folder`; return the page's path."""
    from herded.paper.html_page import page

    prepare_folder(folder)
    try:
        for section in sections:
            for part in section.parts:
                if isinstance(part, Table):
                    _write_whole(folder / f"{part.name}.csv", _csv(part))
        _write_whole(folder / "index.html", page(sections, command))
    except OSError as error:
        raise FileError(
            f"could not write the page into {folder}: {error.strerror}: choose another folder"
        ) from error
    return folder / "index.html"


def prepare_folder(folder: Path) -> None:
    """Create the folder and try to write there, so that a long run does not fail at its end."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(
            f"could not create the folder {folder}: {error.strerror}: choose another one"
        ) from error


def _write_whole(path: Path, text: str) -> None:
    """Write a file atomically: it is the old one until it is the new one."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _csv(table: Table) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.head, *table.rows])
    return text.getvalue()
