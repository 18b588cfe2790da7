"""Checksums of files, folders and the package itself; only regular files are ever read."""

import hashlib
import io
import os
import stat
from collections.abc import Iterable
from functools import cache
from pathlib import Path


def open_regular(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a regular file for reading.

    A pipe or a device could block or never end, so anything but a regular file is a ValueError.
    """
    # Without O_NONBLOCK, opening a pipe waits for its writer, before anyone can see that it is a pipe.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
    raise ValueError(f"{os.fspath(path)} is {kind}, not a regular file: give the path of a file")


def read_regular(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Return the content of a regular file; a larger one than `max_bytes` is a ValueError."""
    with open_regular(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"{os.fspath(path)} is larger than {max_bytes:,} bytes: give a smaller file")
    return data


def checksum(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder."""
    path = Path(path)
    if not path.is_dir():
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return _of_files(path, (entry for entry in path.rglob("*") if entry.is_file()))


@cache
def code_version() -> str:
    """Return the version of unmet with a checksum of every file of the package.

    Templates, styles and data count as much as Python: a change of any of them changes results. A process
    runs the code that it started with, so the answer stays the same as long as it lives.
    """
    import unmet

    root = Path(unmet.__file__).parent
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return f"{unmet.__version__}+{_of_files(root, files)[:16]}"


def _of_files(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(root).as_posix()}\0{checksum(path)}\n".encode())
    return digest.hexdigest()
