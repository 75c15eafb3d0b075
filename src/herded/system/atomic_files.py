"""Files as bytes: read within a memory limit, written completely or not at all."""

import contextlib
import gzip
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from herded.errors import FileError, HerdedError, MemoryLimitError
from herded.system import memory_limits
from herded.system.diagnostics.phrases import RAISE_MAX_MEMORY, Phrase, Remedy, Term
from herded.system.memory_limits import Size

FilePath = str | os.PathLike[str]

GZIP = b"\x1f\x8b"
TEXT_EXPANSION = 32  # bytes of memory per byte of text, for its words, numbers and checks
COPY_BLOCK_BYTES = 2**20


@contextlib.contextmanager
def atomic_replacement(
    path: FilePath, error: type[HerdedError], what: str | Term
) -> Iterator[BinaryIO]:
    """Open a new file that replaces `path` once it is complete and on the disk.

    A reader sees the old file or the new one, never a part of either. Failures are raised
    as `error`; `what` names the argument that gave the path. Devices and pipes are written to
    directly.
    """
    target = target_path(path, error, what)
    try:
        if _is_special(target):
            with open(target, "wb") as file:
                yield file
        else:
            with _temporary_file(_resolve_link(target), error) as file:
                yield file
    except OSError as problem:
        raise error(f"could not write {path}: {problem.strerror}") from problem


@contextlib.contextmanager
def _temporary_file(target: Path, error: type[HerdedError]) -> Iterator[BinaryIO]:
    handle, temporary = create_temporary_file(target, error)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _resolve_link(target: Path) -> Path:
    """Return the file that a link points to: that file is replaced, and the link stays."""
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def _is_special(target: Path) -> bool:
    """Return whether a path is a device, a pipe or a socket."""
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def target_path(path: FilePath, error: type[HerdedError], what: str | Term) -> Path:
    """Convert `path` to a Path, or raise `error` if it is not a path."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not Path(name).name or "\0" in name:
        raise error(Phrase("expected ", what, f" as the name of a file, got {path!r}"))
    return Path(name)


def create_temporary_file(target: Path, error: type[HerdedError]) -> tuple[int, Path]:
    """Create a temporary file in the directory of `target`, with the usual permissions."""
    temporary = target.with_name(f".herded-{os.urandom(8).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return os.open(temporary, flags, 0o666), temporary
    except OSError as problem:
        raise error(
            f"could not write {target}: {problem.strerror}: choose another file"
        ) from problem


def check_writable(path: FilePath, error: type[HerdedError], what: str | Term) -> None:
    """Raise before a long run any error that `atomic_replacement` would raise after it."""
    target = target_path(path, error, what)
    if target.is_dir():
        problem = f" as the name of a file, got the folder {path}: move it away, or use "
        raise error(Phrase("expected ", what, problem, "another name"))
    if _is_special(target):
        return
    handle, temporary = create_temporary_file(_resolve_link(target), error)
    os.close(handle)
    os.unlink(temporary)


@dataclass(frozen=True)
class FileInMemory(os.PathLike[str]):
    """A path with the content read from it, since a pipe delivers its content only once."""

    path: FilePath
    content: bytes

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


def read_bytes(
    path: FilePath, max_memory: Size | None = None, expansion: int = TEXT_EXPANSION
) -> bytes:
    """Read the content of a file or a pipe, unpacked if it is gzipped.

    Raises an error if `expansion` times its size, which reading needs, exceeds `max_memory`.
    """
    most = int(memory_limits.memory_limit(max_memory) / expansion)
    if isinstance(path, FileInMemory):
        if len(path.content) > most:
            raise too_large(path, most, expansion)
        return path.content
    target = target_path(path, FileError, "the path")
    try:
        with open(target, "rb") as file:
            packed = file.peek(len(GZIP)).startswith(GZIP)
            with gzip.open(file, "rb") if packed else file as source:
                blocks, size = [], 0
                while block := source.read(COPY_BLOCK_BYTES):
                    blocks.append(block)
                    size += len(block)
                    if size > most:
                        raise too_large(path, most, expansion)
        return b"".join(blocks)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"could not read {path}: {reason}") from error


def too_large(path: FilePath, most: int, expansion: int) -> MemoryLimitError:
    """Build the error for a file too large for the memory limit, packed or unpacked."""
    expected = (
        f"expected at most {memory_limits.size_text(most)} in {path}, since reading needs "
        f"about {expansion} times as much memory, but it holds more: "
    )
    return MemoryLimitError(Phrase(expected, Remedy("free some memory", RAISE_MAX_MEMORY)))


def write_bytes(path: FilePath, blocks: Iterable[bytes]) -> None:
    """Write `blocks` one after another: the whole file, or nothing."""
    with atomic_replacement(path, FileError, "the path") as file:
        for block in blocks:
            file.write(block)
