"""Pages of the docs as tests: their Python runs, and prints what the page says it prints."""

import contextlib
import io
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def transcripts(page: str) -> list[tuple[list[str], list[str]]]:
    """What each piece of code on the page is said to print, and what it prints.

    Spaces at the ends of lines do not count: tables print them, editors take them away.
    """
    names: dict[str, object] = {}
    found = []
    for code, said in BLOCKS.findall((DOCS / page).read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        found.append((_trimmed(said), _trimmed(printed.getvalue())))
    return found


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]
