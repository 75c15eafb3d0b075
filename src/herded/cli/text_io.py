"""Text input, block by block, and text output, complete or not at all."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from herded.errors import CorpusError
from herded.ner.text.text_files import open_text, without_zeros
from herded.ner.text.tokenizer import text_blocks
from herded.system import atomic_files

STANDARD_STREAM_NAME = "-"  # standard input

_PIECE = 1 << 16  # characters read at once
_HALVES = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are not text


def read_blocks(path: str) -> Iterator[str]:
    """Yield the text of a file, gzipped or not, or of standard input, in blocks."""
    with _standard_input() if path == STANDARD_STREAM_NAME else open_text(path, newline="") as file:
        held = ""
        for block in text_blocks(iter(partial(file.read, _PIECE), "")):
            whole = held + block
            held = "\r" if whole.endswith("\r") else ""  # its "\n" may begin the next block
            yield whole.removesuffix("\r")
        if held:
            yield held


@contextlib.contextmanager
def _standard_input() -> Iterator[TextIO]:
    """Read as files are: UTF-8, zeros and other bytes replaced, line ends as they are."""
    if sys.stdin is None:
        raise CorpusError("expected text on standard input, but it is closed")
    source = sys.stdin.buffer
    try:
        if isinstance(source, io.BufferedReader) and source.peek(2)[:2] == b"\x1f\x8b":
            raise CorpusError(
                "expected text on standard input, got gzipped data: pipe it through zcat"
            )
        text = without_zeros(cast(io.BufferedIOBase, source))
        yield io.TextIOWrapper(text, encoding="utf-8-sig", errors="replace", newline="")
    except OSError as error:
        raise CorpusError(f"could not read standard input: {error.strerror}") from error


def whole_characters(text: str) -> str:
    """Return a text from the command line, with what is not a character replaced."""
    return _HALVES.sub("\ufffd", text)


@contextlib.contextmanager
def open_output(path: str | None) -> Iterator[Callable[[str], object]]:
    """Open standard output, or a file that replaces the old one only when it is complete."""
    if path is None:
        yield _standard_output().write
        return
    with _special(path) if _is_special(path) else _replacing(path) as file:
        yield lambda text: file.write(text.encode())


def _replacing(path: str) -> contextlib.AbstractContextManager[BinaryIO]:
    target = os.path.realpath(path) if os.path.islink(path) else path  # a link stays one
    return atomic_files.atomic_replacement(target, CorpusError, "--out")


def _is_special(path: str) -> bool:
    """Return whether this is a device, a pipe or a folder: nothing to be replaced."""
    return Path(path).exists() and not Path(path).is_file()


@contextlib.contextmanager
def _special(path: str) -> Iterator[BinaryIO]:
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as error:
        raise CorpusError(
            f"could not write {path}: {error.strerror}: choose another file"
        ) from error


def _standard_output() -> TextIO:
    """Return standard output: UTF-8 for pipes, escapes for what a terminal cannot show."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")
        else:
            sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout
