"""Temporary folders that a killed process does not leave behind for good."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
import weakref
from pathlib import Path
from types import TracebackType

from unmet.runs._atomic import fcntl
from unmet.runs._lock import LOCK_NAME, FolderInUseError, FolderLock

PREFIX = "unmet-"
_BEING_MADE = 60.0  # seconds in which a folder without a lock may still be about to get one


class TemporaryFolder:
    """A private folder that is removed when it is closed, collected, or the interpreter ends.

    A process that is killed cannot remove its folders. The system drops its locks, though, so the next
    process that makes a folder in the same place finds them and removes them.

    Parameters
    ----------
    where : folder to make it in; ``None`` uses the system's temporary folder.

    Examples
    --------
    >>> with TemporaryFolder() as folder:
    ...     (folder.path / "a.txt").write_text("text")
    4
    >>> folder.path.exists()
    False
    """

    def __init__(self, where: str | os.PathLike[str] | None = None) -> None:
        parent = Path(tempfile.gettempdir() if where is None else where)
        remove_abandoned(parent)
        self.path = parent.resolve() / f"{PREFIX}{secrets.token_hex(8)}"
        lock = FolderLock(self.path)
        # Before there is anything to remove, so that a signal finds no moment in between.
        self._finalizer = weakref.finalize(self, _remove, self.path, lock, os.getpid())
        self.path.mkdir(0o700)
        lock.__enter__()

    def close(self) -> None:
        """Remove the folder and everything in it."""
        self._finalizer()

    def __enter__(self) -> TemporaryFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def remove_abandoned(parent: Path) -> int:
    """Remove the temporary folders of dead processes from `parent`; return how many."""
    if fcntl is None:  # pragma: no cover - without locks nobody can tell who is alive
        return 0
    removed = 0
    try:
        found = [entry for entry in os.scandir(parent) if entry.name.startswith(PREFIX)]
    except OSError:
        return 0
    for entry in found:
        with contextlib.suppress(OSError, FolderInUseError):
            if entry.is_dir(follow_symlinks=False) and _is_abandoned(Path(entry.path)):
                shutil.rmtree(entry.path)
                removed += 1
    return removed


def _is_abandoned(folder: Path) -> bool:
    """Whether a folder was made here and its owner is dead; raises where the owner lives."""
    if os.stat(folder).st_uid != os.getuid():
        return False
    lock = folder / LOCK_NAME
    # An owner writes its number once it holds the lock. Until then it may be about to take it.
    if not lock.exists() or not lock.stat().st_size:
        others = [path for path in folder.iterdir() if path != lock]
        return not others and time.time() - os.stat(folder).st_mtime > _BEING_MADE
    with FolderLock(folder):
        return True


def _remove(path: Path, lock: FolderLock, owner: int) -> None:
    if os.getpid() != owner:  # a forked child must not take the folder from its parent
        return
    try:
        shutil.rmtree(path, ignore_errors=True)
    except BaseException:  # a signal, which comes once
        shutil.rmtree(path, ignore_errors=True)
        raise
    finally:
        lock.__exit__(None, None, None)
