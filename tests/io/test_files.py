"""Files as bytes: gzip, limits, and nothing half-written."""

import gzip
import os

import pytest

from herded.errors import FileError, MemoryLimitError, MethodError
from herded.system import atomic_files
from herded.system.atomic_files import TEXT_EXPANSION, read_bytes, write_bytes

CONTENT = bytes(range(256)) * 20


def test_plain_and_packed_files_read_the_same(tmp_path):
    (tmp_path / "plain").write_bytes(CONTENT)
    (tmp_path / "packed").write_bytes(gzip.compress(CONTENT, mtime=0))
    halves = gzip.compress(CONTENT[:100], mtime=0) + gzip.compress(CONTENT[100:], mtime=0)
    (tmp_path / "two parts").write_bytes(halves)
    for name in ("plain", "packed", "two parts"):
        assert read_bytes(tmp_path / name) == CONTENT
        assert read_bytes(str(tmp_path / name)) == CONTENT
    (tmp_path / "empty").write_bytes(b"")
    assert read_bytes(tmp_path / "empty") == b""


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress], ids=["plain", "packed"])
def test_no_more_is_read_than_max_memory_allows(tmp_path, pack):
    path = tmp_path / "file"
    path.write_bytes(pack(CONTENT))
    assert read_bytes(path, max_memory=len(CONTENT) * TEXT_EXPANSION) == CONTENT
    with pytest.raises(
        MemoryLimitError, match=r"expected at most 5\.0 KiB in .*: free some memory"
    ):
        read_bytes(path, max_memory=(len(CONTENT) - 1) * TEXT_EXPANSION)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    """A quarter of a gigabyte of zeros in a file of a thousandth: reading stops after the cap."""
    (tmp_path / "bomb.uai.gz").write_bytes(256 * gzip.compress(bytes(2**20), mtime=0))
    unpacked = []
    true_open = atomic_files.gzip.open

    class Counting:
        def __init__(self, *args):
            self.file = true_open(*args)

        def __enter__(self):
            return self

        def __exit__(self, *args):
            self.file.close()

        def read(self, size):
            unpacked.append(size)
            return self.file.read(size)

    monkeypatch.setattr(atomic_files.gzip, "open", Counting)
    with pytest.raises(MemoryLimitError, match=r"expected at most 4\.0 MiB"):
        read_bytes(tmp_path / "bomb.uai.gz", max_memory=2**22 * TEXT_EXPANSION)
    assert sum(unpacked) <= 6 * 2**20


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(CONTENT, mtime=0)[:-9],
        gzip.compress(CONTENT, mtime=0)[:5],
        gzip.compress(CONTENT, mtime=0)[:-8] + bytes(8),
        b"\x1f\x8b",
        b"\x1f\x8b" + bytes(50),
        gzip.compress(CONTENT, mtime=0)[:20] + bytes(500),
    ],
)
def test_broken_gzip(tmp_path, content):
    (tmp_path / "broken.gz").write_bytes(content)
    with pytest.raises(FileError, match=r"could not read .*broken\.gz: "):
        read_bytes(tmp_path / "broken.gz")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "No such file"),
        (".", "expected the path as the name of a file|Is a directory|Permission"),
        ("a\0b", "expected the path as the name of a file"),
        (7, "expected the path as the name of a file, got 7"),
        (b"bytes", "expected the path as the name of a file"),
        (None, "expected the path as the name of a file, got None"),
        ("", "expected the path as the name of a file, got ''"),
    ],
)
def test_unreadable_and_unwritable_paths(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=message):
        read_bytes(name)
    if name != "nothing":
        with pytest.raises(FileError):
            write_bytes(name, [b""])
        assert os.listdir() == []


def test_wrong_limits(tmp_path):
    with pytest.raises(MethodError, match="max_memory="):
        read_bytes(tmp_path / "file", max_memory="much")


# -- writing -----------------------------------------------------------------------------------


def test_written_whole_and_as_readable_as_other_files(tmp_path):
    path, other = tmp_path / "new", tmp_path / "other"
    write_bytes(path, [b"one ", b"two"])
    other.write_bytes(b"")
    assert path.read_bytes() == b"one two"
    assert path.stat().st_mode == other.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["new", "other"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.uai"
    path.write_bytes(b"old")

    def broken():
        yield b"new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_bytes(path, broken())

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"could not write .*: No space left"):
        write_bytes(path, [b"new"])
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["model.uai"]


def test_no_such_folder(tmp_path):
    with pytest.raises(FileError, match="No such file or directory: choose another file"):
        write_bytes(tmp_path / "nowhere" / "file", [b""])
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="could not write"):
        write_bytes(tmp_path / "folder", [b""])
    assert os.listdir(tmp_path) == ["folder"]
