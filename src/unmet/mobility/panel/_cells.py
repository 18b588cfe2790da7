"""H3 cells as places, for vehicles without stations."""

from __future__ import annotations

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.panel._places import COUNTED
from unmet.tables import identifier

_DECIMALS = 5  # about a metre; leaves fewer distinct coordinates to look up
RIDE = 1_200  # seconds that a ride is assumed to last if nobody says
_IDLE_AT_MOST = 3 * 86_400
_MOST_WITHOUT_END = 0.5
ABSENT = "A cell without a vehicle for over a day is unknown, not empty: only shorter absences lose rides."
LEAST_HOURS, LEAST_PICKUPS = 48, 10  # with a vehicle, and taken there: demand of a cell can be told


def cell_trips(con: Connection, trips: str, resolution: int) -> tuple[str, list[str]]:
    """Write a table of the rides with H3 cells as their places; return its name, and what was assumed.

    A ride without coordinates has no place. Each distinct coordinate is looked up once. Where pickups alone
    are known, a ride is assumed to last `RIDE` seconds, at most half the time to the next ride of its
    vehicle, and to end where that one starts. If that is days later the vehicle was in repair or gone: no
    end is assumed.
    """
    import h3

    if not isinstance(resolution, int) or isinstance(resolution, bool) or not 0 <= resolution <= 15:
        raise ValueError(f"h3_resolution must be a whole number from 0 to 15, got {resolution!r}")
    rides = identifier(trips)
    points = con.execute(f"""
        SELECT DISTINCT lat, lng FROM (
            SELECT round(start_lat, {_DECIMALS}) AS lat, round(start_lng, {_DECIMALS}) AS lng FROM {rides}
            UNION ALL SELECT round(end_lat, {_DECIMALS}), round(end_lng, {_DECIMALS}) FROM {rides})
        WHERE lat BETWEEN -90 AND 90 AND lng BETWEEN -180 AND 180 ORDER BY lat, lng""").fetchnumpy()
    if not len(points["lat"]):
        raise ValueError(
            "h3_resolution needs rides with coordinates, and no ride has any; use stations as places instead"
        )
    names = [h3.latlng_to_cell(lat, lng, resolution) for lat, lng in zip(points["lat"], points["lng"])]
    frame = {
        "lat": np.asarray(points["lat"]),
        "lng": np.asarray(points["lng"]),
        "cell": np.array(names, object),
    }
    con.register("_frame", frame)
    con.execute("CREATE OR REPLACE TEMP TABLE _cells AS SELECT lat, lng, cell::VARCHAR AS cell FROM _frame")
    con.unregister("_frame")
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _cell_trips AS
        SELECT vehicle_id, started_at, ended_at, s.cell AS start_place, e.cell AS end_place, flag
        FROM {identifier(trips)} LEFT JOIN _cells s
            ON s.lat = round(start_lat, {_DECIMALS}) AND s.lng = round(start_lng, {_DECIMALS})
        LEFT JOIN _cells e ON e.lat = round(end_lat, {_DECIMALS}) AND e.lng = round(end_lng, {_DECIMALS});
        DROP TABLE _cells""")
    return "_cell_trips", _assume_ends(con)


def _assume_ends(con: Connection) -> list[str]:
    """Fill in the ends of rides if most have none; return a sentence that says so."""
    [(rides, ended)] = con.execute(
        f"SELECT count(*), count(ended_at) FROM _cell_trips WHERE {COUNTED} AND vehicle_id IS NOT NULL"
    ).fetchall()
    if not rides or ended > _MOST_WITHOUT_END * rides:
        return []
    later = "lead(started_at) OVER w"
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _cell_trips AS
        SELECT vehicle_id, started_at, start_place, flag,
               CASE WHEN assumed THEN started_at + least((next_at - started_at) / 2, INTERVAL {RIDE} SECOND)
                    ELSE ended_at END AS ended_at,
               CASE WHEN assumed THEN next_place ELSE end_place END AS end_place
        FROM (SELECT *, {later} AS next_at, lead(start_place) OVER w AS next_place,
                     ended_at IS NULL AND vehicle_id IS NOT NULL
                     AND {later} - started_at <= INTERVAL {_IDLE_AT_MOST} SECOND AS assumed
              FROM _cell_trips WHERE {COUNTED}
              WINDOW w AS (PARTITION BY vehicle_id ORDER BY started_at, start_place))""")
    return [
        f"Rides have no ends in the data: each is assumed to last {RIDE // 60} minutes and to end where its "
        f"vehicle starts next; vehicles idle for over {_IDLE_AT_MOST // 86_400} days count as out of service."
    ]


def drop_unserved(con: Connection, hours: float) -> list[str]:
    """Drop cells from table ``panel`` in which too little was seen; return a sentence that says how many.

    Demand of a cell is told only by time in which a vehicle stood there.

    Parameters
    ----------
    hours : length of a period.
    """
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _unserved AS
        SELECT unique_id, sum(y) AS pickups FROM panel GROUP BY unique_id
        HAVING coalesce(sum(exposure * observed), 0) * {hours} < {LEAST_HOURS} OR sum(y) < {LEAST_PICKUPS}""")
    [(cells, pickups)] = con.execute("SELECT count(*), sum(pickups)::BIGINT FROM _unserved").fetchall()
    [(every,)] = con.execute("SELECT count(DISTINCT unique_id) FROM panel").fetchall()
    if not cells:
        return []
    if cells == every:
        raise ValueError(
            f"no cell had a vehicle for {LEAST_HOURS} hours and {LEAST_PICKUPS} pickups; use larger cells "
            "(a lower h3_resolution) or more trip files"
        )
    con.execute(
        "DELETE FROM panel WHERE unique_id IN (SELECT unique_id FROM _unserved); DROP TABLE _unserved"
    )
    return [
        f"{cells:,} of {every:,} cells are left out, with {pickups:,} pickups: a vehicle stood there for "
        f"under {LEAST_HOURS} hours, or fewer than {LEAST_PICKUPS} left."
    ]
