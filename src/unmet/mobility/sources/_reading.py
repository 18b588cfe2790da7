"""The road of every source: list, unpack, recognise, insert the sound rows, account for all others."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import duckdb

from unmet.mobility.sources._account import Account
from unmet.mobility.sources._cells import Cells
from unmet.mobility.sources._csv import (
    count_lines,
    csv_cells,
    numbered_cells,
    read_header,
    sample_rows,
    write_rows,
)
from unmet.mobility.sources._files import Paths, Source, content_of, list_sources, short, unpack
from unmet.mobility.sources._formats import Format, Kind
from unmet.mobility.sources._gbfs import gbfs_feed
from unmet.mobility.sources._json import Feed, load_json
from unmet.mobility.sources._layouts import OWN, Layout, NotRecognised, recognise, refusal
from unmet.mobility.sources._mds import mds_feed
from unmet.mobility.sources._parquet import parquet_cells, parquet_columns
from unmet.mobility.sources._repair import Reject, repair, texts_of
from unmet.mobility.sources._tables import count
from unmet.tables import private_folder

Progress = Callable[[str, int, int], None]
_MANY = 200_000  # rows of feeds that are inserted together
_CANNOT_READ = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException)


@dataclass(frozen=True)
class Rows:
    """How cells become rows of ``new_…``: `sql` takes the SQL of the cells and returns that of the rows.

    The rows have the listed `columns`, and `line`, `reason` and `left_out`. A row with a reason is rejected.
    `filtered` says that sound rows may be left out.
    """

    table: str
    columns: str
    sql: Callable[[str], str]
    filtered: bool = False


@dataclass(frozen=True)
class Inserted:
    """What became of the rows of a source: `rows` were inserted; `rejects` have a line and a reason."""

    rows: int
    rejects: list[tuple[int, str]] = field(default_factory=list)
    left_out: int = 0
    numbered: bool = True  # whether rows were inserted with their line


class Destination(Protocol):
    """The reader of one kind: trips, status or stations."""

    kind: Kind

    def rows(self, cells: Cells, source: str) -> Rows:
        """Say how the cells of a source become rows."""

    def finish(self, cells: Cells, rows: Rows, inserted: Inserted) -> None:
        """Complete the rows of a source that were just inserted."""


@dataclass
class SourceReader:
    """Reads all sources of one call into the tables ``new_…``."""

    con: duckdb.DuckDBPyConnection
    destination: Destination
    columns: dict[str, str] | None  # what a caller says about a layout of their own
    as_text: tuple[str, ...]  # columns that are compared as text
    max_bytes: int
    account: Account = field(init=False)

    def __post_init__(self) -> None:
        self.kind = self.destination.kind
        self.account = Account(self.con, self.kind)
        self._feeds: dict[tuple[str, ...], tuple[Feed, list[list[Any]]]] = {}

    def read(self, paths: Paths, progress: Progress | None) -> Account:
        """Read every source in order; afterwards each of its lines is accounted for."""
        if self.max_bytes < 1:
            raise ValueError(f"max_bytes must be positive, got {self.max_bytes!r}")
        sources = list_sources(paths, self.account.notes)
        refused: dict[str, str] = {}
        place = private_folder(self.con)
        with tempfile.TemporaryDirectory(prefix="unmet-reading-", dir=place) as name:
            self._folder = Path(name)
            for number, source in enumerate(sources):
                if progress is not None:
                    progress(source.name, number, len(sources))
                try:
                    self._read_one(source)
                except NotRecognised as error:
                    if not source.searched:
                        raise
                    refused[source.name] = str(error)
            self._insert_feeds()
            self.account.write_rejects(self._folder)
            if progress is not None:
                progress("", len(sources), len(sources))
        if not self.account.files:
            none = f"no {self.kind} found: every file was empty"
            raise NotRecognised(next(iter(refused.values()), none))
        if refused:
            names = ", ".join(list(refused)[:6]) + (" …" if len(refused) > 6 else "")
            self.account.notes.append(f"no {self.kind} in {len(refused):,} other files, skipped: {names}")
        return self.account

    def _read_one(self, source: Source) -> None:
        folder = self._folder / "one"
        folder.mkdir()
        try:
            path = unpack(source, folder, self.max_bytes)
            content = content_of(path, source.name)
            if content == "json":
                self._read_json(source, path)
                return
            self._insert_feeds()  # rows stand in the order of the sources
            if content == "parquet":
                self._read_parquet(source, path)
            else:
                self._read_csv(source, path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.account.write_many_rejects(self._folder)

    def _read_csv(self, source: Source, path: Path) -> None:
        """Read a regular file as it is, any other after a repair."""
        delimiter, header = read_header(path)
        layout = self._recognise(source, header)
        lines = count_lines(path)
        trouble = lines.trouble
        if trouble is None:
            for cells in csv_cells(path, layout, delimiter, lines, self.as_text):
                try:
                    inserted = self._insert(cells, source.name)
                except _CANNOT_READ:
                    continue
                if inserted is not None:
                    self._account(source, layout, lines.number, 1, inserted, path)
                    return
                break
            trouble = "DuckDB and the count of lines disagree"
        self._repair_csv(source, path, layout, delimiter, trouble)

    def _repair_csv(self, source: Source, path: Path, layout: Layout, delimiter: str, trouble: str) -> None:
        broken: list[Reject] = []
        clean = path.with_name("clean.csv")
        width = len(layout.header)
        with open(clean, "w", encoding="utf-8", newline="") as target:
            done = repair(path, target, delimiter, width, broken)
        self.account.notes.append(f"{source.name}: read line by line ({trouble})")
        if done.latin:
            self.account.notes.append(f"{source.name}: {done.latin:,} lines are not UTF-8, taken as Latin-1")
        inserted: Inserted | None = Inserted(0)
        if done.good:
            samples = sample_rows(path, delimiter, width)
            try:
                inserted = self._insert(numbered_cells(clean, layout, done.good, samples), source.name)
            except _CANNOT_READ:
                inserted = None
        if inserted is None:
            raise ValueError(f"{source.name} cannot be read: its lines do not add up")
        self.account.add_rejects(source.name, broken)
        self.account.blank += done.blank
        self._account(source, layout, done.lines, 1, inserted, path, len(broken))

    def _read_parquet(self, source: Source, path: Path) -> None:
        columns = parquet_columns(self.con, path, source.name)
        layout = self._recognise(source, list(columns))
        try:
            cells = parquet_cells(self.con, path, layout, columns)
            inserted = self._insert(cells, source.name)
        except duckdb.Error as error:
            raise ValueError(f"{source.name} cannot be read: {short(error)}") from None
        if inserted is None:
            raise ValueError(f"{source.name} cannot be read: its rows do not add up")
        self._account(source, layout, cells.rows, 0, inserted, None)

    def _read_json(self, source: Source, path: Path) -> None:
        account = self.account
        try:
            document = load_json(path, source.name)
        except ValueError as error:
            if not source.searched:
                raise
            # One broken snapshot among many is a reject; the others are read.
            account.add_rejects(source.name, [(0, "the file cannot be read", str(error)[:500])])
            account.add_file(source.name, "JSON", 1, 0, 1)
            return
        feed = mds_feed(document) or gbfs_feed(document)
        if feed is None:
            keys = list(document)[:10] if isinstance(document, dict) else [type(document).__name__]
            raise NotRecognised(
                f"{source.name} is no GBFS or MDS feed that is known: looked for data.stations, data.bikes, "
                f"data.vehicles, trips or status_changes, found {', '.join(map(repr, keys))}"
            )
        self._check_kind(source, feed.kind, feed.format)
        account.notes += [f"{source.name}: {note}" for note in feed.notes]
        account.add_rejects(source.name, feed.rejects)
        account.add_file(source.name, feed.format, feed.items, 0, len(feed.rejects))
        _, rows = self._feeds.setdefault(tuple(feed.header), (feed, []))
        rows += [[number, *cells] for number, cells in feed.rows]
        # Snapshots are small and many, so they are inserted together. A trip carries the name of its source.
        if self.kind == "trips" or len(rows) > _MANY:
            self._insert_feeds(source.name)

    def _insert_feeds(self, source: str = "feeds") -> None:
        """Insert the rows of feeds that wait, those with the same columns together."""
        path = self._folder / "feed.csv"
        for feed, rows in self._feeds.values():
            if not rows:
                continue
            write_rows(path, rows)
            names: dict[str, tuple[int, ...]] = {name: (index,) for index, name in enumerate(feed.header)}
            format = Format(feed.format, self.kind, {name: name for name in names}, needs=(), times="utc")
            few = rows[:50] + rows[-50:]
            samples = [["" if cell is None else str(cell) for cell in row[1:]] for row in few]
            cells = numbered_cells(path, Layout(format, tuple(names), names), len(rows), samples, nulls=("",))
            try:
                inserted = self._insert(cells, source)
            except duckdb.Error as error:
                raise ValueError(f"{source} cannot be read: {short(error)}") from None
            finally:
                path.unlink(missing_ok=True)
            if inserted is None or inserted.rejects:
                raise ValueError(f"{source} cannot be read: its items do not add up")
            self.account.left_out += inserted.left_out
        self._feeds.clear()

    def _recognise(self, source: Source, header: list[str]) -> Layout:
        layout = recognise(header, self.columns)
        if layout is None:
            raise NotRecognised(refusal(source.name, header, self.kind))
        self._check_kind(source, layout.kind, layout.format.name)
        if self.columns and layout.format.name != OWN:
            self.account.notes.append(
                f"{source.name}: has not all of the given columns; read as {layout.format.name}"
            )
        return layout

    def _check_kind(self, source: Source, kind: Kind | None, name: str) -> None:
        if kind != self.kind:
            raise NotRecognised(f"{source.name} holds {kind or 'nothing of use'} ({name}), not {self.kind}")

    def _insert(self, cells: Cells, source: str) -> Inserted | None:
        """Insert the sound rows of a source; ``None``, and nothing inserted, where rows are missing."""
        rows = self.destination.rows(cells, source)
        inserted = None
        if cells.positional and not rows.filtered:
            inserted = self._attempt(_insert_all, cells, rows)
        if inserted is None:
            inserted = self._attempt(_insert_sound, cells, rows)
        if inserted is not None:
            self.destination.finish(cells, rows, inserted)
        return inserted

    def _attempt(
        self,
        insert: Callable[[duckdb.DuckDBPyConnection, Cells, Rows], Inserted | None],
        cells: Cells,
        rows: Rows,
    ) -> Inserted | None:
        self.con.execute("BEGIN")
        try:
            inserted = insert(self.con, cells, rows)
        except BaseException:
            self.con.execute("ROLLBACK")
            raise
        self.con.execute("ROLLBACK" if inserted is None else "COMMIT")
        return inserted

    def _account(
        self,
        source: Source,
        layout: Layout,
        lines: int,
        headers: int,
        inserted: Inserted,
        path: Path | None,
        broken: int = 0,
    ) -> None:
        """Note what became of the lines of a file; `path` leads to the text of rejected lines."""
        numbers = [line for line, _ in inserted.rejects]
        texts = texts_of(path, numbers) if path is not None and numbers else {}
        self.account.add_rejects(
            source.name, [(line, reason, texts.get(line, "")) for line, reason in inserted.rejects]
        )
        self.account.left_out += inserted.left_out
        self.account.add_file(source.name, layout.format.name, lines, headers, broken + len(numbers))


def _insert_all(con: duckdb.DuckDBPyConnection, cells: Cells, rows: Rows) -> Inserted | None:
    """Insert rows that are all sound, without their lines: DuckDB then uses all cores and keeps the order."""
    done = count(con, f"{_insert_into(rows)} FROM ({rows.sql(cells.select(False))}) WHERE reason IS NULL")
    return Inserted(done, numbered=False) if done == cells.rows else None


def _insert_sound(con: duckdb.DuckDBPyConnection, cells: Cells, rows: Rows) -> Inserted | None:
    """Insert the sound rows with their lines, and find out about the others."""
    sql = rows.sql(cells.select(True))
    done = count(con, f"{_insert_into(rows)} FROM ({sql}) WHERE reason IS NULL AND NOT left_out")
    if done == cells.rows:
        return Inserted(done)
    rejects = con.execute(f"SELECT line, reason FROM ({sql}) WHERE reason IS NOT NULL ORDER BY 1").fetchall()
    left_out = 0
    if rows.filtered:
        left_out = count(con, f"SELECT count(*) FROM ({sql}) WHERE reason IS NULL AND left_out")
    fits = done + len(rejects) + left_out == cells.rows
    return Inserted(done, rejects, left_out) if fits else None


def _insert_into(rows: Rows) -> str:
    return f"INSERT INTO {rows.table}({rows.columns}) SELECT {rows.columns}"
