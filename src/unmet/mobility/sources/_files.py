"""List the sources in files, folders and archives, and unpack them safely."""

import bz2
import gzip
import lzma
import os
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

MAX_BYTES = 64 * 2**30  # of one source, uncompressed
MAX_MEMBERS = 2_000  # of one archive
_TABLES = (".csv", ".txt", ".tsv", ".json", ".geojson", ".jsonl", ".ndjson", ".parquet")
_PACKED = (".gz", ".bz2", ".xz", ".zst")

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Source:
    """One file, or one member of a zip archive; each of `members` lies in the one before it."""

    path: Path
    members: tuple[str, ...]
    searched: bool  # found in a folder or archive; skipped with a note if it holds something else

    @property
    def name(self) -> str:
        return "/".join((self.path.name, *self.members))


def list_sources(paths: Paths, notes: list[str], max_bytes: int = MAX_BYTES) -> list[Source]:
    """List the sources in `paths`, in the order given; those of a folder are sorted by name."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ValueError("paths is empty: name at least one file or folder")
    sources: list[Source] = []
    for item in given:
        path = Path(item)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "._")))
            if not inside:
                raise ValueError(f"{path} is a folder without files; name one that has some")
            for file in inside:
                sources += _open_up(file, notes, True, max_bytes)
        elif not path.exists():
            raise FileNotFoundError(f"no such file or folder: {path}")
        else:
            sources += _open_up(path, notes, False, max_bytes)
    return sources


def _open_up(path: Path, notes: list[str], searched: bool, max_bytes: int) -> list[Source]:
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        magic = file.read(4)
    if not magic:
        if searched:
            notes.append(f"{path.name}: empty, skipped")
            return []
        raise ValueError(f"{path} is empty")
    if magic.startswith(ZIP):
        found = list(_members(path, (), notes, max_bytes))
        if not found:
            raise ValueError(f"{path.name}: the archive holds no CSV, JSON or Parquet")
        return found
    return [Source(path, (), searched)]


def _members(path: Path, inside: tuple[str, ...], notes: list[str], max_bytes: int) -> Iterator[Source]:
    where = "/".join((path.name, *inside))
    infos = _infos(path, inside, where, max_bytes)
    if any(info.filename == "xl/workbook.xml" for info in infos):
        raise ValueError(f"{where} is an Excel workbook, not a table; save the sheet as CSV")
    for info in infos:
        name = info.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if ".." in parts or name.startswith(("/", "\\")) or name[1:2] == ":":
            raise ValueError(
                f"{where}: member {name!r} points outside the archive; remove it from the archive"
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ValueError(f"{where}: member {name!r} is a link; put the file itself into the archive")
        if info.is_dir():
            continue
        plain = name.lower()
        while plain.endswith(_PACKED):
            plain = plain.rpartition(".")[0]
        if "__MACOSX" in parts or parts[-1].startswith("."):
            notes.append(f"{where}: {name} is not data, skipped")
        elif name.lower().endswith(".zip"):
            if len(inside) + 1 >= DEEPEST:
                raise ValueError(f"{where}/{name} is an archive too deep inside others; unpack it first")
            yield from _members(path, (*inside, name), notes, max_bytes)
        elif not plain.endswith(_TABLES):
            notes.append(f"{where}: {name} is not CSV, JSON or Parquet, skipped")
        else:
            yield Source(path, (*inside, name), True)


def _infos(path: Path, inside: tuple[str, ...], name: str, max_bytes: int) -> list[zipfile.ZipInfo]:
    try:
        with open_zip(path, inside, name, max_bytes) as archive:
            infos = archive.infolist()
    except ValueError:
        raise
    except Exception as error:  # a damaged archive can raise many types of error
        raise ValueError(f"{name} cannot be read as a zip archive: {short(error)}") from None
    if len(infos) > MAX_MEMBERS:
        raise ValueError(
            f"{name} has {len(infos):,} members, more than {MAX_MEMBERS:,}; unpack it and give the folder"
        )
    return infos


_MAX_RATIO = 200  # trip files compress 4 to 40 times, compression bombs up to 1000 times
_RATIO_FROM = 16 * 2**20  # check the ratio only beyond this size
_CHUNK = 4 * 2**20
DEEPEST = 3  # archives inside archives


def _open_zstd(file: IO[bytes]) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:  # not the package zstandard: where it is installed, JAX keeps compiled programs without a checksum
        from backports import zstd
    return zstd.ZstdFile(file)


# The first bytes of compressed files, and how to read them.
_STREAMS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
ZIP = b"PK"


class _TooLargeError(Exception):
    """A source that is larger than allowed."""


def too_large(name: str, max_bytes: int) -> str:
    """Return what to say about a source that exceeds the limit."""
    return f"{name} is larger than max_bytes={max_bytes:,} allows; split the file or raise max_bytes"


@contextmanager
def open_zip(path: Path, inside: tuple[str, ...], name: str, max_bytes: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, or one that lies in others: `inside` names the way. Damage is a ValueError."""
    with readable_archive(name), ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(path))
        for member in inside:
            inner = stack.enter_context(tempfile.TemporaryFile())
            info = archive.getinfo(member)
            with archive.open(info) as packed:
                copy(name, packed, inner, info.compress_size, max_bytes)
            archive = stack.enter_context(zipfile.ZipFile(inner))
        yield archive


