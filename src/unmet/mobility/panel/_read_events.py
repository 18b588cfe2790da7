"""Copy rides and status records from their tables to the event file."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import PICKUP, RECORD, RETURN
from unmet.mobility.panel._places import COUNTED, KNOWN, Extent, Places
from unmet.tables import identifier

if TYPE_CHECKING:
    import duckdb

_ROWS_AT_ONCE = 4_000_000
_SECOND = 1_000_000  # in microseconds


def add_rides(con: duckdb.DuckDBPyConnection, events: EventFile, trips: str, places: Places) -> None:
    """Add a pickup and a return for each ride that counts."""
    for kind, place, moment, extent in (
        (PICKUP, "start_place", "started_at", places.starts),
        (RETURN, "end_place", "ended_at", places.ends),
    ):
        key = events.key("no", f"epoch_us({moment}) // {_SECOND}", kind)
        for here in _stretches(moment, extent):
            events.add(
                con.execute(f"""
                    SELECT {key} AS key FROM {identifier(trips)} JOIN _places ON place = {place}
                    WHERE {COUNTED} AND {here}""").fetchnumpy()["key"]
            )


def write_levels(con: duckdb.DuckDBPyConnection) -> np.ndarray:
    """Write table ``_levels(code, level)``: a code for each stock in table ``status``; return stocks by code.

    There are few distinct stocks, so codes are small even if a stock is huge.
    """
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _levels AS
        SELECT (row_number() OVER (ORDER BY level) - 1)::BIGINT AS code, level
        FROM (SELECT DISTINCT available AS level FROM status WHERE {KNOWN})""")
    found = con.execute("SELECT level FROM _levels ORDER BY code").fetchnumpy()["level"]
    return np.asarray(found, np.int64)


def add_records(con: duckdb.DuckDBPyConnection, events: EventFile, places: Places) -> None:
    """Add the last record of each place and second, which shows the stock at the end of that second.

    The value of a record is twice the code of its stock, plus one if the place was renting.
    """
    value = "2 * code + coalesce(renting, true)::BIGINT"
    key = events.key("no", f'epoch_us("at") // {_SECOND}', RECORD, value)
    source = "JOIN _places USING (place) JOIN _levels ON level = available"
    for here in _stretches('"at"', places.records):
        keys = con.execute(f"SELECT {key} AS key FROM status {source} WHERE {KNOWN} AND {here}").fetchnumpy()[
            "key"
        ]
        keys = np.sort(keys)
        if events.same_moment(keys).any():
            keys = con.execute(f"""
                SELECT last(key ORDER BY "at", position) AS key
                FROM (SELECT {key} AS key, "at", position
                      FROM (SELECT *, row_number() OVER () AS position FROM status) {source}
                      WHERE {KNOWN} AND {here})
                GROUP BY {events.moment("key")}""").fetchnumpy()["key"]
        events.add(keys)


def _stretches(moment: str, extent: Extent | None) -> list[str]:
    """Return SQL conditions on a timestamp that divide rows into parts of whole seconds.

    Fetching parts bounds memory. Files are mostly in order of time, so the database reads few other rows.
    """
    if extent is None:
        return []
    first, last = extent.first // _SECOND, extent.last // _SECOND
    parts = 1 + extent.rows // _ROWS_AT_ONCE
    width = (last - first) // parts + 1
    edges = [f"make_timestamp({edge * _SECOND})" for edge in range(first, last + 1 + width, width)]
    return [f"{moment} >= {low} AND {moment} < {high}" for low, high in pairwise(edges)]
