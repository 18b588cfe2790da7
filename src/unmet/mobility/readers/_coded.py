"""Rows of plain files: texts by number, in small tables of their own, and a view that shows them as texts.

A text in every row costs several times as much to store as a number, while a small table that is joined by
numbers without gaps costs a query next to nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Coded:
    """Tables of one kind, the `rows` and what their numbers mean, with their columns."""

    rows: str
    tables: dict[str, str]
    canonical: str  # the columns of the canonical table, as SQL
    kept: str  # columns of the rows that are wanted while files are read
    joined: str  # the tables, each name after {prefix}

    def select(self, prefix: str = "", staging: bool = False) -> str:
        """SQL of the canonical columns; while files are read also which row it is (``id``) and `kept`."""
        more = f", {self.kept}, r.rowid AS id" if staging else ""
        return f"SELECT {self.canonical}{more} FROM {self.joined.format(prefix=prefix)}"


CODED = {
    "trips": Coded(
        "trip_rows",
        {
            "trip_rows": (
                "vehicle INTEGER, started_at TIMESTAMP, ended_at TIMESTAMP, start_stop INTEGER, "
                "end_stop INTEGER, flag VARCHAR, line BIGINT, source_number INTEGER"
            ),
            "trip_stops": "stop INTEGER, place VARCHAR, lat DOUBLE, lng DOUBLE, test BOOLEAN",
            "trip_vehicles": "vehicle INTEGER, vehicle_id VARCHAR",
            "trip_sources": "source_number INTEGER, source VARCHAR",
        },
        "NULL::VARCHAR AS ride_id, v.vehicle_id, r.started_at, r.ended_at, "
        "s.place AS start_place, e.place AS end_place, s.lat AS start_lat, s.lng AS start_lng, "
        "e.lat AS end_lat, e.lng AS end_lng, r.flag, o.source, r.line",
        "r.source_number",
        "{prefix}trip_rows AS r JOIN {prefix}trip_stops AS s ON s.stop = r.start_stop "
        "JOIN {prefix}trip_stops AS e ON e.stop = r.end_stop "
        "JOIN {prefix}trip_vehicles AS v ON v.vehicle = r.vehicle "
        "JOIN {prefix}trip_sources AS o ON o.source_number = r.source_number",
    ),
    "status": Coded(
        "status_rows",
        {
            "status_rows": (
                'station INTEGER, "at" TIMESTAMP, available INTEGER, docks INTEGER, renting BOOLEAN, '
                '"returning" BOOLEAN, line BIGINT, source_number INTEGER'
            ),
            "status_stations": "station INTEGER, place VARCHAR",
        },
        's.place, r."at", r.available, r.docks, r.renting, r."returning"',
        "r.line, r.source_number",
        "{prefix}status_rows AS r JOIN {prefix}status_stations AS s ON s.station = r.station",
    ),
}
