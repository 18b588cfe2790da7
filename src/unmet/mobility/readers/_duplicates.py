"""Rides and records that occur more than once, within a file or across files."""

from collections.abc import Iterable, Iterator
from contextlib import closing

import duckdb
import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility._stretches import extent, stretches
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


_SEARCHED_AT_ONCE = 2_000_000


def drop_duplicates(con: duckdb.DuckDBPyConnection, relation: str, table: str) -> int:
    """Delete all but the first of equal rides from a table; returns how many went.

    `relation` is SQL of the same rows with canonical columns, and ``id``, their ``rowid``.
    """
    before = count(con, f"SELECT count(*) FROM {table}")
    for condition, (key, per_source) in _KINDS.items():
        moment = "started_at" if "started_at" in key else None
        if not _find_repeated(con, _hashes(con, relation, key, moment, condition)):
            continue
        rows = (
            f"SELECT id, source_number, line, {key} FROM {relation} "
            f"WHERE {condition} AND hash({key}) IN (SELECT h FROM repeated)"
        )
        if per_source:
            copies = f"row_number() OVER (PARTITION BY {key}, source_number ORDER BY line, id) AS copy"
            rows = f"SELECT *, {copies} FROM ({rows})"
            key += ", copy"
        first = f"row_number() OVER (PARTITION BY {key} ORDER BY source_number, line, id)"
        numbered = f"SELECT id, {first} AS n FROM ({rows})"
        con.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM ({numbered}) WHERE n > 1)")
    con.execute("DROP TABLE IF EXISTS repeated")
    return before - count(con, f"SELECT count(*) FROM {table}")


def drop_repeated(con: duckdb.DuckDBPyConnection, relation: str, table: str) -> int:
    """Of several records of a place at one moment keep the last line; returns how many went."""
    key = 'place, "at"'
    gone = 0
    if _find_repeated(con, _hashes(con, relation, key, '"at"', '"at" IS NOT NULL')):
        gone = count(
            con,
            f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM ("
            f"SELECT id, row_number() OVER (PARTITION BY {key} "
            f"ORDER BY source_number DESC, line DESC, id DESC) AS n FROM {relation} "
            f"WHERE hash({key}) IN (SELECT h FROM repeated)) WHERE n > 1)",
        )
    con.execute("DROP TABLE IF EXISTS repeated")
    return gone


def _find_repeated(con: duckdb.DuckDBPyConnection, parts: Iterable[np.ndarray]) -> int:
    """Write table ``repeated(h)``, the hashes that occur more than once; returns how many there are.

    Rows are compared only where their 64-bit hashes repeat: sorting hashes needs little memory and time.
    """
    with closing(ahead(_twice, parts)) as coming:
        found = [future.result() for future in coming]
    again = np.concatenate([np.zeros(0, np.uint64), *found])
    if len(again):
        con.register("_again", {"h": again})
        con.execute("CREATE OR REPLACE TEMP TABLE repeated AS SELECT h FROM _again")
        con.unregister("_again")
    return len(again)


def _twice(hashes: np.ndarray) -> np.ndarray:
    ordered = np.sort(hashes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def _hashes(
    con: duckdb.DuckDBPyConnection, relation: str, key: str, moment: str | None, condition: str
) -> Iterator[np.ndarray]:
    """Hashes of the rows, equal rows in the same part: one stretch of time after another where the key has
    a `moment`, else by the remainder of the hash."""
    if moment:
        parts = stretches(moment, extent(con, relation, moment, condition), _SEARCHED_AT_ONCE)
    else:
        number = count(con, f"SELECT count(*) FROM {relation} WHERE {condition}")
        shares = 1 + number // _SEARCHED_AT_ONCE
        parts = [f"hash({key}) % {shares} = {part}" for part in range(shares)] if number else []
    for here in parts:
        found = con.execute(
            f"SELECT hash({key}) AS h FROM {relation} WHERE {condition} AND {here}"
        ).fetchnumpy()
        yield np.asarray(found["h"])
