"""The canonical tables into which all sources are read."""

from duckdb import DuckDBPyConnection as Connection

from unmet.tables import literal

# `at` and `returning` are keywords of DuckDB: quote them in queries.
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
    "trip_names": "place VARCHAR, name VARCHAR",  # names in trip files, where there is no stations file
    "station_ids": "id VARCHAR, place VARCHAR",
    "station_attributes": "place VARCHAR, attribute VARCHAR, value VARCHAR",
    "rejects": "source VARCHAR, line BIGINT, reason VARCHAR, text VARCHAR, kind VARCHAR",
}


def ensure_tables(con: Connection) -> None:
    """Create those canonical tables that do not exist."""
    for name, columns in TABLES.items():
        con.execute(f"CREATE TABLE IF NOT EXISTS {name}({columns})")


def column_names(table: str) -> str:
    """Return the columns of a canonical table as an SQL list."""
    return ", ".join(column.split()[0] for column in TABLES[table].split(", "))


def begin_table(con: Connection, name: str, more: str = "") -> None:
    """Create ``new_…``, which holds the rows until all sources are read; `more` declares more columns."""
    con.execute(f"CREATE OR REPLACE TABLE new_{name}({TABLES[name]}{more})")


def replace_table(con: Connection, name: str) -> None:
    """Replace a canonical table by ``new_…``."""
    con.execute(f"DROP TABLE {name}")
    con.execute(f"ALTER TABLE new_{name} RENAME TO {name}")


def drop_new(con: Connection, *names: str) -> None:
    """Drop tables ``new_…``."""
    for name in names:
        con.execute(f"DROP TABLE IF EXISTS new_{name}")


def replace_rejects(con: Connection, kind: str) -> None:
    """Replace earlier rejects of the same kind by the new ones."""
    con.execute(f"DELETE FROM rejects WHERE kind = {literal(kind)}")
    con.execute("INSERT INTO rejects SELECT * FROM new_rejects ORDER BY ALL")


def count(con: Connection, sql: str) -> int:
    """Return the number that a query gives; 0 if it is NULL."""
    [(number,)] = con.execute(sql).fetchall()
    return int(number or 0)


def next_row(con: Connection, table: str) -> int:
    """Return the ``rowid`` after the last one; it is at least the number of rows, so few are looked at."""
    rows = count(con, f"SELECT count(*) FROM {table}")
    return count(con, f"SELECT max(rowid) + 1 FROM {table} WHERE rowid >= {rows - 1}")
