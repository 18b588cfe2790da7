"""Temporary folders disappear with their owner, or at the next start after a kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unmet.runs import TemporaryFolder, remove_abandoned

HOLD = """
import sys, time
from unmet.runs import TemporaryFolder
folder = TemporaryFolder(sys.argv[1])
(folder.path / "data").write_text("x")
print(folder.path, flush=True)
time.sleep(60)
"""


def holder(where: Path) -> tuple[subprocess.Popen, Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(where)], stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_removed_when_closed_and_when_collected(tmp_path: Path) -> None:
    folder = TemporaryFolder(tmp_path)
    (folder.path / "a").mkdir()
    folder.close()
    assert not any(tmp_path.iterdir())
    path = TemporaryFolder(tmp_path).path
    assert not path.exists()


def test_the_folder_of_a_living_process_stays(tmp_path: Path) -> None:
    process, path = holder(tmp_path)
    try:
        assert remove_abandoned(tmp_path) == 0
        assert (path / "data").read_text() == "x"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="kills with SIGKILL")
def test_the_next_folder_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    process, path = holder(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert path.exists()
    with TemporaryFolder(tmp_path):
        assert not path.exists()


def test_foreign_and_fresh_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "unmet-notes").mkdir()
    (tmp_path / "unmet-notes" / "mine.txt").write_text("keep")
    (tmp_path / "unmet-fresh").mkdir()
    old = tmp_path / "unmet-empty"
    old.mkdir()
    os.utime(old, (time.time() - 3600,) * 2)
    assert remove_abandoned(tmp_path) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["unmet-fresh", "unmet-notes"]


def test_a_folder_whose_lock_is_about_to_be_taken_is_left_alone(tmp_path: Path) -> None:
    """Its owner has made the lock file and is between two calls."""
    fresh = tmp_path / "unmet-fresh"
    fresh.mkdir()
    (fresh / ".lock").touch()
    assert remove_abandoned(tmp_path) == 0
    assert fresh.exists()
    long_ago = time.time() - 3600
    os.utime(fresh, (long_ago, long_ago))
    assert remove_abandoned(tmp_path) == 1
