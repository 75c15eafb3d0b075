"""Open text files, gzipped or not, replacing bytes that are not UTF-8."""

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from herded.errors import CorpusError
from herded.system.atomic import FilePath

_GZIPPED = b"\x1f\x8b"


@contextlib.contextmanager
def open_text(path: FilePath, newline: str | None = None) -> Iterator[TextIO]:
    """Open for reading. Bytes that are not UTF-8 are replaced, a byte order mark is dropped."""
    try:
        with open(path, "rb") as file, contextlib.ExitStack() as stack:
            data = file
            if file.peek(2)[:2] == _GZIPPED:
                unzipped = stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
                data = stack.enter_context(io.BufferedReader(unzipped))
            if b"\0" in data.peek():
                raise CorpusError(f"expected a text file in UTF-8 at {path}, got a binary file")
            yield io.TextIOWrapper(data, encoding="utf-8-sig", errors="replace", newline=newline)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise CorpusError(f"expected a text file at {path}, but: {reason}") from error


def files_of(path: FilePath) -> list[Path]:
    """The file itself, or the files of a folder by name, without hidden ones and READMEs."""
    whole = Path(path)
    if not whole.is_dir():
        return [whole]
    try:
        files = sorted(file for file in whole.iterdir() if file.is_file() and _is_corpus(file.name))
    except OSError as error:
        raise CorpusError(f"expected documents in {path}, but: {error.strerror}") from error
    if not files:
        raise CorpusError(f"expected documents in {path}, got a folder without any")
    return files


def _is_corpus(name: str) -> bool:
    return not name.startswith(".") and not name.upper().startswith("README")


def stem(path: FilePath) -> str:
    """The file's name without its ending: documents without a name of their own are called so."""
    return Path(Path(path).name.removesuffix(".gz")).stem
