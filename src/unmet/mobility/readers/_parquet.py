"""Parquet files as relations of text columns, or of typed ones where the types say enough."""

from dataclasses import replace
from pathlib import Path

import duckdb

from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._quick import fits_types
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._tables import count
from unmet.tables import identifier, literal_path


def parquet_columns(con: duckdb.DuckDBPyConnection, path: Path, name: str) -> dict[str, str]:
    """Columns of a Parquet file with their types."""
    try:
        found = con.execute(f"DESCRIBE SELECT * FROM read_parquet({literal_path(path)})").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"{name} is a damaged Parquet file: {_short(error)}") from None
    return {str(row[0]): str(row[1]) for row in found}


def parquet_relation(con: duckdb.DuckDBPyConnection, path: Path, header: list[str]) -> tuple[Relation, int]:
    """The relation behind a Parquet file, and its number of rows."""
    sql = _sql(path, header, ())
    wanted = ", ".join(f"c{index}" for index in range(len(header)))
    rows = count(con, f"SELECT count(*) FROM read_parquet({literal_path(path)})")
    samples = con.execute(f"SELECT {wanted} FROM ({sql}) WHERE line <= 100 OR line > {rows - 100}").fetchall()
    return Relation(sql, [["" if cell is None else str(cell) for cell in row] for row in samples]), rows


def quick_parquet(path: Path, columns: dict[str, str], layout: Layout, relation: Relation) -> Relation | None:
    """The same with stamps and degrees as the file holds them; ``None`` where their types need care."""
    typed = fits_types(layout, list(columns.values()))
    if typed is None:
        return None
    return replace(relation, sql=_sql(path, list(columns), typed), quick=True, stamped=True)


def _sql(path: Path, header: list[str], typed: tuple[int, ...]) -> str:
    cells = ", ".join(
        f"{identifier(column)} AS c{index}"
        if index in typed
        else f"nullif(CAST({identifier(column)} AS VARCHAR), '') AS c{index}"
        for index, column in enumerate(header)
    )
    table = f"read_parquet({literal_path(path)}, file_row_number=true)"
    return f"SELECT file_row_number + 1 AS line, {cells} FROM {table}"


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
