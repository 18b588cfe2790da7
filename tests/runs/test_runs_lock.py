"""Folder locks: one owner, named in the refusal; a dead owner is no owner."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from unmet.runs import FolderInUseError, FolderLock

HOLD = """
import sys, time
from unmet.runs import FolderLock
with FolderLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_is_told_who_the_first_is_and_a_killed_owner_is_forgotten(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"held\n"
        with (
            pytest.raises(FolderInUseError, match=f"in use by process {owner.pid}:") as caught,
            FolderLock(tmp_path),
        ):
            pass
        assert caught.value.pid == owner.pid
        owner.send_signal(signal.SIGKILL)
    assert (tmp_path / ".lock").exists(), "the killed owner should have left its file"
    with FolderLock(tmp_path):
        assert (tmp_path / ".lock").read_text().split()[0] == str(os.getpid())
    assert os.listdir(tmp_path) == []


def test_within_one_process_too(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        with pytest.raises(FolderInUseError, match=str(os.getpid())), FolderLock(tmp_path):
            pass
        assert (tmp_path / ".lock").exists()
    with FolderLock(tmp_path):
        pass


def test_an_owner_on_another_machine_is_named_with_it(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        (tmp_path / ".lock").write_text("123 elsewhere\n")
        with pytest.raises(FolderInUseError, match="process 123 on elsewhere"), FolderLock(tmp_path):
            pass
        (tmp_path / ".lock").write_text("")
        with pytest.raises(FolderInUseError, match="another process"), FolderLock(tmp_path):
            pass


def test_an_error_inside_releases_it(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), FolderLock(tmp_path):
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space"), FolderLock(tmp_path):
        pass
    assert os.listdir(tmp_path) == []


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make it first"), FolderLock(tmp_path / "no"):
        pass
