"""One self-contained page: tables and figures of the paper, ours beside theirs."""

import csv
import html
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
p.soft, figcaption, caption, footer { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { padding: .25rem .8rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1.2rem 0; }
figure > div { background: #fff; border-radius: .4rem; overflow-x: auto; }
figure svg { width: 100%; min-width: 34rem; height: auto; display: block; }
figure img { max-width: 100%; image-rendering: pixelated; }
.verdict { border-left: .25rem solid #2563a8; padding-left: .8rem; }
code { font-size: .9em; }
@media print { body { max-width: none; font-size: 10pt; } h2, figure, table { break-inside: avoid; }
  figure svg { min-width: 0; } }
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
    """An <svg> or <img> element and what it shows."""

    picture: str
    caption: str


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
    folder.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for part in section.parts:
            if isinstance(part, Table):
                with (folder / f"{part.name}.csv").open("w", newline="") as file:
                    csv.writer(file).writerows([part.head, *part.rows])
    page = folder / "index.html"
    temporary = folder / ".index.html.part"
    temporary.write_text(_page(sections, command), encoding="utf-8")
    temporary.replace(page)
    return page


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
    return (
        f'<div class="wide"><table><caption>{html.escape(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _figure(figure: Figure) -> str:
    return (
        f"<figure><div>{figure.picture}</div>"
        f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>"
    )
