"""Pages of the docs as tests: their Python runs, and prints what the page says it prints."""

from docs.tools import transcripts as replay
from docs.tools.page_files import page_files


def transcripts(page: str) -> list[tuple[list[str], list[str]]]:
    """The lines that each piece of code on the page is said to print, and those that it prints."""
    text = page_files()[page].read_text(encoding="utf-8")
    return [(said.splitlines(), printed.splitlines()) for said, printed in replay.transcripts(text)]
