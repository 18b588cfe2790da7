"""The places of a panel: their numbers, docks, rides and records; their names and coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.tables import Columns, identifier, plain

# Rides of more than a day are demand; other flagged rides (zero length, service, tests) are not.
COUNTED = "(flag IS NULL OR flag = 'over-a-day')"
KNOWN = 'available IS NOT NULL AND "at" IS NOT NULL'  # records that can be used
_NO_STATUS = (
    '(SELECT NULL::VARCHAR AS place, NULL::TIMESTAMP AS "at", NULL::INTEGER AS available WHERE false)'
)
_NO_DOCKS = "SELECT NULL::VARCHAR AS place, NULL::INTEGER AS capacity WHERE false"


@dataclass(frozen=True)
class Extent:
    """Number of rows, and their first and last time in microseconds since 1970."""

    rows: int
    first: int
    last: int


@dataclass(frozen=True)
class Places:
    """Places in order of their names, and their numbers of rides and records.

    Attributes
    ----------
    capacity : docks of each place; -1 if unknown.
    observed : which places have status records.
    rides, without_place : counted rides that start at a place, and those without a start place.
    first_ride, last_ride : first and last start, in seconds since 1970.
    starts, ends, records : rows of each kind of event; None if there are none.
    """

    capacity: np.ndarray
    observed: np.ndarray
    rides: int
    without_place: int
    first_ride: int
    last_ride: int
    starts: Extent | None
    ends: Extent | None
    records: Extent | None

    def __len__(self) -> int:
        return len(self.observed)


def exists(con: Connection, table: str) -> bool:
    """Return whether a table or view exists and has at least one row."""
    import duckdb

    try:
        return con.execute(f"SELECT 1 FROM {identifier(table)} LIMIT 1").fetchone() is not None
    except duckdb.CatalogException:
        return False


def number_places(con: Connection, trips: str, *, status: bool, docks: bool) -> Places:
    """Write table ``_places(no, place, capacity, observed)`` in order of names; count rides and records.

    Parameters
    ----------
    trips : name of the canonical trips table.
    status, docks : whether tables ``status`` and ``stations`` describe these places.
    """
    if not exists(con, trips):
        raise ValueError(f"there are no rides in table {trips!r}; call read_trips first")
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _recorded AS
        SELECT place, count(moment) AS records, epoch_us(min(moment)) AS first, epoch_us(max(moment)) AS last
        FROM (SELECT place, CASE WHEN {KNOWN} THEN "at" END AS moment
              FROM {"status" if status else _NO_STATUS})
        GROUP BY place""")
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _starts AS
        SELECT start_place AS place, count(*) AS rides, count(started_at) AS starts,
               epoch_us(min(started_at)) AS first, epoch_us(max(started_at)) AS last,
               count(ended_at) FILTER (end_place IS NOT NULL) AS ends,
               epoch_us(min(ended_at)) AS first_end, epoch_us(max(ended_at)) AS last_end
        FROM {identifier(trips)} WHERE {COUNTED} GROUP BY 1""")
    capacity = "SELECT place, max(capacity) AS capacity FROM stations GROUP BY place" if docks else _NO_DOCKS
    con.execute(f"""
        CREATE OR REPLACE TABLE _places AS
        WITH named AS (
            SELECT place FROM _starts WHERE place IS NOT NULL
            UNION SELECT place FROM _recorded WHERE place IS NOT NULL)
        SELECT (row_number() OVER (ORDER BY place) - 1)::INTEGER AS no, place,
               d.capacity::INTEGER AS capacity, coalesce(r.records > 0, false) AS observed
        FROM named LEFT JOIN ({capacity}) d USING (place) LEFT JOIN _recorded r USING (place)
        ORDER BY place""")
    return _counted(con, trips)


def _counted(con: Connection, trips: str) -> Places:
    [(rides, first, last)] = con.execute("""
        SELECT coalesce(sum(starts), 0)::BIGINT, min(first) // 1000000, max(last) // 1000000
        FROM _starts WHERE place IS NOT NULL""").fetchall()
    [(lost,)] = con.execute(
        "SELECT coalesce(sum(rides), 0)::BIGINT FROM _starts WHERE place IS NULL"
    ).fetchall()
    if not rides:
        raise ValueError(
            f"no ride of table {trips!r} has a start place; name the column of start stations "
            "with columns= when you read the trips, or use H3 cells as places (h3_resolution)"
        )
    found = con.execute(
        "SELECT coalesce(capacity, -1) AS capacity, observed FROM _places ORDER BY no"
    ).fetchnumpy()

    def extent(rows: str, low: str, high: str, table: str) -> Extent | None:
        [(number, begin, end)] = con.execute(
            f"SELECT coalesce(sum({rows}), 0)::BIGINT, min({low}), max({high}) FROM {table}"
        ).fetchall()
        return Extent(number, begin, end) if number else None

    return Places(
        capacity=np.asarray(found["capacity"]),
        observed=np.asarray(found["observed"], bool),
        rides=rides,
        without_place=lost,
        first_ride=first,
        last_ride=last,
        starts=extent("starts", "first", "last", "_starts"),
        ends=extent("ends", "first_end", "last_end", "_starts"),
        records=extent("records", "first", "last", "_recorded"),
    )


# Average whole micro-degrees, because sums of floats depend on the number of threads.
_LAT, _LNG = (f"avg(round({name} * 1000000)::BIGINT) / 1e6" for name in ("lat", "lng"))
_NONE = (
    "SELECT NULL::VARCHAR AS place, NULL::VARCHAR AS name, NULL::DOUBLE AS lat, NULL::DOUBLE AS lng, "
    "NULL::INTEGER AS capacity WHERE false"
)
_TRIP_NAMES = (
    "SELECT place, name, NULL::DOUBLE AS lat, NULL::DOUBLE AS lng, NULL::INTEGER AS capacity FROM trip_names"
)


def place_table(con: Connection, kind: str) -> Columns:
    """Return one row per place of table ``panel``: ``unique_id, name, lat, lng, capacity``, ordered by id.

    The coordinates of a station come from the stations file, else from the mean start of its rides. A cell
    has those of its centre, and a hub the mean over its stations and the sum of their docks. Unknown values
    are NaN. Names come from the stations file, else from the trips; a place without one has its id as name.

    Parameters
    ----------
    kind : "station", "h3" or "hub", as for :func:`build_panel`, which must have been called.
    """
    stations = (
        "SELECT place, min(name) AS name, min(lat) AS lat, min(lng) AS lng, max(capacity) AS capacity "
        "FROM stations GROUP BY place"
        if exists(con, "stations")
        else _TRIP_NAMES
        if exists(con, "trip_names")
        else _NONE
    )
    known = f"""
        SELECT coalesce(s.place, t.place) AS place, s.name, coalesce(s.lat, t.lat) AS lat,
               coalesce(s.lng, t.lng) AS lng, s.capacity
        FROM ({stations}) s FULL JOIN (
            SELECT place, {_LAT} AS lat, {_LNG} AS lng
            FROM (SELECT start_place AS place, start_lat AS lat, start_lng AS lng FROM trips WHERE {COUNTED})
            WHERE place IS NOT NULL GROUP BY place) t ON t.place = s.place"""
    if kind == "hub":
        known = f"""
            SELECT hub AS place, NULL::VARCHAR AS name, {_LAT} AS lat, {_LNG} AS lng,
                   CASE WHEN count(capacity) = count(*) THEN sum(capacity) END AS capacity
            FROM ({known}) JOIN _members USING (place) GROUP BY hub"""
    found = con.execute(f"""
        SELECT p.unique_id, coalesce(k.name, p.unique_id) AS name, k.lat, k.lng, k.capacity::DOUBLE capacity
        FROM (SELECT DISTINCT unique_id FROM panel) p LEFT JOIN ({known}) k ON k.place = p.unique_id
        ORDER BY p.unique_id""").fetchnumpy()
    columns = {name: plain(values) for name, values in found.items()}
    if kind == "h3":
        import h3

        centres = np.array([h3.cell_to_latlng(cell) for cell in columns["unique_id"]]).reshape(-1, 2)
        columns["lat"], columns["lng"] = centres[:, 0], centres[:, 1]
    return columns
