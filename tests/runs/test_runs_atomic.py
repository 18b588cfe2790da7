"""Atomic files: whole or absent, temporary files cleaned up, errors that say what to do."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from unmet.runs import _atomic
from unmet.runs._atomic import atomic_write, is_leftover, remove_leftovers, write_bytes


def test_write_and_replace(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    write_bytes(target, b"old")
    write_bytes(str(target), b"new")
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_an_error_in_the_block_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    write_bytes(target, b"old")

    def write_half() -> None:
        with atomic_write(target) as file:
            file.write(b"half")
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        write_half()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_nothing_is_seen_before_the_end(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with atomic_write(target) as file:
        file.write(b"x" * 100_000)
        assert not target.exists()
    assert target.stat().st_size == 100_000


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_bytes(tmp_path / "a", b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"untouched")
    (tmp_path / "link").symlink_to("other")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "other").read_bytes() == b"untouched"
    assert not (tmp_path / "link").is_symlink()


def test_a_name_of_full_length_can_be_written(tmp_path: Path) -> None:
    write_bytes(tmp_path / ("n" * 255), b"x")
    with pytest.raises(OSError, match="name is too long"):
        write_bytes(tmp_path / ("n" * 256), b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a directory"):
        write_bytes(tmp_path, b"")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make it first") as caught:
        write_bytes(tmp_path / "no" / "file", b"")
    assert str(tmp_path / "no" / "file") in str(caught.value)


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    write_bytes(tmp_path / "file", b"")
    with pytest.raises(NotADirectoryError, match="not a folder"):
        write_bytes(tmp_path / "file" / "below", b"")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match="does not allow writing"):
            write_bytes(tmp_path / "a", b"")
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(_atomic.os, "open", refuse)
    with pytest.raises(OSError, match="read-only") as caught:
        write_bytes(tmp_path / "a", b"", tidy=False)
    assert caught.value.errno == errno.EROFS


def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    """A file-size limit makes the system itself refuse the bytes, in the middle of the write."""
    program = """
import resource, signal, sys
from unmet.runs._atomic import write_bytes
write_bytes(sys.argv[1], b"old")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_bytes(sys.argv[1], b"x" * 100_000)
except OSError as error:
    print(error)
"""
    target = tmp_path / "table.csv"
    done = subprocess.run(
        [sys.executable, "-c", program, str(target)], capture_output=True, text=True, check=True
    )
    assert "cannot write table.csv: the file is larger than the disk allows" in done.stdout
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="no /dev/full")
def test_no_space_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path) -> tuple[int, Path]:
        return os.open("/dev/full", os.O_WRONLY), folder / "never"

    monkeypatch.setattr(_atomic, "_open_locked", full)
    with pytest.raises(OSError, match="disk is full") as caught:
        write_bytes(tmp_path / "a", b"x" * 100_000)
    assert caught.value.errno == errno.ENOSPC


def test_errors_of_the_block_are_not_renamed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "a"):
        (tmp_path / "input").read_bytes()
    assert caught.value.filename == str(tmp_path / "input")


def test_leftovers_of_a_killed_writer_go_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    program = """
import sys, time
from unmet.runs._atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    time.sleep(60)
"""
    target = tmp_path / "table.csv"
    with subprocess.Popen([sys.executable, "-c", program, str(target)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert remove_leftovers(tmp_path) == 0
        (leftover,) = os.listdir(tmp_path)
        assert is_leftover(leftover)
        writer.send_signal(signal.SIGKILL)
    assert os.listdir(tmp_path) == [leftover]
    (tmp_path / ".unmet-notes.part").write_bytes(b"a user's file")
    write_bytes(target, b"new")
    assert sorted(os.listdir(tmp_path)) == [".unmet-notes.part", "table.csv"]


def test_leftovers_of_a_missing_folder(tmp_path: Path) -> None:
    assert remove_leftovers(tmp_path / "no") == 0


def test_bytes_and_name_are_on_disk_before_anyone_relies_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the first sync a power cut leaves an empty file, without the second the old one."""
    events: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        events.append("folder" if folder else f"file of {os.fstat(descriptor).st_size} bytes")
        real_fsync(descriptor)

    def replace(old: str, new: str) -> None:
        events.append("rename")
        real_replace(old, new)

    monkeypatch.setattr(_atomic.os, "fsync", fsync)
    monkeypatch.setattr(_atomic.os, "replace", replace)
    write_bytes(tmp_path / "table.csv", b"four")
    assert events == ["file of 4 bytes", "rename", "folder"]
