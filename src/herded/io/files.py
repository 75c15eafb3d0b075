"""Read and write files as bytes: unpack gzip, respect a memory limit, write all or nothing."""

import gzip
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from herded.errors import FileError, MemoryLimitError
from herded.system import atomic, memory
from herded.system.atomic import FilePath
from herded.system.memory import Size

GZIP = b"\x1f\x8b"
EXPANSION = 32  # bytes of memory per byte of a text: its words, its numbers, and their checks
BLOCK = 2**20


@dataclass(frozen=True)
class FileInMemory(os.PathLike[str]):
    """A path and what was read there: a pipe gives its content only once."""

    path: FilePath
    content: bytes

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


def read_bytes(path: FilePath, max_memory: Size | None = None, expansion: int = EXPANSION) -> bytes:
    """The content of a file or a pipe, unpacked if it is gzipped.

    Refused where `expansion` times as much memory, which reading takes, is more than `max_memory`.
    """
    most = int(memory.limit(max_memory) / expansion)
    if isinstance(path, FileInMemory):
        if len(path.content) > most:
            raise too_large(path, most, expansion)
        return path.content
    target = atomic.target_path(path, FileError, "the path")
    try:
        with open(target, "rb") as file:
            packed = file.peek(len(GZIP)).startswith(GZIP)
            with gzip.open(file, "rb") if packed else file as source:
                blocks, size = [], 0
                while block := source.read(BLOCK):
                    blocks.append(block)
                    size += len(block)
                    if size > most:
                        raise too_large(path, most, expansion)
        return b"".join(blocks)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"expected a file that can be read at {path}, but: {reason}") from error


def too_large(path: FilePath, most: int, expansion: int) -> MemoryLimitError:
    """The error for a file that is too large for the memory limit, packed or unpacked."""
    return MemoryLimitError(
        f"expected at most {memory.readable(most)} in {path}, as reading takes about {expansion} "
        "times as much memory, but it holds more: free some memory, or raise max_memory="
    )


def write_bytes(path: FilePath, blocks: Iterable[bytes]) -> None:
    """Write `blocks` one after another: the whole file, or nothing."""
    with atomic.replacing(path, FileError, "the path") as file:
        for block in blocks:
            file.write(block)
