"""Leave out places that do not belong: outside an area, without the wanted attributes, or without rides."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._recognition import normalised
from unmet.mobility.sources._tables import count, next_row
from unmet.tables import literal

_AT_ONCE = 1_000_000  # rows whose coordinates are compared at once
_MAX_BYTES = 64 * 2**20
_HOW = "area must be a point and a radius in km such as 40.72,-74.04,5, or a GeoJSON file with a polygon"


@dataclass(frozen=True)
class Area:
    """Circles (lat, lng, km) and rings of (lng, lat); a point inside an odd number of rings is inside."""

    circle: tuple[float, float, float] | None = None
    rings: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, given: str | os.PathLike[str] | Sequence[float]) -> Area:
        """Return the area that is given as ``(lat, lng, km)``, as text of it, or as a GeoJSON file."""
        parts: Sequence[Any] = given.split(",") if isinstance(given, str) else ()
        if not isinstance(given, str | os.PathLike):
            parts = given
        try:
            numbers = [float(part) for part in parts]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) == 3:
            lat, lng, km = numbers
            if not (abs(lat) <= 90 and abs(lng) <= 180 and 0 < km < math.inf):
                raise ValueError(f"{_HOW}; got {given!r}")
            return cls(circle=(lat, lng, km))
        if isinstance(given, str | os.PathLike) and Path(given).is_file():
            return cls(rings=_rings(Path(given)))
        raise ValueError(f"{_HOW}; got {given!r}")

    def contains(self, lat: np.ndarray, lng: np.ndarray) -> np.ndarray:
        """Return which points lie in the area; unknown ones do not."""
        if self.circle is not None:
            centre_lat, centre_lng, km = self.circle
            north = np.radians(lat - centre_lat)
            east = np.radians(lng - centre_lng) * np.cos(np.radians((lat + centre_lat) / 2))
            return np.asarray(6371 * np.hypot(north, east) <= km)
        inside = np.zeros(len(lat), bool)
        for ring in self.rings:
            for (x1, y1), (x2, y2) in zip(ring, np.roll(ring, -1, axis=0)):
                if y1 == y2:
                    continue
                crosses = (y1 > lat) != (y2 > lat)
                inside ^= crosses & (lng < (x2 - x1) * (lat - y1) / (y2 - y1) + x1)
        return inside


def _rings(path: Path) -> tuple[np.ndarray, ...]:
    """Return the rings of all polygons in a GeoJSON file."""
    rings: list[np.ndarray] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            kind, found = value.get("type"), value.get("coordinates")
            if kind in ("Polygon", "MultiPolygon") and isinstance(found, list):
                for polygon in [found] if kind == "Polygon" else found:
                    rings.extend(np.array([point[:2] for point in ring], dtype=float) for ring in polygon)
                return
            for key in ("features", "geometry", "geometries"):
                collect(value.get(key))
        elif isinstance(value, list):
            for one in value:
                collect(one)

    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ValueError("too large")
        collect(json.loads(path.read_bytes()))
        usable = rings and all(
            ring.ndim == 2 and len(ring) >= 3 and np.isfinite(ring).all() for ring in rings
        )
    except (ValueError, TypeError, IndexError, RecursionError):
        usable = False
    if not usable:
        raise ValueError(f"area: {path.name} holds no polygon in GeoJSON; {_HOW}")
    return tuple(rings)


def leave_out_rides(con: Connection, area: Area) -> int:
    """Delete rides of ``new_trips`` that start outside the area; return how many.

    A place lies where the stations file says, else at the mean start of its rides.
    """
    known = "SELECT place, lat, lng FROM stations WHERE lat IS NOT NULL"
    found = con.execute(f"""
        SELECT place, coalesce(s.lat, t.lat) AS lat, coalesce(s.lng, t.lng) AS lng FROM (
            SELECT start_place AS place, avg(round(start_lat * 1000000)::BIGINT) / 1e6 AS lat,
                avg(round(start_lng * 1000000)::BIGINT) / 1e6 AS lng
            FROM new_trips WHERE start_place IS NOT NULL GROUP BY 1) t LEFT JOIN ({known}) s USING (place)
        ORDER BY place
    """).fetchnumpy()
    before = count(con, "SELECT count(*) FROM new_trips")
    _delete_places(con, "new_trips", "start_place", found, area)
    _delete_points(con, area)
    left = before - count(con, "SELECT count(*) FROM new_trips")
    if left == before:
        raise ValueError(
            "area holds no ride; check latitude and longitude, in this order, and the radius in km"
        )
    return left


def _floats(values: Any) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)


def _delete_places(con: Connection, table: str, column: str, found: dict[str, Any], area: Area) -> None:
    """Delete the rows of places that do not lie in the area."""
    outside = np.asarray(found["place"], object)[~area.contains(_floats(found["lat"]), _floats(found["lng"]))]
    if len(outside):
        con.register("_outside", {"place": outside})
        con.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT place FROM _outside)")
        con.unregister("_outside")


def _delete_points(con: Connection, area: Area) -> None:
    """Delete rides without a start place that start outside the area."""
    for low in range(0, next_row(con, "new_trips"), _AT_ONCE):
        found = con.execute(
            "SELECT rowid AS id, start_lat AS lat, start_lng AS lng FROM new_trips "
            f"WHERE start_place IS NULL AND rowid >= {low} AND rowid < {low + _AT_ONCE}"
        ).fetchnumpy()
        outside = np.asarray(found["id"])[~area.contains(_floats(found["lat"]), _floats(found["lng"]))]
        if len(outside):
            con.register("_outside", {"id": outside})
            con.execute("DELETE FROM new_trips WHERE rowid IN (SELECT id FROM _outside)")
            con.unregister("_outside")


def leave_out_places(
    con: Connection, *, keep: dict[str, str] | None = None, area: Area | None = None, counted: str = "true"
) -> list[str]:
    """Delete the status of places that do not belong, once everything is read; return notes on them.

    Places belong if a ride starts or ends there. With `keep` by an attribute of the stations, and with
    `area`, they must also fit these, and stations that do not are left out too.

    Parameters
    ----------
    counted : SQL condition for the rides that count.
    """
    notes = []
    wanted = [
        "SELECT place FROM station_attributes "
        f"WHERE attribute = {literal(normalised(name))} AND value = {literal(value)}"
        for name, value in (keep or {}).items()
        if count(
            con, f"SELECT count(*) FROM station_attributes WHERE attribute = {literal(normalised(name))}"
        )
    ]
    if wanted:
        fits = " INTERSECT ".join(wanted)
        notes += _left_out(con, f"place NOT IN ({fits})", "keep does not want", ("status", "stations"))
    if area is not None:
        found = con.execute("SELECT place, lat, lng FROM stations ORDER BY place").fetchnumpy()
        outside = np.asarray(found["place"], object)[
            ~area.contains(_floats(found["lat"]), _floats(found["lng"]))
        ]
        con.register("_outside", {"place": outside.astype(object)})
        inside = "place IN (SELECT place FROM _outside)"
        notes += _left_out(con, inside, "lie outside the area", ("status", "stations"))
        con.unregister("_outside")
    ridden = (
        f"SELECT start_place FROM trips WHERE {counted} UNION SELECT end_place FROM trips WHERE {counted}"
    )
    without = f"place NOT IN (SELECT start_place FROM ({ridden}) WHERE start_place IS NOT NULL)"
    return notes + _left_out(con, without, "have a status but no ride", ("status",))


def _left_out(con: Connection, condition: str, why: str, tables: Sequence[str]) -> list[str]:
    names = con.execute(f"SELECT DISTINCT place FROM status WHERE {condition} ORDER BY 1").fetchall()
    for table in tables:
        con.execute(f"DELETE FROM {table} WHERE {condition}")
    if not names:
        return []
    shown = ", ".join(str(row[0]) for row in names[:3]) + (" …" if len(names) > 3 else "")
    return [f"{len(names):,} places that {why} are left out: {shown}"]