@contextmanager
def readable_archive(name: str) -> Iterator[None]:
    """Turn what a damaged archive can raise into a ValueError."""
    try:
        yield
    except _TooLargeError as error:
        raise ValueError(str(error)) from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError) as error:
        raise ValueError(f"{name} is damaged or cannot be unpacked: {short(error)}") from None
    except (KeyError, IndexError, OverflowError, UnicodeError, gzip.BadGzipFile) as error:
        raise ValueError(f"{name} is damaged or cannot be unpacked: {short(error)}") from None
    except OSError as error:
        if error.errno is not None:  # the disk, not the archive
            raise
        raise ValueError(f"{name} is damaged or cannot be unpacked: {short(error)}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise ValueError(f"{name} is damaged or cannot be unpacked: {short(error)}") from None


def stream_of(magic: bytes) -> Callable[[IO[bytes]], Any] | None:
    """Return how to decompress what starts with these bytes; ``None`` if it is not compressed."""
    return next((reader for mark, reader in _STREAMS.items() if magic.startswith(mark)), None)


def unpack(path: Path, members: tuple[str, ...], name: str, folder: Path, max_bytes: int) -> Path:
    """Return a path to the uncompressed source; raise ValueError if it exceeds the limits."""
    target = folder / "source"
    with open(path, "rb") as file:
        magic = file.read(8)
    if not members and stream_of(magic) is None:
        if path.stat().st_size > max_bytes:
            raise ValueError(too_large(name, max_bytes))
        os.symlink(path.resolve(), target)
        return target
    if not members:
        with readable_archive(name), open(path, "rb") as packed:
            _expand(name, packed, magic, target, path.stat().st_size, max_bytes)
    else:
        with open_zip(path, members[:-1], name, max_bytes) as archive:
            info = archive.getinfo(members[-1])
            with archive.open(info) as member, open(target, "wb") as plain:
                copy(name, member, plain, info.compress_size, max_bytes)
    return _peel(target, name, max_bytes)


def _peel(path: Path, name: str, max_bytes: int) -> Path:
    """Unpack what is compressed again, such as a gzip file in a zip archive."""
    for _ in range(DEEPEST):
        with open(path, "rb") as file:
            magic = file.read(8)
        if stream_of(magic) is None:
            break
        packed = path.with_name("packed")
        path.rename(packed)
        with readable_archive(name), open(packed, "rb") as file:
            _expand(name, file, magic, path, packed.stat().st_size, max_bytes)
        packed.unlink()
    if magic.startswith(ZIP) or stream_of(magic) is not None:
        raise ValueError(f"{name} holds an archive inside an archive; unpack it first")
    return path


def _expand(name: str, file: IO[bytes], magic: bytes, path: Path, size: int, max_bytes: int) -> None:
    reader = stream_of(magic)
    assert reader is not None
    with reader(file) as stream, open(path, "wb") as target:
        copy(name, stream, target, size, max_bytes)


def copy(name: str, stream: Any, target: IO[bytes], packed: int, max_bytes: int) -> None:
    """Copy a stream; raise an error if it grows beyond `max_bytes` or too much above its `packed` size."""
    done = 0
    while chunk := stream.read(_CHUNK):
        done += len(chunk)
        if done > max_bytes:
            raise _TooLargeError(too_large(name, max_bytes))
        if done > _RATIO_FROM and done > _MAX_RATIO * max(packed, 1):
            raise _TooLargeError(
                f"{name} expands more than {_MAX_RATIO} times, like a compression bomb; "
                "if you trust it, unpack it first"
            )
        target.write(chunk)


def short(error: BaseException) -> str:
    """Return the message of an error on one line of limited length."""
    return (" ".join(str(error).split()) or type(error).__name__)[:200]
