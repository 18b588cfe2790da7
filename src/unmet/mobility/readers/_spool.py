"""Rows made in Python on their way into DuckDB: gathered, written as CSV, inserted many at a time."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from unmet.mobility.readers._csv import Relation, read_csv_sql
from unmet.mobility.readers._feed import Feed
from unmet.mobility.readers._formats import Format
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._repair import Reject
from unmet.tables import literal

MANY = 200_000


def write_rows(path: Path, rows: Iterable[list[Any]]) -> None:
    """Rows as a CSV file without anything that a strict reader could stumble over."""
    with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_text(cell) for cell in row] for row in rows)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return str(cell).replace("\r", " ").replace("\n", " ").replace("\0", "\\0")


@dataclass
class Rejects:
    """Rejected lines and items of all sources, on their way to table ``new_rejects``."""

    con: duckdb.DuckDBPyConnection
    folder: Path
    kind: str
    rows: list[list[Any]] = field(default_factory=list)

    def add(self, source: str, rejects: list[Reject]) -> None:
        self.rows += [[line, source, reason, text] for line, reason, text in rejects]
        if len(self.rows) > MANY:
            self.flush()

    def flush(self) -> None:
        if not self.rows:
            return
        path = self.folder / "rejects.csv"
        write_rows(path, self.rows)
        self.con.execute(
            f"INSERT INTO new_rejects SELECT c0, line, c1, coalesce(c2, ''), {literal(self.kind)} "
            f"FROM ({read_csv_sql(path, 3, ',', 0, True, nulls=('',))})"
        )
        path.unlink()
        self.rows.clear()


@dataclass
class Batch:
    """Rows of feeds that share their columns, each with the number of its source as its last cell."""

    feed: Feed
    rows: list[list[Any]] = field(default_factory=list)

    def add(self, feed: Feed, number: int) -> None:
        self.rows += [[line, *cells, number] for line, cells in feed.rows]

    def relation(self, path: Path) -> tuple[Relation, Layout]:
        """Write the rows, and say how they are read back."""
        write_rows(path, self.rows)
        header = [*self.feed.header, "source_number"]
        columns = {name: name for name in header}
        format = Format(self.feed.format, self.feed.kind or "status", columns, needs=(), times="utc")
        layout = Layout(format, tuple(header), {name: (index,) for index, name in enumerate(header)})
        ends = self.rows[:50] + self.rows[-50:]
        samples = [["" if cell is None else str(cell) for cell in row[1:]] for row in ends]
        return Relation(read_csv_sql(path, len(header), ",", 0, True, nulls=("",)), samples), layout
