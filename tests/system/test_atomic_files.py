"""Files written whole or not at all; and what is no file is left as it is."""

import os
import stat
import threading

import pytest

from herded.errors import FileError
from herded.system import atomic_files


def write(path, data=b"new"):
    with atomic_files.atomic_replacement(path, FileError, "the path") as file:
        file.write(data)


def check(path):
    atomic_files.check_writable(path, FileError, "--out")


def test_the_old_file_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_files.atomic_replacement(path, FileError, "the path") as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def failing():
        with atomic_files.atomic_replacement(path, FileError, "the path") as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


def test_a_link_stays_one(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("folder/file")
    check(link)
    write(link)
    assert link.is_symlink() and (tmp_path / "folder" / "file").read_bytes() == b"new"
    lost = tmp_path / "lost"
    lost.symlink_to("folder/other")
    write(lost)
    assert lost.is_symlink() and (tmp_path / "folder" / "other").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path / "folder")) == ["file", "other"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_said_and_a_device_stays_one(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    for path in ("/dev/full", link):
        check(path)
        with pytest.raises(FileError, match=f"could not write {path}: No space left"):
            write(path, b"x" * 100)
    check("/dev/null")
    write("/dev/null")
    for device in ("/dev/full", "/dev/null"):
        assert stat.S_ISCHR(os.stat(device).st_mode)
    assert link.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    check(path)
    thread = threading.Thread(target=write, args=(path, b"through"))
    thread.start()
    assert path.read_bytes() == b"through"
    thread.join()
    assert os.listdir(tmp_path) == ["pipe"]


def test_what_cannot_be_written_is_said_beforehand(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "file", "", "\0"):
        with pytest.raises(
            FileError, match=r"expected --out as the name|could not write .*No such file"
        ):
            check(path)
    check(tmp_path / "file")
    assert os.listdir(tmp_path) == []
