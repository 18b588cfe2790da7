"""One process at a time works in a folder; the lock of a dead process is taken over."""

import contextlib
import os
import socket
from pathlib import Path
from types import TracebackType

from unmet.runs._atomic import explain_error, fcntl

LOCK_NAME = ".lock"


class FolderInUseError(ValueError):
    """Another process works in the folder; `pid` is its number, or None if it could not be read."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class FolderLock:
    """Context manager that reserves `folder` for this process.

    The system releases the lock when its owner ends, however it ends, so there are no stale locks. A lock
    file left behind by a killed owner is simply taken over.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._path = Path(folder) / LOCK_NAME
        self._descriptor: int | None = None

    def __enter__(self) -> "FolderLock":
        if fcntl is None:  # pragma: no cover
            return self
        while self._descriptor is None:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            except OSError as error:
                raise explain_error(error, self._path) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_current(descriptor):  # else its owner removed it between our two calls
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
                    self._descriptor = descriptor
            except BlockingIOError:
                pid, owner = _owner(descriptor)
                raise FolderInUseError(
                    f"{self._path.parent} is in use by {owner}: wait for it, or choose another folder",
                    pid,
                ) from None
            except BaseException:  # such as a full disk, or a signal
                self._path.unlink(missing_ok=True)
                raise
            finally:
                if self._descriptor is None:
                    os.close(descriptor)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._descriptor)
            self._descriptor = None

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(descriptor))
        except FileNotFoundError:
            return False


def _owner(descriptor: int) -> tuple[int | None, str]:
    words = os.pread(descriptor, 300, 0).decode("utf-8", "replace").split()
    if not words or not words[0].isdecimal():  # locked, but the owner has not written its number yet
        return None, "another process"
    where = "" if words[1:2] == [socket.gethostname()] else f" on {' '.join(words[1:])}"
    return int(words[0]), f"process {words[0]}{where}"
