"""Names, coordinates and docks of the places of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility.panel._places import COUNTED, exists
from unmet.tables import Columns, plain

if TYPE_CHECKING:
    import duckdb

# Average whole micro-degrees, because sums of floats depend on the number of threads.
_LAT, _LNG = (f"avg(round({name} * 1000000)::BIGINT) / 1e6" for name in ("lat", "lng"))
_NONE = (
    "SELECT NULL::VARCHAR AS place, NULL::VARCHAR AS name, NULL::DOUBLE AS lat, NULL::DOUBLE AS lng, "
    "NULL::INTEGER AS capacity WHERE false"
)
_TRIP_NAMES = (
    "SELECT place, name, NULL::DOUBLE AS lat, NULL::DOUBLE AS lng, NULL::INTEGER AS capacity FROM trip_names"
)


def place_table(con: duckdb.DuckDBPyConnection, kind: str) -> Columns:
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
