"""Files that appear whole or not at all, even if the writer is killed."""

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:  # absent on Windows, where leftovers are then never removed
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

# The name does not contain that of the target, which may already be as long as the system allows.
_LEFTOVER = re.compile(r"\.unmet-[0-9a-f]{16}\.part")

_HINTS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is larger than the disk allows",
    errno.EIO: "the disk reports an error",
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "the folder does not allow writing",
    errno.EPERM: "the folder does not allow writing",
    errno.ENOENT: "the folder does not exist; make it first",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "the path is a directory; give the path of a file",
    errno.ENAMETOOLONG: "the name is too long",
}


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], *, tidy: bool = True) -> Iterator[BinaryIO]:
    """Open a binary file that appears at `path` only when the block ends without an error.

    Until then the bytes are in a hidden temporary file in the same folder. Readers see the old content or
    the new, never a mixture, also after a crash. A link at `path` is replaced, not followed.

    Parameters
    ----------
    path : path of the file to write; its folder must exist.
    tidy : first remove what killed writers left in the folder. To write thousands of files into one folder,
        turn it off and call `remove_leftovers` once.

    Raises
    ------
    OSError
        With the path and the reason (disk full, read-only folder, a directory, ...); the old file is intact.

    Examples
    --------
    >>> with atomic_write("table.csv") as file:  # doctest: +SKIP
    ...     file.write(b"hub,demand\\n")
    """
    target = Path(path)
    if os.path.isdir(target):  # unlike Path.is_dir, no error of its own for an overlong name
        raise explain_error(IsADirectoryError(errno.EISDIR, ""), target)
    if tidy:
        remove_leftovers(target.parent)
    try:
        descriptor, temporary = _open_locked(target.parent)
    except OSError as error:
        raise explain_error(error, target) from error
    file = os.fdopen(descriptor, "wb")
    try:
        try:
            yield file
        except OSError as error:
            # Only a failed write has no file name; any other error is the caller's own.
            if error.filename is None and error.errno in _HINTS:
                raise explain_error(error, target) from error
            raise
        try:
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)
        except OSError as error:
            raise explain_error(error, target) from error
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        with contextlib.suppress(OSError):  # a failed flush was reported already, and fails again here
            file.close()
    sync_folder(target.parent)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, tidy: bool = True) -> None:
    """Write `data` to `path`, whole or not at all; see `atomic_write`."""
    with atomic_write(path, tidy=tidy) as file:
        file.write(data)


def remove_leftovers(folder: str | os.PathLike[str]) -> int:
    """Remove the temporary files of killed writers from `folder`; return how many.

    A writer holds a lock on its file, and the system drops the lock when the writer dies. A file that can be
    locked therefore has no owner.
    """
    if fcntl is None:  # pragma: no cover
        return 0
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if _LEFTOVER.fullmatch(entry.name)]
    except OSError:
        return 0
    removed = 0
    for name in found:
        with contextlib.suppress(OSError):
            descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name)
                removed += 1
            finally:
                os.close(descriptor)
    return removed


def is_leftover(name: str) -> bool:
    """Return whether `atomic_write` gives this name to temporary files."""
    return _LEFTOVER.fullmatch(name) is not None


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make new names in `folder` survive a power cut, where the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_locked(folder: Path) -> tuple[int, Path]:
    """Open and lock a new temporary file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    for _ in range(100):
        temporary = folder / f".unmet-{secrets.token_hex(8)}.part"
        try:
            descriptor = os.open(temporary, flags, 0o666)
            if fcntl is None or _is_ours(descriptor):
                return descriptor, temporary
        except KeyboardInterrupt:
            temporary.unlink(missing_ok=True)
            raise
        os.close(descriptor)
    raise OSError(errno.EBUSY, "cannot make a temporary file")


def _is_ours(descriptor: int) -> bool:
    """Lock a new file; return False if another process took it for ownerless and removes it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # this file system has no locks, so nothing removes it either
    return os.fstat(descriptor).st_nlink > 0


def explain_error(error: OSError, target: Path) -> OSError:
    """Return the same error with the path and a reason in words."""
    hint = _HINTS.get(error.errno or 0, error.strerror or str(error))
    return OSError(error.errno or errno.EIO, f"cannot write {target.name}: {hint}", str(target))
