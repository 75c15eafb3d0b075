"""A Sphinx extension: cells that hold numbers are marked, so that no line breaks within one."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

NUMBERS = re.compile(r"[-+\d.,e()%\s]*\d[-+\d.,e()%\s]*")  # 1.2e-07, 0.03 (0.09), +- 0.071


def _mark(app: Sphinx, page: nodes.document) -> None:
    for cell in page.findall(nodes.entry):
        if NUMBERS.fullmatch(cell.astext()):
            cell["classes"].append("number")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", _mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
