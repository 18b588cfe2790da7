"""Read sources: list, unpack and recognise them, insert valid rows, account for all others."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._account import Account
from unmet.mobility.sources._csv import (
    Reject,
    count_lines,
    csv_relations,
    csv_table,
    encoding_of_odd_lines,
    numbered_relation,
    read_header,
    repair,
    sample_rows,
    texts_of,
    write_rows,
)
from unmet.mobility.sources._day_order import DayEvidence, DayOrder, day_evidence
from unmet.mobility.sources._encoding import LATIN_1, content_of
from unmet.mobility.sources._files import Paths, Source, list_sources, short, unpack
from unmet.mobility.sources._formats import Kind
from unmet.mobility.sources._guessing import guess_columns
from unmet.mobility.sources._json import FlatRows
from unmet.mobility.sources._json_feeds import JsonFeeds, check_kind
from unmet.mobility.sources._parquet import parquet_columns, parquet_relation, parquet_samples
from unmet.mobility.sources._recognition import (
    OWN,
    Layout,
    NotRecognised,
    missing_column,
    recognise,
    unknown_layout,
)
from unmet.mobility.sources._relation import Inserted, Relation, Rows, insert_rows
from unmet.mobility.sources._shared_reading import read_elsewhere
from unmet.mobility.sources._store import ReadStore, Unit, units_of
from unmet.tables import private_folder

Progress = Callable[[str, int, int], None]
Samples = Callable[[], list[list[str]]]
_CANNOT_READ = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException)


class Destination:
    """The reader of one kind: trips, status or stations.

    Attributes
    ----------
    time_field : field whose dates may have day or month first; None if there is none.
    tables : names of the tables ``new_…`` into which it writes.
    settings : JSON values that decide the rows of a source.
    again : makes the same reader, and its tables, with the connection of another process.
    """

    kind: Kind
    time_field: str | None = None
    tables: tuple[str, ...]
    settings: Mapping[str, Any] = MappingProxyType({})
    zone: str | None = None
    times: str = "local"
    again: Callable[[Connection], "Destination"] | None = None

    def local_zone(self, relation: Relation, source: str, naive: bool = False) -> str | None:
        """Return the zone of local times, None if they are UTC. If times are `naive` it must be known."""
        if self.times != "local" or relation.layout.format.times == "utc":
            return None
        if self.zone is None and naive:
            raise ValueError(
                f"{source} has local times: give their zone, for instance zone='America/New_York', "
                "or times='utc' if they are UTC"
            )
        return self.zone

    def rows(self, relation: Relation, source: str, day_first: bool) -> Rows:
        """Return how a source becomes rows."""
        raise NotImplementedError

    def finish(self, relation: Relation, rows: Rows, inserted: Inserted) -> None:
        """Complete the rows of a source after they are inserted."""

    def remember(self, first: int) -> dict[str, Any]:
        """Return, as JSON values, what it noted about rows of its first table from row `first` on."""
        return {}

    def recall(self, noted: dict[str, Any], first: int) -> None:
        """Take such notes from an earlier reading for rows that now begin at row `first`."""


@dataclass(frozen=True)
class Choices:
    """How the caller wants sources to be read.

    Attributes
    ----------
    columns : the caller's own layout.
    as_text : columns to compare as text.
    encoding : of text files; None tells it by their bytes.
    day_first : order of day and month; None tells it by the files.
    """

    columns: dict[str, str] | None = None
    as_text: tuple[str, ...] = ()
    max_bytes: int = 0
    encoding: str | None = None
    day_first: bool | None = None


@dataclass
class SourceReader:
    """Reads all sources of one call into the tables ``new_…``."""

    con: Connection
    destination: Destination
    choices: Choices
    store: ReadStore | None = None
    account: Account = field(init=False)

    def __post_init__(self) -> None:
        if self.choices.max_bytes < 1:
            raise ValueError(f"max_bytes must be positive, got {self.choices.max_bytes!r}")
        self.kind = self.destination.kind
        self.account = Account(self.con, self.kind)
        self.order = DayOrder(self.choices.day_first)
        self.refused: dict[str, str] = {}
        self.evidence: dict[Source, tuple[str, bool, DayEvidence]] = {}
        self._first_refusal: NotRecognised | None = None
        self.own_columns = False  # whether a file has the caller's columns
        self.unlike: str | None = None  # what to say if none has

    def read(self, paths: Paths, progress: Progress | None) -> Account:
        """Read every source in order, and account for each of its lines."""
        sources = list_sources(paths, self.account.notes, self.choices.max_bytes)
        self._units = units_of(sources)
        with tempfile.TemporaryDirectory(prefix="unmet-reading-", dir=private_folder(self.con)) as name:
            self._folder = Path(name)
            self.feeds = JsonFeeds(self.con, self.destination, self.account, self._folder)
            if self.store is not None and self.store.cluster is not None:
                read_elsewhere(self, self._units, self.store.cluster, progress)
            done = 0
            for unit in self._units:
                if self.store is None or not self.store.take(self, unit):
                    self._read_unit(unit, progress, done, len(sources))
                done += len(unit)
            self.feeds.insert()
            self.account.write_rejects(self._folder)
            if progress is not None:
                progress("", len(sources), len(sources))
        self._conclude()
        return self.account

    def read_unit(self, units: list[Unit], number: int) -> None:
        """Read one of the units into the store; the others only help to tell the order of day and month."""
        self._units = units
        with tempfile.TemporaryDirectory(prefix="unmet-reading-", dir=private_folder(self.con)) as name:
            self._folder = Path(name)
            self.feeds = JsonFeeds(self.con, self.destination, self.account, self._folder)
            self._read_unit(units[number], None, 0, 0)

    def _conclude(self) -> None:
        """Complain if nothing was found, and note what was skipped or is in doubt."""
        if not self.account.files:
            raise self._first_refusal or NotRecognised(f"no {self.kind} found: every file was empty")
        if self.unlike is not None and not self.own_columns:
            raise NotRecognised(self.unlike)
        if self.refused:
            names = ", ".join(list(self.refused)[:6]) + (" …" if len(self.refused) > 6 else "")
            self.account.notes.append(
                f"no {self.kind} in {len(self.refused):,} other files, skipped: {names}"
            )
        self.account.notes += self.order.notes(self.evidence)

    def _read_unit(self, unit: Unit, progress: Progress | None, done: int, total: int) -> None:
        """Read the sources of a unit, and store their rows."""
        with self.store.kept(self, unit) if self.store is not None else nullcontext():
            for number, source in enumerate(unit, start=done):
                if progress is not None:
                    progress(source.name, number, total)
                try:
                    self._read_one(source)
                except NotRecognised as error:
                    if not source.searched:
                        raise
                    self._first_refusal = self._first_refusal or error
                    self.refused[source.name] = str(error)
            if self.store is not None:
                self.feeds.insert()
                self.account.write_rejects(self._folder)

    def _read_one(self, source: Source) -> None:
        with self._unpacked(source) as (path, content):
            if content == "json":
                flat = self.feeds.read(source.name, path, source.searched)
                if flat is not None:
                    self._read_flat(source, path, flat)
                return
            self.feeds.insert()  # keep rows in the order of the sources
            if content == "parquet":
                self._read_parquet(source, path)
            else:
                self._read_csv(source, path)
        self.account.write_many_rejects(self._folder)

    @contextmanager
    def _unpacked(self, source: Source, name: str = "one") -> Iterator[tuple[Path, str]]:
        """Unpack a source; give its path and the type of its content."""
        folder = self._folder / name
        folder.mkdir()
        try:
            path = unpack(source.path, source.members, source.name, folder, self.choices.max_bytes)
            yield path, content_of(path, source.name, self.choices.encoding)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _read_csv(self, source: Source, path: Path) -> None:
        """Read a CSV file; repair it first if it is irregular."""
        delimiter, header = read_header(path)
        layout = self._recognise(source, header, lambda: sample_rows(path, delimiter, len(header)))
        lines = count_lines(path)
        trouble = lines.trouble
        if trouble is None:
            for relation in csv_relations(path, layout, delimiter, lines, self.choices.as_text):
                try:
                    inserted = self._insert(relation, source)
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
        encoding = encoding_of_odd_lines(path) if trouble == "not UTF-8" else LATIN_1
        with open(clean, "w", encoding="utf-8", newline="") as target:
            done = repair(path, target, delimiter, width, broken, encoding)
        self.account.notes.append(f"{source.name}: read line by line ({trouble})")
        if done.other:
            called = "Latin-1" if encoding == LATIN_1 else encoding
            self.account.notes.append(f"{source.name}: {done.other:,} lines are not UTF-8, taken as {called}")
        inserted: Inserted | None = Inserted(0)
        if done.good:
            samples = sample_rows(path, delimiter, width)
            try:
                inserted = self._insert(numbered_relation(clean, layout, done.good, samples), source)
            except _CANNOT_READ:
                inserted = None
        if inserted is None:
            raise ValueError(f"{source.name} cannot be read: its lines do not add up")
        self.account.add_rejects(source.name, broken)
        self.account.blank += done.blank
        self._account(source, layout, done.lines, 1, inserted, path, len(broken))

    def _read_parquet(self, source: Source, path: Path) -> None:
        columns = parquet_columns(self.con, path, source.name)
        layout = self._recognise(
            source, list(columns), lambda: parquet_samples(self.con, path, list(columns), source.name)
        )
        try:
            relation = parquet_relation(self.con, path, layout, columns)
            inserted = self._insert(relation, source)
        except duckdb.Error as error:
            raise ValueError(f"{source.name} cannot be read: {short(error)}") from None
        if inserted is None:
            raise ValueError(f"{source.name} cannot be read: its rows do not add up")
        self._account(source, layout, relation.rows, 0, inserted, None)

    def _read_flat(self, source: Source, path: Path, flat: FlatRows) -> None:
        """Read JSON Lines or a JSON list whose objects are rows."""
        self.feeds.insert()
        samples = [[str(cell) for cell in row[1:]] for row in flat.rows[:100] + flat.rows[100:][-100:]]
        layout = self._recognise(source, flat.header, lambda: samples)
        inserted: Inserted | None = Inserted(0)
        if flat.rows:
            table = path.with_name("flat.csv")
            write_rows(table, flat.rows)
            try:
                inserted = self._insert(numbered_relation(table, layout, len(flat.rows), samples), source)
            except _CANNOT_READ:
                inserted = None
        if inserted is None:
            raise ValueError(f"{source.name} cannot be read: its objects do not add up")
        self.account.add_rejects(source.name, flat.rejects)
        self.account.blank += flat.blank
        texts = path if flat.numbered else None
        self._account(source, layout, flat.lines, 0, inserted, texts, len(flat.rejects))

    def _recognise(self, source: Source, header: list[str], samples: Samples) -> Layout:
        layout = recognise(header, self.choices.columns, self.kind)
        own = self.choices.columns
        if layout is None and own:
            raise NotRecognised(missing_column(source.name, own, header))
        if layout is None:
            guessed = guess_columns(header, samples(), self.kind)
            raise unknown_layout(source.name, header, self.kind, guessed)
        check_kind(source.name, layout.kind, layout.format.name, self.kind)
        if own and layout.format.name != OWN:
            self.unlike = self.unlike or missing_column(source.name, own, header)
            self.account.notes.append(
                f"{source.name}: does not have all of the given columns; read as {layout.format.name}"
            )
        self.own_columns |= layout.format.name == OWN
        return layout

    def _insert(self, relation: Relation, source: Source) -> Inserted | None:
        """Insert the valid rows of a source. Insert none and return None if the rows do not add up."""
        rows = self.destination.rows(relation, source.name, self._day_first(relation, source))
        inserted = insert_rows(self.con, relation, rows)
        if inserted is not None:
            self.destination.finish(relation, rows, inserted)
        return inserted

    def _day_first(self, relation: Relation, source: Source) -> bool:
        """Return whether dates of a source have the day first; looks at all files if it does not say."""
        field, format = self.destination.time_field, relation.layout.format
        if field is None or field not in relation.layout.positions:
            return False
        found = day_evidence(self.con, relation, field)
        self.evidence[source] = (format.name, format.day_first, found)
        if found.is_open:
            self.survey(format.name)
        return self.order.of(found, format.name, format.day_first)

    def survey(self, layout: str) -> None:
        """Decide the order of day and month in a layout by the dates of all its files."""
        if self.order.given is not None or layout in self.order.surveyed:
            return
        for unit in self._units:
            for source in unit:
                if source not in self.evidence and not self._recalled(unit):
                    self._look_at_dates(source)
        self.order.decide(layout, self.evidence)

    def _recalled(self, unit: Unit) -> bool:
        """Take the evidence of a unit from the store; return whether it was there."""
        found = self.store.evidence(self, unit) if self.store is not None else None
        self.evidence |= found or {}
        return found is not None

    def _look_at_dates(self, source: Source) -> None:
        """Note what the dates of a source show. What is wrong with it is told when it is read."""
        field = self.destination.time_field
        with (
            suppress(ValueError, OSError, duckdb.Error),
            self._unpacked(source, "looked-at") as (path, content),
        ):
            if content != "csv" or field is None:
                return
            delimiter, header = read_header(path)
            layout = recognise(header, self.choices.columns, self.kind)
            if layout is None or field not in layout.positions:
                return
            samples = sample_rows(path, delimiter, len(header))
            table = csv_table(path, len(header), delimiter, skip=1)
            relation = Relation(layout, table, "NULL", 0, samples)
            try:
                found = day_evidence(self.con, relation, field)
            except duckdb.Error:  # irregular: what the samples show must do
                found = DayEvidence.of([row[layout.positions[field][0]] for row in samples])
            self.evidence[source] = (layout.format.name, layout.format.day_first, found)

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
