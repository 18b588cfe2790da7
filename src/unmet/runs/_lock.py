"""A folder belongs to one process at a time; a dead owner does not count."""

import contextlib
import os
import socket
from pathlib import Path
from types import TracebackType

from unmet.runs._atomic import explain_error, fcntl

LOCK_NAME = ".lock"


class FolderInUseError(ValueError):
    """Another living process works in the folder; `pid` is its number, None if it could not be read."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class FolderLock:
    """Context manager that keeps `folder` for this process.

    The system itself releases the lock when its owner ends, however it ends, so there are no stale locks:
    a file that a killed owner left behind is simply taken over.
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
                if self._is_current(descriptor):  # else its last owner removed it between our two calls
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
                    self._descriptor = descriptor
            except BlockingIOError:
                pid, owner = _owner(descriptor)
                raise FolderInUseError(
                    f"{self._path.parent} is in use by {owner}: wait until it ends, or choose another folder",
                    pid,
                ) from None
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
    if not words or not words[0].isdecimal():  # locked, but its owner has not yet written its number
        return None, "another process"
    where = "" if words[1:2] == [socket.gethostname()] else f" on {' '.join(words[1:])}"
    return int(words[0]), f"process {words[0]}{where}"
