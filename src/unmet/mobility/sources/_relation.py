"""The cells of one source, as SQL that the three kinds of rows are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from unmet.mobility.sources._layouts import Layout
from unmet.tables import literal


@dataclass(frozen=True)
class Cells:
    """A source as DuckDB sees it: columns ``c0, c1, …`` in the order of its lines.

    Attributes
    ----------
    table : SQL of a table with these columns.
    line : SQL of the number of a line.
    rows : how many rows there must be.
    samples : a few rows as text.
    types : columns that are not text, by position.
    positional : whether the row alone tells its line, so that rows may be read without numbers first.
        Numbering the rows of a CSV file keeps DuckDB to one thread.
    """

    layout: Layout
    table: str
    line: str
    rows: int
    samples: list[list[str]]
    types: Mapping[int, str] = field(default_factory=dict)
    positional: bool = False

    def select(self, numbered: bool) -> str:
        """Return SQL of all columns and ``line``, which is NULL unless rows are `numbered`."""
        columns = ", ".join(f"c{index}" for index in range(len(self.layout.header)))
        return f"SELECT {self.line if numbered else 'NULL::BIGINT'} AS line, {columns} FROM {self.table}"

    def type(self, name: str) -> str:
        """Return the type of a field; a field that is absent or spread over columns is text."""
        where = self.layout.positions.get(name, ())
        return self.types.get(where[0], "VARCHAR") if len(where) == 1 else "VARCHAR"

    def raw(self, name: str) -> str:
        """Return SQL of a field as it is; NULL where the source has no such column."""
        where = self.layout.positions.get(name, ())
        return f"c{where[0]}" if where else "NULL::VARCHAR"

    def text(self, name: str) -> str:
        """Return SQL of a field as trimmed text; an empty one is NULL."""
        where = self.layout.positions.get(name, ())
        if len(where) > 1:
            return f"nullif(trim(concat_ws(' ', {', '.join(f'c{index}' for index in where)})), '')"
        text = self.raw(name)
        if not where or self.type(name) != "VARCHAR":
            return text
        # Most cells have no blank at either end, and trimming all of them would cost more than the rest.
        padded = f"prefix({text}, ' ') OR suffix({text}, ' ')"
        return f"CASE WHEN {padded} THEN nullif(trim({text}), '') ELSE {text} END"

    def sampled(self, name: str) -> list[str]:
        """Return the sampled texts of a field."""
        where = self.layout.positions[name]
        return [" ".join(row[index] for index in where) for row in self.samples]


def reason_sql(checks: list[tuple[str, str]], sound: str = "false") -> str:
    """Return SQL of the first reason, of (condition, reason), that applies to a row; NULL for a sound row.

    Rows that pass the one condition `sound` skip the checks: most rows do, and all checks together are slow.
    """
    reasons = " ".join(f"WHEN {test} THEN {literal(reason)}" for test, reason in checks)
    return f"CASE WHEN {sound} THEN NULL {reasons} END"
