"""The canonical tables, and how a finished reading replaces an earlier one."""

# `at` and `returning` are words of DuckDB's SQL: they must be quoted in queries.

import duckdb

from unmet.tables import literal

TABLES = {
    "trips": (
        "ride_id VARCHAR, vehicle_id VARCHAR, started_at TIMESTAMP, ended_at TIMESTAMP, "
        "start_place VARCHAR, end_place VARCHAR, start_lat DOUBLE, start_lng DOUBLE, end_lat DOUBLE, "
        "end_lng DOUBLE, flag VARCHAR, source VARCHAR, line BIGINT"
    ),
    "status": (
        'place VARCHAR, "at" TIMESTAMP, available INTEGER, docks INTEGER, '
        'renting BOOLEAN, "returning" BOOLEAN'
    ),
    "vehicles": (
        'vehicle_id VARCHAR, "at" TIMESTAMP, place VARCHAR, lat DOUBLE, lng DOUBLE, '
        "state VARCHAR, event VARCHAR"
    ),
    "stations": "place VARCHAR, name VARCHAR, lat DOUBLE, lng DOUBLE, capacity INTEGER",
    "station_ids": "id VARCHAR, place VARCHAR",
    "station_attributes": "place VARCHAR, attribute VARCHAR, value VARCHAR",
    "rejects": "source VARCHAR, line BIGINT, reason VARCHAR, text VARCHAR, kind VARCHAR",
}


def ensure_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Create whichever canonical table is missing, empty."""
    for name, columns in TABLES.items():
        con.execute(f"CREATE TABLE IF NOT EXISTS {name}({columns})")


def count(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    """The single number that a query gives."""
    row = con.execute(sql).fetchone()
    assert row is not None
    return int(row[0] or 0)


def replace_rejects(con: duckdb.DuckDBPyConnection, kind: str) -> None:
    """Let the rejects of this reading take the place of those of the last reading of its kind."""
    con.execute(f"DELETE FROM rejects WHERE kind = {literal(kind)}")
    con.execute("INSERT INTO rejects SELECT * FROM new_rejects ORDER BY ALL")
    con.execute("DROP TABLE new_rejects")


def new_rejects(con: duckdb.DuckDBPyConnection) -> None:
    """An empty table for the rejects of this reading."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE new_rejects({TABLES['rejects']})")
