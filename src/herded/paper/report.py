"""One self-contained page: tables and figures of the paper, ours beside theirs."""

import csv
import html
import io
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from herded.errors import FileError

STYLE = """
:root { color-scheme: light dark; --ink: #1f2937; --soft: #6b7280; --line: #e5e7eb; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e5e7eb; --soft: #9ca3af; --line: #374151; --page: #111827; }
}
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line);
  padding-top: 1.5rem; }
p.soft, figcaption, footer { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
@media (max-width: 40rem) { .named td:first-child { white-space: normal; min-width: 6rem; } }
figure { margin: 1.2rem 0; }
.picture { background: #fff; border-radius: .4rem; overflow-x: auto; }
.picture svg { width: 100%; min-width: 34rem; height: auto; display: block; }
.picture.small svg { min-width: 0; }
.verdict { border-left: .25rem solid #2563a8; padding-left: .8rem; }
code { font-size: .9em; }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #ccc; --page: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  table { font-size: 8.5pt; }
  h2 { break-after: avoid; }
  .picture, .verdict, tr { break-inside: avoid; }
  .picture, figcaption:first-child { break-after: avoid; }
  .wide, .picture { overflow: visible; }
  .picture svg { min-width: 0; }
}
"""


@dataclass
class Table:
    """Rows under headings; `name` is also the CSV's file name."""

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass
class Figure:
    """An <svg> element and what it shows; `small` fits a phone without scrolling."""

    picture: str
    caption: str
    small: bool = False


@dataclass
class Section:
    """One experiment: what was done, what came out, and whether it agrees with the paper."""

    title: str
    text: str
    verdicts: Sequence[str]
    parts: Sequence[Table | Figure] = field(default_factory=list)
    seconds: float = 0.0


def write(sections: Sequence[Section], folder: Path, command: str) -> Path:
    """Write index.html and the tables' CSV files into `folder`; give the page's path."""
    prepare(folder)
    try:
        for section in sections:
            for part in section.parts:
                if isinstance(part, Table):
                    _write_whole(folder / f"{part.name}.csv", _csv(part))
        _write_whole(folder / "index.html", _page(sections, command))
    except OSError as error:
        raise FileError(
            f"expected to write the page into {folder}, but: {error.strerror}: choose another one"
        ) from error
    return folder / "index.html"


def prepare(folder: Path) -> None:
    """Make the folder and try to write there, so that a long run does not fail at its end."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(
            f"expected a folder to write to as {folder}, but: {error.strerror}: choose another one"
        ) from error


def _write_whole(path: Path, text: str) -> None:
    """The file is the old one until it is the new one."""
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


def _page(sections: Sequence[Section], command: str) -> str:
    body = "\n".join(_section(section) for section in sections)
    versions = ", ".join(f"{name} {version(name)}" for name in ("herded", "numpy", "numba"))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Herded Gibbs sampling, reproduced</title><style>{STYLE}</style></head><body>
<h1>Herded Gibbs sampling, reproduced</h1>
<p class="soft">The experiments of Bornn, Chen, de Freitas, Eskelin, Fang and Welling (ICLR 2013),
run again: ours beside theirs.</p>
{body}
<footer><p>Made by <code>{html.escape(command)}</code> with {versions}, Python
{platform.python_version()}. Everything but the seconds is the same on every run.</p></footer>
</body></html>
"""


def _section(section: Section) -> str:
    verdicts = "".join(f'<p class="verdict">{html.escape(v)}</p>' for v in section.verdicts)
    parts = "\n".join(
        _table(part) if isinstance(part, Table) else _figure(part) for part in section.parts
    )
    return (
        f"<section><h2>{html.escape(section.title)}</h2><p>{html.escape(section.text)}</p>\n"
        f'{verdicts}\n{parts}\n<p class="soft">{section.seconds:.1f} seconds.</p></section>'
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(str(cell))}</th>" for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    kind = "named" if any(len(str(row[0])) > 10 for row in table.rows) else "numbered"
    return (
        f"<figure><figcaption>{html.escape(table.caption)}</figcaption>"
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></figure>"
    )


def _figure(figure: Figure) -> str:
    kind = "picture small" if figure.small else "picture"
    return (
        f'<figure><div class="{kind}">{figure.picture}</div>'
        f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>"
    )
