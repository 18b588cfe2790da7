"""Parquet files: columns that already have the type of their field keep it, all others become text."""

from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._files import short
from unmet.mobility.sources._formats import FIELD_TYPES
from unmet.mobility.sources._recognition import Layout
from unmet.mobility.sources._relation import Relation
from unmet.mobility.sources._tables import count
from unmet.tables import identifier, literal_path


def parquet_columns(con: Connection, path: Path, name: str) -> dict[str, str]:
    """Return the columns of a Parquet file with their types."""
    try:
        found = con.execute(f"DESCRIBE SELECT * FROM read_parquet({literal_path(path)})").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"{name} is a damaged Parquet file; get it again: {short(error)}") from None
    return {str(row[0]): str(row[1]) for row in found}


def parquet_relation(con: Connection, path: Path, layout: Layout, columns: dict[str, str]) -> Relation:
    """Return a Parquet file as a relation."""
    kinds = list(columns.values())
    types = {
        where[0]: kind
        for name, kind in FIELD_TYPES[layout.kind].items()
        if len(where := layout.positions.get(name, ())) == 1 and kinds[where[0]] == kind
    }
    cells = ", ".join(
        f"{identifier(column)} AS c{index}"
        if index in types
        else f"nullif(CAST({identifier(column)} AS VARCHAR), '') AS c{index}"
        for index, column in enumerate(columns)
    )
    file = f"read_parquet({literal_path(path)}, file_row_number=true)"
    table = f"(SELECT file_row_number + 1 AS line, {cells} FROM {file})"
    rows = count(con, f"SELECT count(*) FROM read_parquet({literal_path(path)})")
    found = con.execute(
        f"SELECT * EXCLUDE (line) FROM {table} WHERE line <= 100 OR line > {rows - 100}"
    ).fetchall()
    samples = [["" if cell is None else str(cell) for cell in row] for row in found]
    return Relation(layout, table, "line", rows, samples, types)


def parquet_samples(con: Connection, path: Path, columns: list[str], name: str) -> list[list[str]]:
    """Return the first rows of a Parquet file as text."""
    cells = ", ".join(f"CAST({identifier(column)} AS VARCHAR)" for column in columns)
    try:
        found = con.execute(f"SELECT {cells} FROM read_parquet({literal_path(path)}) LIMIT 200").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"{name} cannot be read: {short(error)}") from None
    return [["" if cell is None else str(cell) for cell in row] for row in found]
