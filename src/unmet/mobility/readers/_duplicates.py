"""Rides that occur more than once, within a file or across files."""

import duckdb

from unmet.mobility.readers._tables import count

# A ride is known by its id where the format has one, else by vehicle, times and places. Where there is
# neither, equal rows of one file are different rides (minutes repeat), but the same file given twice is not:
# the n-th copy in one source equals the n-th copy in another.
_PLACES = "started_at, ended_at, start_place, end_place"
_KINDS = {
    "ride_id IS NOT NULL": ("format, ride_id", False),
    "ride_id IS NULL AND vehicle_id IS NOT NULL": (f"vehicle_id, {_PLACES}", False),
    "ride_id IS NULL AND vehicle_id IS NULL": (
        f"{_PLACES}, start_lat, start_lng, end_lat, end_lng",
        True,
    ),
}


def drop_duplicates(con: duckdb.DuckDBPyConnection, table: str) -> int:
    """Delete all but the first of equal rides; returns how many went."""
    before = count(con, f"SELECT count(*) FROM {table}")
    for condition, (key, per_source) in _KINDS.items():
        # A first pass over 64-bit hashes keeps memory small; only rows whose hash repeats are compared.
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE repeated AS SELECT hash({key}) AS h FROM {table} "
            f"WHERE {condition} GROUP BY h HAVING count(*) > 1"
        )
        if not count(con, "SELECT count(*) FROM repeated"):
            continue
        rows = (
            f"SELECT rowid AS id, source_number, {key} FROM {table} "
            f"WHERE {condition} AND hash({key}) IN (SELECT h FROM repeated)"
        )
        if per_source:
            copies = f"row_number() OVER (PARTITION BY {key}, source_number ORDER BY id) AS copy"
            rows = f"SELECT *, {copies} FROM ({rows})"
            key += ", copy"
        numbered = f"SELECT id, row_number() OVER (PARTITION BY {key} ORDER BY id) AS n FROM ({rows})"
        con.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM ({numbered}) WHERE n > 1)")
    con.execute("DROP TABLE IF EXISTS repeated")
    return before - count(con, f"SELECT count(*) FROM {table}")
