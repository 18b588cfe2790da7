"""The books behind availability and panel: places by number, rides and records as sorted integers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility._keys import PICKUP, RETURN, packed, place_of_keys
from unmet.mobility._record_keys import RecordKeys, sum_up_records, write_records
from unmet.mobility._sorted import SortedIntegers
from unmet.mobility._stretches import stretches
from unmet.tables import identifier, private_folder

if TYPE_CHECKING:
    import duckdb

# A ride that took over a day was still demand; other flagged rides (zero length, service, tests) are not.
COUNTED = "(flag IS NULL OR flag = 'over-a-day')"
_EVENTS_PER_BATCH = 240_000
_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Ledger:
    """What was numbered: how many places and rides, their range, and the events of each place."""

    places: int
    capacity: np.ndarray  # docks of each place, -1 where nobody says
    observed: np.ndarray  # which places have records
    rides: int
    without_place: int
    first_ride: int
    last_ride: int
    first_record: int | None
    last_record: int | None
    sizes: tuple[int, ...]
    ride_keys: SortedIntegers
    record_keys: RecordKeys
    moves: bool = False  # whether table ``_moves`` holds any

    def batches(self, edges: int = 0, among: tuple[int, int] | None = None) -> list[tuple[int, int]]:
        """Runs of places with about so many events each: memory stays bounded, cost linear.

        `edges` is the number of further events (starts of periods) of every place; `among` names the first
        and the last place (``None``: all of them).
        """
        begin, last = among or (0, len(self.sizes) - 1)
        found, held = [], 0
        for no, size in enumerate(self.sizes[begin : last + 1], begin):
            if held and held + size + edges > _EVENTS_PER_BATCH:
                found.append((begin, no - 1))
                begin, held = no, 0
            held += size + edges
        return [*found, (begin, last)]


def exists(con: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Whether a table or view of that name exists and has a row."""
    import duckdb

    try:
        return con.execute(f"SELECT 1 FROM {identifier(table)} LIMIT 1").fetchone() is not None
    except duckdb.CatalogException:
        return False


def open_ledger(con: duckdb.DuckDBPyConnection, trips: str, status: bool, capacity: bool) -> Ledger:
    """Number the places, and write rides and records as sorted integers.

    Parameters
    ----------
    trips : name of the canonical trips table.
    status, capacity : whether records and dock counts belong to these places.

    Tables: ``_places(no, place, capacity, observed)`` ordered by name, and ``_moves``, empty.
    """
    if not exists(con, trips):
        raise ValueError(f"there are no rides in table {trips!r}; read trips first (read_trips)")
    sum_up_records(con, status)
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _starts AS
        SELECT start_place AS place, count(*) AS rides, count(started_at) AS starts,
               epoch_us(min(started_at)) AS first, epoch_us(max(started_at)) AS last,
               count(ended_at) FILTER (end_place IS NOT NULL) AS ends,
               epoch_us(min(ended_at)) AS first_end, epoch_us(max(ended_at)) AS last_end
        FROM {identifier(trips)} WHERE {COUNTED} GROUP BY 1""")
    docks = (
        "SELECT place, max(capacity) AS capacity FROM stations GROUP BY place"
        if capacity
        else "SELECT NULL::VARCHAR AS place, NULL::INTEGER AS capacity WHERE false"
    )
    con.execute(f"""
        CREATE OR REPLACE TABLE _places AS
        WITH named AS (
            SELECT place FROM _starts WHERE place IS NOT NULL
            UNION SELECT place FROM _recorded WHERE place IS NOT NULL)
        SELECT (row_number() OVER (ORDER BY place) - 1)::INTEGER AS no, place,
               d.capacity::INTEGER AS capacity, coalesce(r.records > 0, false) AS observed
        FROM named LEFT JOIN ({docks}) d USING (place) LEFT JOIN _recorded r USING (place)
        ORDER BY place""")
    con.execute("CREATE OR REPLACE TABLE _moves (no INTEGER, t BIGINT, change INTEGER)")
    ledger = _count(con, trips)
    sizes = np.zeros(ledger.places, np.int64)

    def book(keys: np.ndarray) -> np.ndarray:
        ledger.ride_keys.add(keys)
        return np.bincount(place_of_keys(keys), minlength=ledger.places)

    extents = con.execute("""
        SELECT sum(starts)::BIGINT, min(first), max(last), sum(ends)::BIGINT, min(first_end), max(last_end)
        FROM _starts""").fetchall()[0]
    for kind, place, moment, extent in (
        (PICKUP, "start_place", "started_at", extents[:3]),
        (RETURN, "end_place", "ended_at", extents[3:]),
    ):
        where = f"{COUNTED} AND {place} IS NOT NULL"
        parts = (
            con.execute(f"""
                SELECT {packed("no", moment, kind)} AS key
                FROM {identifier(trips)} JOIN _places ON place = {place}
                WHERE {where} AND {here}""").fetchnumpy()["key"]
            for here in stretches(moment, extent, _AT_ONCE)
        )
        with closing(ahead(book, parts)) as booked:
            for part in booked:
                sizes += part.result()
    records, of_records = write_records(con, ledger.places, _AT_ONCE) if status else (RecordKeys(), 0)
    return replace(
        ledger,
        record_keys=records,
        first_record=records.first,
        last_record=records.last,
        sizes=tuple((sizes + of_records).tolist()),
    )


def _count(con: duckdb.DuckDBPyConnection, trips: str) -> Ledger:
    rides = con.execute("""
        SELECT coalesce(sum(starts), 0)::BIGINT, min(first) // 1000000, max(last) // 1000000
        FROM _starts WHERE place IS NOT NULL""").fetchone()
    places = con.execute(
        "SELECT coalesce(capacity, -1) AS capacity, observed FROM _places ORDER BY no"
    ).fetchnumpy()
    lost = con.execute("SELECT coalesce(sum(rides), 0)::BIGINT FROM _starts WHERE place IS NULL").fetchone()
    assert rides
    assert lost
    if not rides[0]:
        raise ValueError(
            f"no ride of table {trips!r} has a known start place; give coordinates and places='h3', "
            "or map the station column"
        )
    return Ledger(
        places=len(places["observed"]),
        capacity=np.asarray(places["capacity"]),
        observed=np.asarray(places["observed"], bool),
        rides=rides[0],
        without_place=lost[0],
        first_ride=rides[1],
        last_ride=rides[2],
        first_record=None,
        last_record=None,
        sizes=(),
        ride_keys=SortedIntegers(private_folder(con)),
        record_keys=RecordKeys(),
    )


def weigh_moves(con: duckdb.DuckDBPyConnection, ledger: Ledger) -> Ledger:
    """The ledger with the moves of each place added to its events, from which batches are cut."""
    sizes = list(ledger.sizes)
    for place, size in con.execute("SELECT no, count(*) FROM _moves GROUP BY 1").fetchall():
        sizes[place] += size
    return replace(ledger, sizes=tuple(sizes), moves=sizes != list(ledger.sizes))


def close_ledger(con: duckdb.DuckDBPyConnection, ledger: Ledger) -> None:
    """Drop what holds the events; it may be as large as the rides."""
    ledger.ride_keys.close()
    ledger.record_keys.close()
    for table in ("_moves", "_records"):
        con.execute(f"DROP TABLE IF EXISTS {table}")
