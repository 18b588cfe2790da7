"""Stretches of time that hold about so many rows each, so that large tables are fetched in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


Extent = tuple[int, int | None, int | None]  # rows, and their first and last microsecond since 1970


def extent(con: duckdb.DuckDBPyConnection, table: str, moment: str, condition: str) -> Extent:
    """How many rows with a `moment` a table has, and between which times."""
    row = con.execute(
        f"SELECT count({moment}), epoch_us(min({moment})), epoch_us(max({moment})) "
        f"FROM {table} WHERE {condition}"
    ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def stretches(moment: str, found: Extent, at_once: int) -> list[str]:
    """SQL conditions on a timestamp that part the rows of an extent.

    Rows of files stand by time, so that the database reads about the rows of each stretch only.
    """
    rows, first, last = found
    if not rows or first is None or last is None:
        return []
    parts = 1 + rows // at_once
    width = (last - first) // parts + 1
    return [
        f"{moment} >= make_timestamp({low}) AND {moment} < make_timestamp({low + width})"
        for low in range(first, first + parts * width, width)
    ]
