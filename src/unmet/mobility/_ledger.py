"""The books behind availability and panel: places, rides and records as small integer tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# A ride that took over a day was still demand; other flagged rides (zero length, service, tests) are not.
COUNTED = "(flag IS NULL OR flag = 'over-a-day')"
_EVENTS_PER_BATCH = 600_000  # arrays of this size are used again, larger ones are paged in each time


@dataclass(frozen=True)
class Ledger:
    """What was numbered: how many places and rides, their range, and the events of each place."""

    places: int
    with_status: int
    rides: int
    without_place: int
    first_ride: int
    last_ride: int
    first_record: int | None
    last_record: int | None
    sizes: tuple[int, ...]

    def batches(self, edges: int = 0) -> list[tuple[int, int]]:
        """Runs of places with about half a million events each: memory stays bounded, cost linear.

        `edges` is the number of further events (starts of periods) of every place.
        """
        found, begin, held = [], 0, 0
        for no, size in enumerate(self.sizes):
            if held and held + size + edges > _EVENTS_PER_BATCH:
                found.append((begin, no - 1))
                begin, held = no, 0
            held += size + edges
        return [*found, (begin, len(self.sizes) - 1)]


def exists(con: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Whether a table or view of that name exists and has a row."""
    import duckdb

    try:
        return con.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() is not None
    except duckdb.CatalogException:
        return False


def open_ledger(con: duckdb.DuckDBPyConnection, trips: str, status: bool, capacity: bool) -> Ledger:
    """Number the places and write rides and records as integers.

    Parameters
    ----------
    trips : name of the canonical trips table.
    status, capacity : whether records and dock counts belong to these places.

    Tables: ``_places(no, place, capacity, observed)`` ordered by name, ``_rides(no, t, change)`` with −1
    for a pickup and +1 for a return, ``_records(no, t, level, open)`` with the status, in order, and
    ``_moves``, empty. The large ones are no temporary tables: in a database file they are compressed and stay
    on disk.
    """
    if not exists(con, trips):
        raise ValueError(f"there are no rides in table {trips!r}; read trips first (read_trips)")
    records = "SELECT DISTINCT place FROM status" if status else "SELECT NULL::VARCHAR AS place WHERE false"
    docks = (
        "SELECT place, max(capacity) AS capacity FROM stations GROUP BY place"
        if capacity
        else "SELECT NULL::VARCHAR AS place, NULL::INTEGER AS capacity WHERE false"
    )
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _places AS
        WITH named AS (
            SELECT DISTINCT start_place AS place FROM "{trips}" WHERE {COUNTED} AND start_place IS NOT NULL
            UNION SELECT place FROM ({records}) WHERE place IS NOT NULL)
        SELECT (row_number() OVER (ORDER BY place) - 1)::INTEGER AS no, place,
               d.capacity::INTEGER AS capacity, r.place IS NOT NULL AS observed
        FROM named LEFT JOIN ({docks}) d USING (place) LEFT JOIN ({records}) r USING (place)
        ORDER BY place""")
    con.execute(f"""
        CREATE OR REPLACE TABLE _rides AS
        SELECT no, (epoch_us(started_at) // 1000000)::BIGINT AS t, (-1)::TINYINT AS change
        FROM "{trips}" JOIN _places ON place = start_place WHERE {COUNTED} AND started_at IS NOT NULL
        UNION ALL
        SELECT no, (epoch_us(ended_at) // 1000000)::BIGINT AS t, 1::TINYINT AS change
        FROM "{trips}" JOIN _places ON place = end_place WHERE {COUNTED} AND ended_at IS NOT NULL
        ORDER BY no  -- so that a batch reads its own part of the table only""")
    if status:
        con.execute("""
            CREATE OR REPLACE TABLE _records AS
            SELECT no, (epoch_us("at") // 1000000)::BIGINT AS t, available::INTEGER AS level,
                   coalesce(renting, true) AS open
            FROM status JOIN _places USING (place)
            WHERE available IS NOT NULL AND "at" IS NOT NULL ORDER BY no, "at", status.rowid""")
    else:
        con.execute("""CREATE OR REPLACE TABLE _records
                       (no INTEGER, t BIGINT, level INTEGER, open BOOLEAN)""")
    con.execute("CREATE OR REPLACE TABLE _moves (no INTEGER, t BIGINT, change INTEGER)")
    return _count(con, trips)


def _count(con: duckdb.DuckDBPyConnection, trips: str) -> Ledger:
    rides = con.execute("SELECT count(*), min(t), max(t) FROM _rides WHERE change < 0").fetchone()
    records = con.execute("SELECT min(t), max(t) FROM _records").fetchone()
    places = con.execute("SELECT count(*), count(*) FILTER (observed) FROM _places").fetchone()
    lost = con.execute(f'SELECT count(*) FROM "{trips}" WHERE {COUNTED} AND start_place IS NULL').fetchone()
    assert rides
    assert records
    assert places
    assert lost
    if not rides[0]:
        raise ValueError(
            f"no ride of table {trips!r} has a known start place; give coordinates and places='h3', "
            "or map the station column"
        )
    return Ledger(
        places=places[0],
        with_status=places[1],
        rides=rides[0],
        without_place=lost[0],
        first_ride=rides[1],
        last_ride=rides[2],
        first_record=records[0],
        last_record=records[1],
        sizes=(),
    )


def weigh(con: duckdb.DuckDBPyConnection, ledger: Ledger) -> Ledger:
    """The ledger with the number of events of each place, from which batches are cut."""
    sizes = con.execute("""
        SELECT count(e.no) FROM _places LEFT JOIN (
            SELECT no FROM _rides UNION ALL SELECT no FROM _records
            UNION ALL SELECT no FROM _moves) e USING (no)
        GROUP BY _places.no ORDER BY _places.no""").fetchall()
    return replace(ledger, sizes=tuple(row[0] for row in sizes))


def close_ledger(con: duckdb.DuckDBPyConnection) -> None:
    """Drop the tables of events; they may be as large as the rides."""
    for table in ("_rides", "_records", "_moves"):
        con.execute(f"DROP TABLE IF EXISTS {table}")


def within(batch: tuple[int, int], column: str = "no") -> str:
    """SQL condition for the places of one batch."""
    return f"{column} BETWEEN {batch[0]} AND {batch[1]}"
