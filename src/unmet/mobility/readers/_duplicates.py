"""Rides and records that occur more than once, within a file or across files."""

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


_SEARCHED_AT_ONCE = 4_000_000


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


def drop_repeated(con: duckdb.DuckDBPyConnection, table: str = "new_status") -> int:
    """Of several records of a place at one moment keep the last line; returns how many went.

    Equal records share their moment, so that one stretch of time after another is searched: memory stays
    small, and cost grows with the number of records only.
    """
    row = con.execute(f'SELECT count(*), epoch_us(min("at")), epoch_us(max("at")) FROM {table}').fetchone()
    assert row is not None
    if not row[0]:
        return 0
    parts = 1 + row[0] // _SEARCHED_AT_ONCE
    width = (row[2] - row[1]) // parts + 1
    con.execute("CREATE OR REPLACE TEMP TABLE repeated(h UBIGINT)")
    for part in range(parts):
        low = row[1] + part * width
        con.execute(
            f'INSERT INTO repeated SELECT hash(place, "at") AS h FROM {table} '
            f'WHERE "at" >= make_timestamp({low}) AND "at" < make_timestamp({low + width}) '
            "GROUP BY h HAVING count(*) > 1"
        )
    gone = 0
    if count(con, "SELECT count(*) FROM repeated"):
        gone = count(
            con,
            f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM ("
            f'SELECT rowid AS id, row_number() OVER (PARTITION BY place, "at" '
            f"ORDER BY source_number DESC, line DESC, rowid DESC) AS n FROM {table} "
            f'WHERE hash(place, "at") IN (FROM repeated)) WHERE n > 1)',
        )
    con.execute("DROP TABLE repeated")
    return gone
