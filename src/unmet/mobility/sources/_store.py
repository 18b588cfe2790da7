"""Keep the rows of files that were read, so that one more file later reads only that file.

Each unit, which is one file or a group of many small ones, is stored under a key of its content, its names,
the settings that decide its rows, and the code. What is not used any more is removed. The folder may be
deleted at any time: its files are then read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.mobility.sources._account import FileReport
from unmet.mobility.sources._day_order import DayEvidence
from unmet.mobility.sources._files import Source
from unmet.mobility.sources._tables import count, next_row
from unmet.runs import Cluster, atomic_write, checksum, code_version, in_worker
from unmet.tables import literal_path, private_folder

if TYPE_CHECKING:
    from unmet.mobility.sources._reading import SourceReader

Unit = tuple[Source, ...]
_MANY_FILES = 512  # so many files are stored in groups
_GROUP = 128
_MOST_BYTES = 8 * 2**30  # beyond this nothing more is stored
_REJECTS = "new_rejects"


def units_of(sources: list[Source]) -> list[Unit]:
    """Return sources in units that are read and stored together, in the same order.

    The members of an archive stay together. Thousands of small snapshots are stored in groups, counted from
    the first, so that more files at the end leave the earlier groups as they are.
    """
    units: list[Unit] = [tuple(group) for _, group in groupby(sources, key=lambda source: source.path)]
    if len(units) <= _MANY_FILES:
        return units
    return [
        tuple(source for unit in units[first : first + _GROUP] for source in unit)
        for first in range(0, len(units), _GROUP)
    ]


class ReadStore:
    """Rows of files that were read before, in a folder.

    Parameters
    ----------
    cluster : whose workers read the files that are not stored yet, one task each; they must see the folder
        and the files under the same paths.

    Attributes
    ----------
    lines_read, lines_kept : lines that were read now, and those whose rows were kept from before.
    changed : decisions that differ from those of an earlier reading, in words.
    """

    def __init__(self, folder: str | os.PathLike[str], *, cluster: Cluster | None = None) -> None:
        self.folder = Path(folder) if cluster is None else Path(folder).resolve()
        self.cluster = cluster
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lines_read = self.lines_kept = 0
        self.changed: list[str] = []
        self._used: set[str] = set()
        self._sums: dict[Path, str] = {}
        self._bytes = sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    def __contains__(self, of: tuple[SourceReader, Unit]) -> bool:
        return self._meta(self._key(*of)) is not None

    def take(self, reader: SourceReader, unit: Unit) -> bool:
        """Insert the stored rows of a unit; return False if there are none, or none that still hold."""
        key = self._key(reader, unit)
        meta = self._meta(key)
        if meta is None:
            return False
        for source, found in zip(unit, meta["evidence"]):
            if found is None:
                continue
            layout, usual, first, second, used = found
            evidence = DayEvidence(first, second)
            reader.evidence[source] = (layout, usual, evidence)
            if evidence.is_open:
                reader.survey(layout)
            if reader.order.of(evidence, layout, usual) != used:
                self.changed.append(f"{source.name}: another order of day and month")
                return False
        self._used.add(key)
        reader.feeds.insert()
        base = next_row(reader.con, reader.destination.tables[0])
        for table in (*reader.destination.tables, _REJECTS):
            if meta["rows"][table]:
                part = literal_path(self._part(key, table))
                reader.con.execute(f"INSERT INTO {table} SELECT * FROM read_parquet({part})")
        account = reader.account
        account.files += [FileReport(**one) for one in meta["files"]]
        account.notes += meta["notes"]
        account.blank += meta["blank"]
        account.left_out += meta["left_out"]
        reader.refused |= meta["refused"]
        reader.own_columns |= meta["own_columns"]
        reader.unlike = reader.unlike or meta["unlike"]
        reader.destination.recall(meta["noted"], base)
        self.lines_kept += sum(one["lines"] for one in meta["files"])
        return True

    def evidence(
        self, reader: SourceReader, unit: Unit
    ) -> dict[Source, tuple[str, bool, DayEvidence]] | None:
        """Return what the dates of a stored unit show; ``None`` if it is not stored."""
        meta = self._meta(self._key(reader, unit))
        if meta is None:
            return None
        known = [(source, found) for source, found in zip(unit, meta["evidence"]) if found is not None]
        return {source: (one[0], one[1], DayEvidence(one[2], one[3])) for source, one in known}

    @contextmanager
    def kept(self, reader: SourceReader, unit: Unit) -> Iterator[None]:
        """Store what is read inside, if that ends well."""
        account, con = reader.account, reader.con
        names = (*reader.destination.tables, _REJECTS)
        before = {name: next_row(reader.con, name) for name in names}
        files, notes, blank, left_out = (
            len(account.files),
            len(account.notes),
            account.blank,
            account.left_out,
        )
        refused, own, unlike = set(reader.refused), reader.own_columns, reader.unlike
        reader.own_columns, reader.unlike = False, None
        yield
        new = account.files[files:]
        self.lines_read += sum(file.lines for file in new)
        key = self._key(reader, unit)
        meta = {
            "files": [asdict(file) for file in new],
            "notes": account.notes[notes:],
            "blank": account.blank - blank,
            "left_out": account.left_out - left_out,
            "refused": {name: words for name, words in reader.refused.items() if name not in refused},
            "own_columns": reader.own_columns,
            "unlike": reader.unlike,
            "evidence": [_stored(reader, source) for source in unit],
            "noted": reader.destination.remember(before[names[0]]),
            "rows": {
                name: count(con, f"SELECT count(*) FROM {name} WHERE rowid >= {before[name]}")
                for name in names
            },
        }
        reader.own_columns, reader.unlike = own or reader.own_columns, unlike or reader.unlike
        self._save(reader, key, meta, before)

    def _save(self, reader: SourceReader, key: str, meta: dict[str, Any], before: dict[str, int]) -> None:
        sums = {}
        for name, rows in meta["rows"].items():
            if not rows or self._is_full:
                continue
            staged = private_folder(reader.con) / "stored.parquet"
            reader.con.execute(
                f"COPY (SELECT * FROM {name} WHERE rowid >= {before[name]}) TO {literal_path(staged)} "
                "(FORMAT parquet, COMPRESSION zstd)"
            )
            with open(staged, "rb") as rows_file, atomic_write(self._part(key, name)) as target:
                shutil.copyfileobj(rows_file, target, 1 << 20)
            self._bytes += staged.stat().st_size
            staged.unlink()
            sums[name] = checksum(self._part(key, name))
        if not self._is_full:
            with atomic_write(self.folder / f"{key}.json") as target:
                target.write(json.dumps({**meta, "sums": sums}, sort_keys=True).encode())
            self._used.add(key)

    @property
    def _is_full(self) -> bool:
        """Whether nothing more is stored; what workers read must be, so on a cluster it never is."""
        return self.cluster is None and not in_worker() and self._bytes > _MOST_BYTES

    def prune(self) -> None:
        """Remove what was not used since this object was made."""
        for path in self.folder.iterdir():
            if path.name.split(".")[0].split("-")[0] not in self._used and path.is_file():
                path.unlink()

    def _meta(self, key: str) -> dict[str, Any] | None:
        """Return what is stored under a key; ``None`` if it is missing or damaged."""
        try:
            meta = json.loads((self.folder / f"{key}.json").read_bytes())
            whole = all(checksum(self._part(key, name)) == known for name, known in meta["sums"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return meta if whole else None

    def _part(self, key: str, table: str) -> Path:
        return self.folder / f"{key}-{table}.parquet"

    def _key(self, reader: SourceReader, unit: Unit) -> str:
        for source in unit:
            if source.path not in self._sums:
                self._sums[source.path] = checksum(source.path)
        about = {
            "code": code_version(),
            "kind": reader.kind,
            "choices": asdict(reader.choices),
            "settings": dict(reader.destination.settings),
            "files": [[source.name, source.searched, self._sums[source.path]] for source in unit],
        }
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _stored(reader: SourceReader, source: Source) -> list[Any] | None:
    found = reader.evidence.get(source)
    if found is None:
        return None
    layout, usual, evidence = found
    return [layout, usual, evidence.first, evidence.second, reader.order.of(evidence, layout, usual)]
