"""Stretches of time that hold about so many rows each, so that large tables are fetched in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def stretches(
    con: duckdb.DuckDBPyConnection, table: str, moment: str, condition: str, at_once: int
) -> Iterator[str]:
    """SQL conditions on a timestamp that part the rows, all with a `moment`, of a table.

    Rows of files stand by time, so that the database reads about the rows of each stretch only.
    """
    row = con.execute(
        f"SELECT count({moment}), epoch_us(min({moment})), epoch_us(max({moment})) "
        f"FROM {table} WHERE {condition}"
    ).fetchone()
    assert row is not None
    if not row[0]:
        return
    parts = 1 + row[0] // at_once
    width = (row[2] - row[1]) // parts + 1
    for part in range(parts):
        low = row[1] + part * width
        yield f"{moment} >= make_timestamp({low}) AND {moment} < make_timestamp({low + width})"
