"""A Sphinx extension: docstrings are plain text with `code` in it, and mean no other markup.

`|a_i|`, `P_` and `2 * J` are written as they are meant; reStructuredText would see a substitution,
a link and emphasis in them. A paragraph in columns is shown as it is.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CODE = re.compile(r"(`+[^`]*`+)")
MARKS = re.compile(r"(?<!\\)\||(?<=\w)_(?!\w)|(?<![\w*])\*(?=[\s*])|\*(?=\w[^*]*$)")

COLUMNS = re.compile(r"\S {2,}\S")
ADDED = re.compile(r"[gs]et_\w*(_request|_routing)")
SECTION = re.compile(r"\s*(>>>|-+$)")  # an example, or the line below a heading


def escaped(line: str) -> str:
    """The line with marks that mean nothing escaped; code and examples stay as they are."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    pieces = CODE.split(line)
    pieces[::2] = [MARKS.sub(lambda mark: "\\" + mark[0], piece) for piece in pieces[::2]]
    return "".join(pieces)


def plain(lines: list[str]) -> list[str]:
    """Return a docstring's lines as reStructuredText that reads like the source."""
    found: list[str] = []
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
            continue
        if any(map(COLUMNS.search, paragraph)) and not any(map(SECTION.match, paragraph)):
            found += ["::", "", *(f"    {one}" for one in paragraph), ""]
        else:
            found += [*map(escaped, paragraph), ""]
        paragraph = []
    return found


def _process(_: "Sphinx", what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(lines)


def _skip(
    _: "Sphinx", what: str, name: str, value: Any, skipped: bool, options: Any
) -> bool | None:
    """What scikit-learn adds to every estimator says nothing of ours."""
    return True if ADDED.fullmatch(name) else None


def setup(app: "Sphinx") -> dict[str, Any]:
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _process, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
