"""List the sources in files, folders and archives."""

import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from unmet.mobility.sources._packing import DEEPEST, ZIP, open_zip, short

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
