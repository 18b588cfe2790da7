"""A source as a relation in SQL, from which rows of trips, status or stations are selected."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from unmet.mobility.sources._fields import NULLS
from unmet.mobility.sources._layouts import Layout
from unmet.tables import literal


@dataclass(frozen=True)
class Relation:
    """A source as DuckDB sees it: columns ``c0, c1, …``, with rows in the order of its lines.

    Attributes
    ----------
    table : SQL for a table with these columns.
    line : SQL for the line number of a row.
    rows : number of rows that the table must have.
    samples : a few of its rows, as text.
    types : types of the columns that are not text, by position.
    positional : whether lines follow from the order of the rows. Such rows can be inserted without line
        numbers, which is faster: DuckDB uses only one thread to number the rows of a CSV file.
    words : whether words that mean nothing (``NULL``, ``nan`` …) are still words. DuckDB's reader compares
        every cell with all of them; here only short texts of the fields in use are compared.
    """

    layout: Layout
    table: str
    line: str
    rows: int
    samples: list[list[str]]
    types: Mapping[int, str] = field(default_factory=dict)
    positional: bool = False
    words: bool = False

    def select(self, numbered: bool) -> str:
        """Return SQL for all columns and ``line``, which is NULL unless rows are `numbered`."""
        columns = ", ".join(f"c{index}" for index in range(len(self.layout.header)))
        return f"SELECT {self.line if numbered else 'NULL::BIGINT'} AS line, {columns} FROM {self.table}"

    def type(self, name: str) -> str:
        """Return the type of a field; missing fields and those joined from several columns are text."""
        where = self.layout.positions.get(name, ())
        return self.types.get(where[0], "VARCHAR") if len(where) == 1 else "VARCHAR"

    def raw(self, name: str) -> str:
        """Return SQL for a field, unchanged; NULL if the source does not have it."""
        where = self.layout.positions.get(name, ())
        return f"c{where[0]}" if where else "NULL::VARCHAR"

    def text(self, name: str) -> str:
        """Return SQL for a field as trimmed text; empty text becomes NULL."""
        where = self.layout.positions.get(name, ())
        if len(where) > 1:
            parts = ", ".join(f"CASE WHEN {self._nothing(f'c{i}')} THEN NULL ELSE c{i} END" for i in where)
            return f"nullif(trim(concat_ws(' ', {parts})), '')"
        text, kind = self.raw(name), self.type(name)
        if self.words and kind == "DOUBLE":
            return f"CASE WHEN isnan({text}) THEN NULL ELSE {text} END"
        if not where or kind != "VARCHAR":
            return text
        # Trim only where needed: few cells need it, and trimming all of them would dominate the cost.
        padded = f"prefix({text}, ' ') OR suffix({text}, ' ')"
        nothing = f"WHEN {self._nothing(text)} THEN NULL" if self.words else ""
        return f"CASE WHEN {padded} THEN nullif(trim({text}), '') {nothing} ELSE {text} END"

    def _nothing(self, text: str) -> str:
        """Return an SQL condition: a text is a word for nothing."""
        listed = ", ".join(literal(word) for word in NULLS)
        return f"strlen({text}) <= {max(map(len, NULLS))} AND {text} IN ({listed})" if self.words else "false"

    def sampled(self, name: str) -> list[str]:
        """Return a field of the sampled rows."""
        where = self.layout.positions[name]
        return [" ".join(row[index] for index in where) for row in self.samples]


LONGEST_ID = 500  # bytes of an id or name


def too_long(*texts: str) -> tuple[str, str]:
    """Return the check that no id or name is absurdly long, with its reason."""
    lengths = ", ".join(f"strlen({text})" for text in texts)
    return f"greatest({lengths}) > {LONGEST_ID}", f"an id or name longer than {LONGEST_ID} characters"


def reason_sql(checks: list[tuple[str, str]], sound: str = "false") -> str:
    """Return SQL for the reason of the first check, (condition, reason), that a row fails; NULL if none.

    Rows for which `sound` holds skip the checks. Most rows do, and running all checks is slow.
    """
    reasons = " ".join(f"WHEN {test} THEN {literal(reason)}" for test, reason in checks)
    return f"CASE WHEN {sound} THEN NULL {reasons} END"
