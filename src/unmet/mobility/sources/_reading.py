"""Read sources: list, unpack and recognise them, insert valid rows, account for all others."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import duckdb

from unmet.mobility.sources._account import Account
from unmet.mobility.sources._csv import (
    count_lines,
    csv_relations,
    numbered_relation,
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
from unmet.mobility.sources._parquet import parquet_columns, parquet_relation
from unmet.mobility.sources._relation import Relation
from unmet.mobility.sources._repair import Reject, repair, texts_of
from unmet.mobility.sources._tables import count
from unmet.tables import private_folder

Progress = Callable[[str, int, int], None]
_MANY = 200_000  # rows of feeds to insert at once
_CANNOT_READ = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException)


@dataclass(frozen=True)
class Rows:
    """How a relation becomes rows of a table ``new_…``.

    Attributes
    ----------
    table, columns : where to insert the rows.
    sql : takes SQL for the cells and returns SQL for the rows: `columns`, and `line`, `reason` and
        `left_out`. A row with a reason is rejected.
    filtered : whether valid rows may be left out.
    """

    table: str
    columns: str
    sql: Callable[[str], str]
    filtered: bool = False


@dataclass(frozen=True)
class Inserted:
    """What happened to the rows of a source: how many were inserted, and lines and reasons of the rejects."""

    rows: int
    rejects: list[tuple[int, str]] = field(default_factory=list)
    left_out: int = 0
    numbered: bool = True  # whether rows were inserted with their line


class Destination(Protocol):
    """The reader of one kind: trips, status or stations."""

    kind: Kind

    def rows(self, relation: Relation, source: str) -> Rows:
        """Return how a source becomes rows."""

    def finish(self, relation: Relation, rows: Rows, inserted: Inserted) -> None:
        """Complete the rows of a source after they are inserted."""


@dataclass
class SourceReader:
    """Reads all sources of one call into the tables ``new_…``."""

    con: duckdb.DuckDBPyConnection
    destination: Destination
    columns: dict[str, str] | None  # the caller's own layout
    as_text: tuple[str, ...]  # columns to compare as text
    max_bytes: int
    account: Account = field(init=False)

    def __post_init__(self) -> None:
        self.kind = self.destination.kind
        self.account = Account(self.con, self.kind)
        self._feeds: dict[tuple[str, ...], tuple[Feed, list[list[Any]]]] = {}

    def read(self, paths: Paths, progress: Progress | None) -> Account:
        """Read every source in order, and account for each of its lines."""
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
            self._insert_feeds()  # keep rows in the order of the sources
            if content == "parquet":
                self._read_parquet(source, path)
            else:
                self._read_csv(source, path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.account.write_many_rejects(self._folder)

    def _read_csv(self, source: Source, path: Path) -> None:
        """Read a CSV file; repair it first if it is irregular."""
        delimiter, header = read_header(path)
        layout = self._recognise(source, header)
        lines = count_lines(path)
        trouble = lines.trouble
        if trouble is None:
            for relation in csv_relations(path, layout, delimiter, lines, self.as_text):
                try:
                    inserted = self._insert(relation, source.name)
                except _CANNOT_READ:
                    continue
                if inserted is not None:
                    self._account(source, layout, lines.number, 1, inserted, path)
                    return
                break
            trouble = "DuckDB finds a different number of lines"
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
                inserted = self._insert(numbered_relation(clean, layout, done.good, samples), source.name)
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
            relation = parquet_relation(self.con, path, layout, columns)
            inserted = self._insert(relation, source.name)
        except duckdb.Error as error:
            raise ValueError(f"{source.name} cannot be read: {short(error)}") from None
        if inserted is None:
            raise ValueError(f"{source.name} cannot be read: its rows do not add up")
        self._account(source, layout, relation.rows, 0, inserted, None)

    def _read_json(self, source: Source, path: Path) -> None:
        account = self.account
        try:
            document = load_json(path, source.name)
        except ValueError as error:
            if not source.searched:
                raise
            # Reject one broken snapshot of many and read the others.
            account.add_rejects(source.name, [(0, "the file cannot be read", str(error)[:500])])
            account.add_file(source.name, "JSON", 1, 0, 1)
            return
        feed = mds_feed(document) or gbfs_feed(document)
        if feed is None:
            keys = list(document)[:10] if isinstance(document, dict) else [type(document).__name__]
            raise NotRecognised(
                f"{source.name} is not a known GBFS or MDS feed: looked for data.stations, data.bikes, "
                f"data.vehicles, trips or status_changes, found {', '.join(map(repr, keys))}"
            )
        self._check_kind(source, feed.kind, feed.format)
        account.notes += [f"{source.name}: {note}" for note in feed.notes]
        account.add_rejects(source.name, feed.rejects)
        account.add_file(source.name, feed.format, feed.items, 0, len(feed.rejects))
        _, rows = self._feeds.setdefault(tuple(feed.header), (feed, []))
        rows += [[number, *cells] for number, cells in feed.rows]
        # Insert many small snapshots at once. Trips are inserted by source, because they carry its name.
        if self.kind == "trips" or len(rows) > _MANY:
            self._insert_feeds(source.name)

    def _insert_feeds(self, source: str = "feeds") -> None:
        """Insert the rows of feeds that are waiting; rows with the same columns go together."""
        path = self._folder / "feed.csv"
        for feed, rows in self._feeds.values():
            if not rows:
                continue
            write_rows(path, rows)
            names: dict[str, tuple[int, ...]] = {name: (index,) for index, name in enumerate(feed.header)}
            format = Format(feed.format, self.kind, {name: name for name in names}, needs=(), times="utc")
            few = rows[:50] + rows[-50:]
            samples = [["" if cell is None else str(cell) for cell in row[1:]] for row in few]
            relation = numbered_relation(
                path, Layout(format, tuple(names), names), len(rows), samples, nulls=("",)
            )
            try:
                inserted = self._insert(relation, source)
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
                f"{source.name}: does not have all of the given columns; read as {layout.format.name}"
            )
        return layout

    def _check_kind(self, source: Source, kind: Kind | None, name: str) -> None:
        if kind != self.kind:
            raise NotRecognised(f"{source.name} holds {kind or 'nothing to read'} ({name}), not {self.kind}")

    def _insert(self, relation: Relation, source: str) -> Inserted | None:
        """Insert the valid rows of a source. Insert none and return None if the rows do not add up."""
        rows = self.destination.rows(relation, source)
        inserted = None
        if relation.positional and not rows.filtered:
            inserted = self._attempt(_insert_all, relation, rows)
        if inserted is None:
            inserted = self._attempt(_insert_sound, relation, rows)
        if inserted is not None:
            self.destination.finish(relation, rows, inserted)
        return inserted

    def _attempt(
        self,
        insert: Callable[[duckdb.DuckDBPyConnection, Relation, Rows], Inserted | None],
        relation: Relation,
        rows: Rows,
    ) -> Inserted | None:
        self.con.execute("BEGIN")
        try:
            inserted = insert(self.con, relation, rows)
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
        """Record what happened to the lines of a file; the text of rejected lines comes from `path`."""
        numbers = [line for line, _ in inserted.rejects]
        texts = texts_of(path, numbers) if path is not None and numbers else {}
        self.account.add_rejects(
            source.name, [(line, reason, texts.get(line, "")) for line, reason in inserted.rejects]
        )
        self.account.left_out += inserted.left_out
        self.account.add_file(source.name, layout.format.name, lines, headers, broken + len(numbers))


def _insert_all(con: duckdb.DuckDBPyConnection, relation: Relation, rows: Rows) -> Inserted | None:
    """Insert rows without line numbers, which lets DuckDB use all cores. Works only if all rows are valid."""
    done = count(con, f"{_insert_into(rows)} FROM ({rows.sql(relation.select(False))}) WHERE reason IS NULL")
    return Inserted(done, numbered=False) if done == relation.rows else None


def _insert_sound(con: duckdb.DuckDBPyConnection, relation: Relation, rows: Rows) -> Inserted | None:
    """Insert the valid rows with their line numbers, and return the rejects."""
    sql = rows.sql(relation.select(True))
    done = count(con, f"{_insert_into(rows)} FROM ({sql}) WHERE reason IS NULL AND NOT left_out")
    if done == relation.rows:
        return Inserted(done)
    rejects = con.execute(f"SELECT line, reason FROM ({sql}) WHERE reason IS NOT NULL ORDER BY 1").fetchall()
    left_out = 0
    if rows.filtered:
        left_out = count(con, f"SELECT count(*) FROM ({sql}) WHERE reason IS NULL AND left_out")
    fits = done + len(rejects) + left_out == relation.rows
    return Inserted(done, rejects, left_out) if fits else None


def _insert_into(rows: Rows) -> str:
    return f"INSERT INTO {rows.table}({rows.columns}) SELECT {rows.columns}"
