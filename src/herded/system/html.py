"""Small pieces of HTML for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape

CELL = "text-align:left;padding:1px 12px 1px 0"


def html_table(title: str, rows: Iterable[Sequence[str]], *, head: bool = False) -> str:
    """Build a title with rows of cells below; with `head` the first row holds headings.

    Examples
    --------
    >>> from herded.system.html import html_table
    >>> "<b>Lattice</b>" in html_table("Lattice", [("states", "2")])
    True
    """
    lines = [f"<b>{escape(title)}</b>"] if title else []
    lines.append("<table>")
    for n, row in enumerate(rows):
        cell = "th" if head and n == 0 else "td"
        cells = "".join(f'<{cell} style="{CELL}">{escape(text)}</{cell}>' for text in row)
        lines.append(f"<tr>{cells}</tr>")
    return "".join([*lines, "</table>"])
