"""Sources made ready side by side: unpacked, counted and, where they allow it, read the quick way.

Each worker has its own cursor and its own folder. Rows read the quick way wait in an open transaction until
it is their source's turn, so that rows stand in the order of the sources however fast each of them was.
"""

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from unmet.mobility.readers._csv import (
    Relation,
    attempt,
    content_of,
    header_of,
    plain_relation,
    typed_relation,
    unpacked,
)
from unmet.mobility.readers._formats import Kind
from unmet.mobility.readers._recognise import Layout, recognise
from unmet.mobility.readers._scan import Scan, count_lines, first_bytes
from unmet.mobility.readers._sources import Source
from unmet.runs import Streams

Insert = Callable[[duckdb.DuckDBPyConnection, Relation, Layout, Source, int], int]


@dataclass
class Ready:
    """A source whose turn will come: where its bytes are, what they hold, and perhaps its rows."""

    path: Path
    content: str  # "csv", "json" or "parquet"
    scan: Scan | None = None
    rows: duckdb.DuckDBPyConnection | None = None  # all of them, not yet committed

    def keep_rows(self) -> bool:
        """Commit the rows that were read the quick way; false where there are none."""
        if self.rows is None:
            return False
        try:
            self.rows.execute("COMMIT")
        except duckdb.TransactionException:  # another source changed the table meanwhile
            return False
        finally:
            self.rows.close()
            self.rows = None
        return True

    def discard(self) -> None:
        """Give up what is not committed, and remove the bytes."""
        if self.rows is not None:
            self.rows.close()
        shutil.rmtree(self.path.parent, ignore_errors=True)


@dataclass
class Workers:
    """What workers need to make a source ready."""

    con: duckdb.DuckDBPyConnection
    kind: Kind
    insert: Insert
    columns: dict[str, str] | None
    folder: Path
    max_bytes: int

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[duckdb.DuckDBPyConnection] = set()
        self._stopped = threading.Event()
        self.streams = Streams()

    def ready(self, item: tuple[int, Source]) -> Ready:
        """Make one source ready; called from several threads."""
        number, source = item
        folder = self.folder / str(number)
        folder.mkdir()
        try:
            path = unpacked(source, folder, self.max_bytes)
            content = content_of(path, source.name)
            if content != "csv":
                return Ready(path, content)
            return self._csv(source, number, path)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def stop(self) -> None:
        """End what is running: nobody waits for it any more."""
        with self._lock:
            self._stopped.set()
            for cursor in self._busy:
                cursor.interrupt()

    def _csv(self, source: Source, number: int, path: Path) -> Ready:
        """Read a text file in the quickest way that fits it, or only count its lines."""
        first = first_bytes(path)
        delimiter, header = header_of(first)
        layout = recognise(header, self.columns)
        if layout is None or layout.kind != self.kind:
            return Ready(path, "csv", count_lines(path))
        with self._lock:
            cursor = self.con.cursor()
            self._busy.add(cursor)
        kept = False

        def insert(relation: Relation) -> int:
            return self.insert(cursor, relation, layout, source, number)

        try:
            plain = plain_relation(path, first, layout, delimiter, self._stopped, self.streams)
            rows = (
                attempt(cursor, insert, plain) if plain is not None and not self._stopped.is_set() else None
            )
            if rows is not None:
                kept = True
                return Ready(path, "csv", Scan(rows + 1, None, first, False, False), cursor)
            scan = count_lines(path)
            typed = typed_relation(path, scan, layout, delimiter)
            if typed is not None and not self._stopped.is_set():
                kept = attempt(cursor, insert, typed, scan.lines - 1) is not None
            return Ready(path, "csv", scan, cursor if kept else None)
        finally:
            with self._lock:
                self._busy.discard(cursor)
            if not kept:
                cursor.close()
