"""Python on the pages: run it, and see what it prints, or write that into the page.

What a ```python block prints stands in the ```text block after it. All blocks of a page run in
their order, as one program.
"""

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator

BLOCKS = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?P<shown>\n```text\n(?P<said>.*?)^```\n)?", re.M | re.S
)


def transcripts(page: str) -> list[tuple[str, str]]:
    """What each piece of code on the page is said to print, and what it prints."""
    found = list(BLOCKS.finditer(page))
    return [
        (match["said"] or "", printed)
        for match, printed in zip(found, _printed([match["code"] for match in found]), strict=True)
    ]


def replayed(page: str) -> str:
    """The page with what its code prints now."""
    printed = _printed([match["code"] for match in BLOCKS.finditer(page)])

    def renew(match: re.Match[str]) -> str:
        text = next(printed)
        shown = f"\n```text\n{text}```\n" if text or match["shown"] else ""
        return f"```python\n{match['code']}```\n{shown}"

    return BLOCKS.sub(renew, page)


def has_output(page: str) -> bool:
    """Whether the page says of any of its code what it prints."""
    return any(match["shown"] for match in BLOCKS.finditer(page))


def _printed(codes: list[str]) -> Iterator[str]:
    """What each piece prints, in a folder of their own, without spaces at the ends of lines."""
    names: dict[str, object] = {}
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="herded-docs-") as folder:
        os.chdir(folder)
        try:
            for code in codes:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(code, names)
                yield "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
        finally:
            os.chdir(here)
