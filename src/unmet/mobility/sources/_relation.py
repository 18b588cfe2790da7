"""A source as a relation in SQL, and the rows of trips, status or stations that are inserted from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._formats import NULLS
from unmet.mobility.sources._recognition import Layout
from unmet.mobility.sources._tables import count
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


@dataclass(frozen=True)
class Rows:
    """How a relation becomes rows of a table ``new_…``.

    Attributes
    ----------
    table, columns : where to insert the rows.
    sql : takes SQL for the cells and returns SQL for the rows: `columns`, and `line`, `reason` and
        `left_out`. A row with a reason is rejected.
    filtered : whether valid rows may be left out.
    sound : SQL condition for rows without a reason; a plain one is faster than looking for the reason.
    """

    table: str
    columns: str
    sql: Callable[[str], str]
    filtered: bool = False
    sound: str = "reason IS NULL"


@dataclass(frozen=True)
class Inserted:
    """What happened to the rows of a source: how many were inserted, and lines and reasons of the rejects."""

    rows: int
    rejects: list[tuple[int, str]] = field(default_factory=list)
    left_out: int = 0
    numbered: bool = True  # whether rows were inserted with their line


def insert_rows(con: Connection, relation: Relation, rows: Rows) -> Inserted | None:
    """Insert the valid rows of a source. Insert none and return None if the rows do not add up."""
    inserted = None
    if relation.positional and not rows.filtered:
        inserted = _attempt(con, _insert_all, relation, rows)
    return inserted or _attempt(con, _insert_sound, relation, rows)


def _attempt(
    con: Connection,
    insert: Callable[[Connection, Relation, Rows], Inserted | None],
    relation: Relation,
    rows: Rows,
) -> Inserted | None:
    con.execute("BEGIN")
    try:
        inserted = insert(con, relation, rows)
    except BaseException:
        con.execute("ROLLBACK")
        raise
    con.execute("ROLLBACK" if inserted is None else "COMMIT")
    return inserted


def _insert_all(con: Connection, relation: Relation, rows: Rows) -> Inserted | None:
    """Insert rows without line numbers, which lets DuckDB use all cores. Works only if all rows are valid."""
    done = count(con, f"{_insert_into(rows)} FROM ({rows.sql(relation.select(False))}) WHERE {rows.sound}")
    return Inserted(done, numbered=False) if done == relation.rows else None


def _insert_sound(con: Connection, relation: Relation, rows: Rows) -> Inserted | None:
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
