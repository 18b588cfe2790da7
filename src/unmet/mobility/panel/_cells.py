"""H3 cells as places, for vehicles without stations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmet.tables import identifier

if TYPE_CHECKING:
    import duckdb

_DECIMALS = 5  # about a metre; leaves fewer distinct coordinates to look up


def cell_trips(con: duckdb.DuckDBPyConnection, trips: str, resolution: int) -> str:
    """Write a table of the rides with H3 cells as their places, and return its name.

    A ride without coordinates has no place. Each distinct coordinate is looked up once.
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
    return "_cell_trips"
