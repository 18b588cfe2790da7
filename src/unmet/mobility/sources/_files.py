"""List the sources in files, folders and archives, unpack each one safely, and detect its file type."""

import codecs
import gzip
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

MAX_BYTES = 64 * 2**30  # of one source, uncompressed
_MAX_RATIO = 200  # trip files compress 4 to 40 times, compression bombs up to 1000 times
_RATIO_FROM = 16 * 2**20  # check the ratio only beyond this size
_CHUNK = 4 * 2**20

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Source:
    """One file, or one member of a zip archive."""

    path: Path
    member: str | None
    packing: str  # "plain", "gzip" or "zip"
    searched: bool  # found in a folder or archive; skipped with a note if it holds something else

    @property
    def name(self) -> str:
        return self.path.name if self.member is None else f"{self.path.name}/{self.member}"


def list_sources(paths: Paths, notes: list[str]) -> list[Source]:
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
                sources += _open_up(file, notes, searched=True)
        elif not path.exists():
            raise FileNotFoundError(f"no such file or folder: {path}")
        else:
            sources += _open_up(path, notes, searched=False)
    return sources


def _open_up(path: Path, notes: list[str], searched: bool) -> list[Source]:
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        magic = file.read(4)
    if not magic:
        if searched:
            notes.append(f"{path.name}: empty, skipped")
            return []
        raise ValueError(f"{path} is empty")
    if magic[:2] == b"\x1f\x8b":
        return [Source(path, None, "gzip", searched)]
    if magic[:2] == b"PK":
        return list(_members(path, notes))
    return [Source(path, None, "plain", searched)]


def _members(path: Path, notes: list[str]) -> Iterator[Source]:
    found = False
    for info in _infos(path):
        name = info.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if ".." in parts or name.startswith(("/", "\\")) or name[1:2] == ":":
            raise ValueError(
                f"{path.name}: member {name!r} points outside the archive; remove it from the archive"
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ValueError(f"{path.name}: member {name!r} is a link; put the file itself into the archive")
        if info.is_dir():
            continue
        if "__MACOSX" in parts or parts[-1].startswith("."):
            notes.append(f"{path.name}: {name} is not data, skipped")
        elif not name.lower().endswith((".csv", ".txt", ".tsv", ".json", ".geojson", ".parquet")):
            notes.append(f"{path.name}: {name} is not CSV, JSON or Parquet, skipped")
        else:
            found = True
            yield Source(path, name, "zip", True)
    if not found:
        raise ValueError(f"{path.name}: the archive holds no CSV, JSON or Parquet")


def _infos(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except Exception as error:  # a damaged archive can raise many types of error
        raise ValueError(f"{path.name} cannot be read as a zip archive: {short(error)}") from None


def unpack(source: Source, folder: Path, max_bytes: int) -> Path:
    """Return a path to the uncompressed source; raise ValueError if it exceeds the limits."""
    path = folder / "source"
    if source.packing == "plain":
        if source.path.stat().st_size > max_bytes:
            raise ValueError(_too_large(source, max_bytes))
        os.symlink(source.path.resolve(), path)
        return path
    try:
        with open(path, "wb") as target:
            _decompress(source, target, max_bytes)
    except _TooLargeError as error:
        raise ValueError(str(error)) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{source.name} is damaged or cannot be unpacked: {short(error)}") from None
    except (KeyError, IndexError, OverflowError, UnicodeError, gzip.BadGzipFile) as error:
        raise ValueError(f"{source.name} is damaged or cannot be unpacked: {short(error)}") from None
    return path


class _TooLargeError(Exception):
    """A source that is larger than allowed."""


def _too_large(source: Source, max_bytes: int) -> str:
    return f"{source.name} is larger than max_bytes={max_bytes:,} allows; split the file or raise max_bytes"


def _decompress(source: Source, target: IO[bytes], max_bytes: int) -> None:
    if source.packing == "gzip":
        with gzip.open(source.path, "rb") as stream:
            _copy(source, stream, target, source.path.stat().st_size, max_bytes)
        return
    with zipfile.ZipFile(source.path) as archive:
        info = archive.getinfo(source.member or "")
        with archive.open(info) as member:
            _copy(source, member, target, info.compress_size, max_bytes)


def _copy(
    source: Source, stream: IO[bytes] | gzip.GzipFile, target: IO[bytes], packed: int, max_bytes: int
) -> None:
    done = 0
    while chunk := stream.read(_CHUNK):
        done += len(chunk)
        if done > max_bytes:
            raise _TooLargeError(_too_large(source, max_bytes))
        if done > _RATIO_FROM and done > _MAX_RATIO * max(packed, 1):
            raise _TooLargeError(
                f"{source.name} expands more than {_MAX_RATIO} times, like a compression bomb; "
                "if you trust it, unpack it first"
            )
        target.write(chunk)


def content_of(path: Path, name: str) -> str:
    """Return ``"parquet"``, ``"json"`` or ``"csv"``, whatever the file is called.

    UTF-16 is rewritten as UTF-8, and carriage returns at the end of lines as line feeds.
    """
    with open(path, "rb") as file:
        start = file.read(4096)
    if not start:
        raise ValueError(f"{name} is empty")
    if start[:4] == b"PAR1":
        return "parquet"
    if start[:2] in (b"\x1f\x8b", b"PK"):
        raise ValueError(f"{name} holds an archive inside an archive; unpack it first")
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        _rewrite(path, lambda text: text, "utf-16", "utf-8", name)
        return content_of(path, name)
    if b"\r" in start and b"\n" not in start and start.lstrip(b"\xef\xbb\xbf \t\r")[:1] not in (b"{", b"["):
        _rewrite(path, lambda text: text.replace("\r", "\n"), "latin-1", "latin-1", name)
    return "json" if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv"


def _rewrite(path: Path, change: Callable[[str], str], encoding: str, into: str, name: str) -> None:
    rewritten = path.with_name("rewritten")
    try:
        with (
            open(path, encoding=encoding, newline="") as old,
            open(rewritten, "w", encoding=into, newline="") as new,
        ):
            while text := old.read(2**20):
                new.write(change(text))
    except UnicodeError:
        raise ValueError(f"{name} starts like UTF-16 text but is not; save it as UTF-8") from None
    path.unlink()
    rewritten.rename(path)


def short(error: BaseException) -> str:
    """Return the message of an error on one line of limited length."""
    return (" ".join(str(error).split()) or type(error).__name__)[:200]
