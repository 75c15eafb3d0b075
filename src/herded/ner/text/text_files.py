"""Text files, gzipped or not, opened with replacements for bytes that are not text."""

import contextlib
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from herded.errors import CorpusError
from herded.system.atomic_files import FilePath

_GZIPPED = b"\x1f\x8b"
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1a\ufffd]")
_MAX_CONTROL_SHARE = 0.25  # largest share of control characters in a text


class _WithoutZeros(io.RawIOBase):
    """A stream of bytes whose zeros become bytes invalid in UTF-8, so that they are replaced."""

    def __init__(self, source: io.BufferedIOBase) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._source.read1(len(buffer))
        buffer[: len(found)] = found.replace(b"\0", b"\xff")
        return len(found)


def without_zeros(source: io.BufferedIOBase) -> io.BufferedReader:
    """Wrap `source` so that zeros become bytes that are not UTF-8."""
    return io.BufferedReader(_WithoutZeros(source), 1 << 16)


@contextlib.contextmanager
def open_text(path: FilePath, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text file for reading.

    Zeros and bytes that are not UTF-8 are replaced, and a byte order mark is dropped. A file with
    zeros that is mostly not text, such as a picture or UTF-16, is refused.
    """
    try:
        with open(path, "rb") as file, contextlib.ExitStack() as stack:
            data = file
            if file.peek(2)[:2] == _GZIPPED:
                unzipped = stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
                data = stack.enter_context(io.BufferedReader(unzipped))
            if _is_binary(data.peek()):
                raise CorpusError(f"expected a text file in UTF-8 at {path}, got a binary file")
            text = without_zeros(data)
            yield io.TextIOWrapper(text, encoding="utf-8-sig", errors="replace", newline=newline)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise CorpusError(f"could not read the text file {path}: {reason}") from error


def _is_binary(beginning: bytes) -> bool:
    if b"\0" not in beginning:
        return False
    characters = beginning.decode(errors="replace")
    return len(_NO_TEXT.findall(characters)) > _MAX_CONTROL_SHARE * len(characters)


def files_of(path: FilePath) -> list[Path]:
    """Return the file itself, or the files of a folder by name, without hidden ones and READMEs."""
    whole = Path(path)
    if not whole.is_dir():
        return [whole]
    try:
        files = sorted(file for file in whole.iterdir() if file.is_file() and _is_corpus(file.name))
    except OSError as error:
        raise CorpusError(f"could not read the documents in {path}: {error.strerror}") from error
    if not files:
        raise CorpusError(f"expected documents in {path}, got a folder without any")
    return files


def _is_corpus(name: str) -> bool:
    return not name.startswith(".") and not name.upper().startswith("README")


def file_stem(path: FilePath) -> str:
    """Return the file's name without its ending, the default name of its document."""
    return Path(Path(path).name.removesuffix(".gz")).stem
