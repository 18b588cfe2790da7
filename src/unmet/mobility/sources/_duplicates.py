"""Drop rides and records that occur more than once, in one source or in several."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._tables import count, next_row
from unmet.tables import SortedKeys, literal, private_folder

# Rides are the same if they have the same id or, without ids, the same vehicle, times and places. Without
# either, equal rows of one source are different rides (times may be rounded to minutes), but a file given
# twice must not count twice: the n-th copy in one source is the n-th copy in another. The same holds for
# vehicles in sources with rounded times and stated durations.
_RIDE = "started_at, ended_at, start_place, end_place"
_KEYS = {
    "ride_id IS NOT NULL": ("ride_id", "format"),
    "ride_id IS NULL AND vehicle_id IS NOT NULL": (f"vehicle_id, {_RIDE}", "rounded"),
    "ride_id IS NULL AND vehicle_id IS NULL": (f"{_RIDE}, start_lat, start_lng, end_lat, end_lng", "copy"),
}
_SEARCHED_AT_ONCE = 2_000_000
_HASH_BITS = 62  # so that all edges of ranges are 64-bit integers


@dataclass(frozen=True)
class First:
    """First ``rowid`` of a source, its format, and whether its times are rounded but durations stated."""

    row: int
    format: str
    rounded: bool


def drop_repeated_rides(con: Connection, firsts: list[First]) -> int:
    """Delete all but the first of each set of equal rides from ``new_trips``; return how many were deleted.

    Parameters
    ----------
    firsts : for each source, in the order of rows. Rows are ordered by source and line.
    """
    before = count(con, "SELECT count(*) FROM new_trips")
    listed = [f"({one.row}, {n}, {literal(one.format)}, {one.rounded})" for n, one in enumerate(firsts)]
    con.execute(
        "CREATE OR REPLACE TEMP TABLE source_rows AS SELECT * FROM "
        f"(VALUES {', '.join(listed) or '(0, 0, NULL, false)'}) AS s(first, number, format, rounded)"
    )
    for condition, (key, further) in _KEYS.items():
        if not _find_repeated(con, "new_trips", key, condition):
            continue
        rows = (
            f"SELECT rowid AS id, {key} FROM new_trips "
            f"WHERE {condition} AND {_hash(key)} IN (SELECT h FROM repeated)"
        )
        rows = f"SELECT * FROM ({rows}) AS r ASOF JOIN source_rows AS s ON r.id >= s.first"
        if further != "format":
            copy = f"row_number() OVER (PARTITION BY {key}, number ORDER BY id)"
            copy = f"CASE WHEN rounded THEN {copy} ELSE 1 END" if further == "rounded" else copy
            rows = f"SELECT *, {copy} AS copy FROM ({rows})"
        key += ", format" if further == "format" else ", copy"
        numbered = f"SELECT id, row_number() OVER (PARTITION BY {key} ORDER BY id) AS n FROM ({rows})"
        con.execute(f"DELETE FROM new_trips WHERE rowid IN (SELECT id FROM ({numbered}) WHERE n > 1)")
    con.execute("DROP TABLE IF EXISTS repeated")
    con.execute("DROP TABLE source_rows")
    return before - count(con, "SELECT count(*) FROM new_trips")


def drop_repeated_records(con: Connection, table: str) -> None:
    """Keep only the last of several records of a place at the same time."""
    key = 'place, "at"'
    if _find_repeated(con, table, key, '"at" IS NOT NULL'):
        last = f"row_number() OVER (PARTITION BY {key} ORDER BY id DESC)"
        con.execute(
            f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM (SELECT id, {last} AS n FROM "
            f"(SELECT rowid AS id, {key} FROM {table} WHERE {_hash(key)} IN (SELECT h FROM repeated))) "
            "WHERE n > 1)"
        )
    con.execute("DROP TABLE IF EXISTS repeated")


def _find_repeated(con: Connection, table: str, key: str, condition: str) -> bool:
    """Write table ``repeated(h)``, the hashes that occur more than once; return whether there are any.

    Rows are read once. Their hashes go to disk and come back in ranges, so that the cost of a row does not
    depend on how many there are. Only rows with repeated hashes are then compared.
    """
    rows = count(con, f"SELECT count(*) FROM {table} WHERE {condition}")
    if not rows:
        return False
    found = []
    with closing(SortedKeys(private_folder(con))) as hashes:
        for low in range(0, next_row(con, table), _SEARCHED_AT_ONCE):
            here = f"rowid >= {low} AND rowid < {low + _SEARCHED_AT_ONCE}"
            sql = f"SELECT {_hash(key)} AS h FROM {table} WHERE {condition} AND {here}"
            hashes.add(con.execute(sql).fetchnumpy()["h"])
        width = (1 << _HASH_BITS) // (1 + rows // _SEARCHED_AT_ONCE) + 1
        for low in range(0, 1 << _HASH_BITS, width):
            part = hashes.fetch(low, low + width)
            again = part[1:][part[1:] == part[:-1]]
            found.append(again[np.diff(again, prepend=-1) != 0])
    repeated = np.concatenate(found)
    if len(repeated):
        con.register("_repeated", {"h": repeated})
        con.execute("CREATE OR REPLACE TEMP TABLE repeated AS SELECT h FROM _repeated")
        con.unregister("_repeated")
    return bool(len(repeated))


def _hash(key: str) -> str:
    """Return SQL for a hash of these columns as a whole number of `_HASH_BITS` bits."""
    return f"(hash({key}) >> {64 - _HASH_BITS})::BIGINT"
