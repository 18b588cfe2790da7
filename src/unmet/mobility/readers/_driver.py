"""Walk over sources of any packing and content, and hand each table to its reader."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from unmet.mobility._ahead import ahead
from unmet.mobility.readers._csv import Relation, attempt, header_of, read_lines, texts_of, work_folder
from unmet.mobility.readers._feed import Feed, load_json
from unmet.mobility.readers._formats import Kind
from unmet.mobility.readers._gbfs import gbfs_feed
from unmet.mobility.readers._mds import mds_feed
from unmet.mobility.readers._parquet import parquet_columns, parquet_relation, quick_parquet
from unmet.mobility.readers._ready import Insert, Ready, Workers
from unmet.mobility.readers._recognise import OWN, Layout, NotRecognised, recognise, refusal
from unmet.mobility.readers._report import FileReport, too_many
from unmet.mobility.readers._sources import Paths, Source, expand
from unmet.mobility.readers._spool import MANY, Batch, Rejects
from unmet.mobility.readers._tables import count

Progress = Callable[[str, int, int], None]
_AT_ONCE = 4  # sources made ready at the same time: each holds a file, buffers and a part of a table
WORDS = {"trips": "trips", "status": "status", "stations": "stations"}


@dataclass
class Reading:
    """State of one call: what is read, into which staging table, and what was found so far."""

    con: duckdb.DuckDBPyConnection
    kind: Kind
    staging: str  # table with columns reason, line, source_number
    insert: Insert
    max_bytes: int
    columns: dict[str, str] | None = None
    progress: Progress | None = None
    files: list[FileReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blank: int = 0
    batches: dict[tuple[str, ...], Batch] = field(default_factory=dict)
    rejects: Rejects = field(init=False)

    def run(self, paths: Paths) -> None:
        """Read every source; afterwards ``files`` adds up and sound rows are in the staging table."""
        if self.max_bytes < 1:
            raise ValueError(f"max_bytes must be positive, got {self.max_bytes!r}")
        sources = expand(paths, self.notes)
        refused: dict[str, str] = {}
        with work_folder(self.con) as folder:
            self.rejects = Rejects(self.con, folder, self.kind)
            self._each(
                sources,
                Workers(self.con, self.kind, self.insert, self.columns, folder, self.max_bytes),
                refused,
            )
            for key in list(self.batches):
                self._flush(key, sources[-1], len(sources) - 1)
            self.rejects.flush()
            if self.progress is not None:
                self.progress("", len(sources), len(sources))
        if not self.files:
            none = f"no {WORDS[self.kind]} found: every file was empty"
            raise NotRecognised(next(iter(refused.values()), none))
        if refused:
            names = ", ".join(list(refused)[:6]) + (" …" if len(refused) > 6 else "")
            self.notes.append(f"no {WORDS[self.kind]} in {len(refused):,} other files, skipped: {names}")

    def _each(self, sources: list[Source], workers: Workers, refused: dict[str, str]) -> None:
        """Take the sources in their order, while threads make the next ones ready."""
        threads = min(count(self.con, "SELECT current_setting('threads')"), _AT_ONCE)
        coming = ahead(workers.ready, enumerate(sources), threads, discard=Ready.discard)
        try:
            for number, (source, future) in enumerate(zip(sources, coming)):
                if self.progress is not None:
                    self.progress(source.name, number, len(sources))
                ready = None
                try:
                    ready = future.result()
                    self._one(source, number, ready)
                except NotRecognised as error:
                    if not source.searched:
                        raise
                    refused[source.name] = str(error)
                finally:
                    if ready is not None:
                        ready.discard()
        finally:
            workers.stop()
            coming.close()
            workers.streams.close()

    def _one(self, source: Source, number: int, ready: Ready) -> None:
        if ready.content == "json":
            self._feed(source, number, ready.path)
            return
        if ready.content == "parquet":
            self._parquet(source, number, ready.path)
            return
        scan = ready.scan
        assert scan is not None
        delimiter, header = header_of(scan.first)
        layout = self._layout(source, header)
        if ready.keep_rows():
            self._account(source, number, layout.format.name, scan.lines, 1, 0, None, checked=True)
            return
        counts = read_lines(
            self.con,
            ready.path,
            source,
            scan,
            layout,
            delimiter,
            lambda relation: self.insert(self.con, relation, layout, source, number),
        )
        self.notes += counts.notes
        self.rejects.add(source.name, counts.rejects)
        self.blank += counts.blank
        self._account(source, number, layout.format.name, counts.lines, 1, counts.broken, ready.path)

    def _parquet(self, source: Source, number: int, path: Path) -> None:
        columns = parquet_columns(self.con, path, source.name)
        layout = self._layout(source, list(columns))

        def insert(relation: Relation) -> int:
            return self.insert(self.con, relation, layout, source, number)

        try:
            relation, lines = parquet_relation(self.con, path, list(columns))
            quick = quick_parquet(path, columns, layout, relation)
            if quick is not None and attempt(self.con, insert, quick, lines) is not None:
                self.con.execute("COMMIT")
                self._account(source, number, layout.format.name, lines, 0, 0, None, checked=True)
                return
            rows = insert(relation)
        except duckdb.Error as error:
            raise ValueError(f"{source.name} cannot be read: {' '.join(str(error).split())[:200]}") from None
        if rows != lines:
            raise ValueError(f"{source.name} cannot be read: its rows do not add up")
        self._account(source, number, layout.format.name, lines, 0, 0, None)

    def _layout(self, source: Source, header: list[str]) -> Layout:
        layout = recognise(header, self.columns)
        if layout is None:
            raise NotRecognised(refusal(source.name, header, self.kind))
        self._check_kind(source, layout.kind, layout.format.name)
        if self.columns and layout.format.name != OWN:
            self.notes.append(
                f"{source.name}: has not all of the given columns; read as {layout.format.name}"
            )
        return layout

    def _check_kind(self, source: Source, kind: Kind | None, name: str) -> None:
        if kind != self.kind:
            holds = WORDS[kind] if kind else "nothing of use"
            raise NotRecognised(f"{source.name} holds {holds} ({name}), not {WORDS[self.kind]}")

    def _feed(self, source: Source, number: int, path: Path) -> None:
        try:
            document = load_json(path, source.name)
        except ValueError as error:
            if not source.searched:
                raise
            # One broken snapshot among many: kept as a reject, the rest is read.
            self.rejects.add(source.name, [(0, "the file cannot be read", str(error)[:500])])
            self.files.append(FileReport(source.name, "JSON", 1, 0, 0, 1))
            return
        feed = mds_feed(document) or gbfs_feed(document)
        if feed is None:
            keys = list(document)[:10] if isinstance(document, dict) else [type(document).__name__]
            raise NotRecognised(
                f"{source.name} is no GBFS or MDS feed that is known: looked for data.stations, data.bikes, "
                f"data.vehicles, trips or status_changes, found {', '.join(map(repr, keys))}"
            )
        self._check_kind(source, feed.kind, feed.format)
        self._insert_feed(source, number, feed)

    def _insert_feed(self, source: Source, number: int, feed: Feed) -> None:
        self.notes += [f"{source.name}: {note}" for note in feed.notes]
        key = tuple(feed.header)
        batch = self.batches.setdefault(key, Batch(feed))
        batch.add(feed, number)
        # Snapshots are small and many: they are inserted together. Trips carry the name of their source.
        if self.kind != "status" or len(batch.rows) > MANY:
            self._flush(key, source, number)
        self.rejects.add(source.name, feed.rejects)
        self._account(
            source, number, feed.format, feed.items, 0, len(feed.rejects), None, key in self.batches
        )

    def _flush(self, key: tuple[str, ...], source: Source, number: int) -> None:
        batch = self.batches.pop(key)
        if not batch.rows:
            return
        path = self.rejects.folder / "feed.csv"
        try:
            relation, layout = batch.relation(path)
            rows = self.insert(self.con, relation, layout, source, number)
        except duckdb.Error as error:
            raise ValueError(f"{source.name} cannot be read: {' '.join(str(error).split())[:200]}") from None
        finally:
            path.unlink(missing_ok=True)
        if rows != len(batch.rows):
            raise ValueError(f"{source.name} cannot be read: its items do not add up")

    def _account(
        self,
        source: Source,
        number: int,
        format: str,
        lines: int,
        headers: int,
        broken: int,
        path: Path | None,
        checked: bool = False,
    ) -> None:
        """Move rows that were rejected by their content, with their text, and write the file's sum.

        Rows are ``checked`` already where they went the quick way, or wait in a batch.
        """
        where = f"source_number = {number} AND reason IS NOT NULL"
        found = []
        if not checked:
            found = self.con.execute(
                f"SELECT line, reason FROM {self.staging} WHERE {where} ORDER BY line"
            ).fetchall()
        if found:
            texts = texts_of(path, [line for line, _ in found]) if path is not None else {}
            self.rejects.add(source.name, [(line, reason, texts.get(line, "")) for line, reason in found])
            self.con.execute(f"DELETE FROM {self.staging} WHERE {where}")
        rejected = broken + len(found)
        self.files.append(
            FileReport(source.name, format, lines, headers, lines - headers - rejected, rejected)
        )

    def reasons(self) -> dict[str, int]:
        found = self.con.execute(
            "SELECT reason, count(*) FROM new_rejects GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
        return {str(reason): int(number) for reason, number in found}

    def check_share(self, share: float) -> None:
        """Stop where more rows were rejected than the caller allows; blank lines are no rows."""
        if not 0 <= share <= 1:
            raise ValueError(f"max_reject_share must lie between 0 and 1, got {share!r}")
        rejected = sum(file.rejected for file in self.files) - self.blank
        total = sum(file.lines - file.headers for file in self.files) - self.blank
        if rejected > share * total:
            examples = self.con.execute(
                "SELECT source || ' line ' || line || ': ' || reason FROM new_rejects "
                "WHERE reason <> 'blank line' ORDER BY source, line LIMIT 3"
            ).fetchall()
            reasons = {words: number for words, number in self.reasons().items() if words != "blank line"}
            raise ValueError(too_many(rejected, total, share, reasons, [row[0] for row in examples]))

    def check_sums(self, accepted: int) -> None:
        """Every line is accounted for; anything else is an error of ours, never silence."""
        rejected = count(self.con, "SELECT count(*) FROM new_rejects")
        if rejected != sum(f.rejected for f in self.files) or accepted != sum(f.accepted for f in self.files):
            raise ValueError("the lines do not add up: please report this file")
