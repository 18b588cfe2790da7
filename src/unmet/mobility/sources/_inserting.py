"""Insert the rows of a relation into a table, or none if they do not add up."""

from collections.abc import Callable
from dataclasses import dataclass, field

import duckdb

from unmet.mobility.sources._relation import Relation
from unmet.mobility.sources._tables import count


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


def insert_rows(con: duckdb.DuckDBPyConnection, relation: Relation, rows: Rows) -> Inserted | None:
    """Insert the valid rows of a source. Insert none and return None if the rows do not add up."""
    inserted = None
    if relation.positional and not rows.filtered:
        inserted = _attempt(con, _insert_all, relation, rows)
    return inserted or _attempt(con, _insert_sound, relation, rows)


def _attempt(
    con: duckdb.DuckDBPyConnection,
    insert: Callable[[duckdb.DuckDBPyConnection, Relation, Rows], Inserted | None],
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
