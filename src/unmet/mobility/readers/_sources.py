"""Files, folders and archives as a flat list of readable sources, under caps."""

import gzip
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

MAX_BYTES = 64 * 2**30  # one source, uncompressed
MAX_RATIO = 200  # real trip files shrink 4 to 40 times; a bomb shrinks up to 1000 times
RATIO_FROM = 16 * 2**20  # below this size the ratio says nothing
CHUNK = 4 * 2**20

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Source:
    """One table or feed: a file, or one member of a zip archive."""

    path: Path
    member: str | None
    packing: str  # "plain", "gzip" or "zip"
    searched: bool  # found in a folder or archive, not named by the caller: may be skipped with a note

    @property
    def name(self) -> str:
        return self.path.name if self.member is None else f"{self.path.name}/{self.member}"


def expand(paths: Paths, notes: list[str]) -> list[Source]:
    """Sources behind paths, in the order given; inside folders and archives by name.

    Raises
    ------
    FileNotFoundError, ValueError : with one line that names the path.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ValueError("paths is empty: name at least one file or folder")
    sources: list[Source] = []
    for item in given:
        path = Path(item)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "._")))
            if not inside:
                raise ValueError(f"{path} is a folder without files")
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
            raise ValueError(f"{path.name}: member {name!r} points outside the archive; refused")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ValueError(f"{path.name}: member {name!r} is a link; refused")
        if info.is_dir():
            continue
        if "__MACOSX" in parts or parts[-1].startswith("."):
            notes.append(f"{path.name}: {name} is no data, skipped")
        elif not name.lower().endswith((".csv", ".txt", ".tsv", ".json", ".geojson", ".parquet")):
            notes.append(f"{path.name}: {name} is no CSV, JSON or Parquet, skipped")
        else:
            found = True
            yield Source(path, name, "zip", True)
    if not found:
        raise ValueError(f"{path.name}: the archive holds no CSV, JSON or Parquet")


def _infos(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except Exception as error:  # a damaged directory raises many kinds
        raise ValueError(f"{path.name} cannot be read as a zip archive: {_short(error)}") from None


def unpack(source: Source, target: IO[bytes], max_bytes: int) -> None:
    """Write the bytes of a compressed source to ``target``; refuse what grows beyond the caps."""
    try:
        if source.packing == "gzip":
            with gzip.open(source.path, "rb") as unzipped:
                _copy(source, unzipped, target, source.path.stat().st_size, max_bytes)
        else:
            with zipfile.ZipFile(source.path) as archive:
                info = archive.getinfo(source.member or "")
                with archive.open(info) as stream:
                    _copy(source, stream, target, info.compress_size, max_bytes)
    except _Refused as refused:
        raise ValueError(str(refused)) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{source.name} is damaged or cannot be unpacked: {_short(error)}") from None
    except (KeyError, IndexError, OverflowError, UnicodeError, gzip.BadGzipFile) as error:
        raise ValueError(f"{source.name} is damaged or cannot be unpacked: {_short(error)}") from None


class _Refused(Exception):
    """A source that is larger than allowed; its words are for the caller."""


def _copy(
    source: Source, stream: IO[bytes] | gzip.GzipFile, target: IO[bytes], packed: int, max_bytes: int
) -> None:
    done = 0
    while chunk := stream.read(CHUNK):
        done += len(chunk)
        if done > max_bytes:
            raise _Refused(f"{source.name} expands beyond {max_bytes:,} bytes (max_bytes); refused")
        if done > RATIO_FROM and done > MAX_RATIO * max(packed, 1):
            raise _Refused(
                f"{source.name} expands more than {MAX_RATIO} times; refused as a compression bomb"
            )
        target.write(chunk)


def _short(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200]
