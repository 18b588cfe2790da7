"""Parquet files as relations of text columns, with the row number for a line."""

from pathlib import Path

import duckdb

from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._tables import count, quote


def parquet_header(con: duckdb.DuckDBPyConnection, path: Path, name: str) -> list[str]:
    """Column names of a Parquet file."""
    try:
        found = con.execute(f"DESCRIBE SELECT * FROM read_parquet({quote(str(path))})").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"{name} is a damaged Parquet file: {_short(error)}") from None
    return [str(row[0]) for row in found]


def parquet_relation(con: duckdb.DuckDBPyConnection, path: Path, header: list[str]) -> tuple[Relation, int]:
    """The relation behind a Parquet file, and its number of rows."""
    cells = ", ".join(
        f"nullif(CAST({_identifier(column)} AS VARCHAR), '') AS c{index}"
        for index, column in enumerate(header)
    )
    table = f"read_parquet({quote(str(path))}, file_row_number=true)"
    sql = f"SELECT file_row_number + 1 AS line, {cells} FROM {table}"
    wanted = ", ".join(f"c{index}" for index in range(len(header)))
    rows = count(con, f"SELECT count(*) FROM {table}")
    samples = con.execute(f"SELECT {wanted} FROM ({sql}) WHERE line <= 100 OR line > {rows - 100}").fetchall()
    return Relation(sql, [["" if cell is None else str(cell) for cell in row] for row in samples]), rows


def _identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
