"""The ledger: rides and records of all places as events, and the time range in which they are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.calendar import interval_seconds, local_day
from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import PICKUP, RECORD, RETURN
from unmet.mobility.panel._inferred_stock import IDLE, infer_moves
from unmet.mobility.panel._known_time import Unknown, find_unknown
from unmet.mobility.panel._places import COUNTED, KNOWN, Extent, Places, exists, number_places
from unmet.mobility.panel._presence import Presence
from unmet.mobility.panel._reconciliation import Feed, Records, kind_of_feed
from unmet.tables import identifier, private_folder

Progress = Callable[[str, int, int], None]
_SKEW = 60  # seconds by which the clocks of feed and rides may differ


@dataclass(frozen=True)
class Ledger:
    """Places, their events, and the first and last known second, counted since 1970.

    Attributes
    ----------
    levels : stock for each code in the values of records.
    feed : how to read the status records; None if there are none.
    inferred_from : what stock was inferred from; None if every place has records.
    presence : what vehicle ids tell about places without records; None without ids or such places.
    unknown : time in which nothing is known.
    cells : whether places are cells of a map, in which vehicles stand anywhere.
    """

    places: Places
    events: EventFile
    levels: np.ndarray
    first: int
    last: int
    feed: Feed | None
    inferred_from: str | None
    presence: Presence | None
    unknown: Unknown
    cells: bool

    def share(self, folder: Path) -> Ledger:
        """Return the same ledger with its events in files of `folder`, for processes that see it."""
        presence = None if self.presence is None else self.presence.share(folder)
        return replace(self, events=self.events.share(folder), presence=presence)

    @property
    def files(self) -> list[str]:
        """The files of events that are shared."""
        found = [self.events.name, None if self.presence is None else self.presence.name]
        return [name for name in found if name is not None]

    def close(self) -> None:
        """Delete the events, which may take as much space as the rides."""
        self.events.close()
        if self.presence is not None:
            self.presence.close()


def open_ledger(
    con: Connection,
    *,
    zone: str,
    trips: str = "trips",
    stations: bool = True,
    max_gap: str | None = None,
    feed: str | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Number the places, collect rides and records, and infer moves at places without records.

    Parameters
    ----------
    stations : whether tables ``status`` and ``stations`` describe the places of these rides.
    """
    if feed not in (None, "events", "snapshots"):
        raise ValueError(f"feed must be None, 'events' or 'snapshots', got {feed!r}")
    gap = None if max_gap is None else interval_seconds(max_gap, "max_gap")
    tell = progress or (lambda label, done, total: None)
    tell("numbering places", 0, 1)
    status = stations and exists(con, "status")
    places = number_places(con, trips, status=status, docks=stations and exists(con, "stations"))
    levels = write_levels(con) if places.records else np.zeros(1, np.int64)
    extents = [extent for extent in (places.starts, places.ends, places.records) if extent]
    events = EventFile(
        private_folder(con),
        len(places),
        min(extent.first for extent in extents) // 1_000_000 - 2 * IDLE,
        max(extent.last for extent in extents) // 1_000_000 + 2 * IDLE,
        2 * len(levels),
    )
    add_rides(con, events, trips, places)
    add_records(con, events, places)
    first, last = _known_range(places, zone)
    kind = Feed(feed or _told_kind(events, levels), gap, _SKEW, last) if status else None
    unknown = find_unknown(con, places, events, trips, zone, (first, last), signs=stations, max_gap=gap)
    tell("inferring stock", 0, 1)
    inferred_from, presence = infer_moves(con, places, events, trips, zone, (first, last))
    return Ledger(
        places, events, levels, first, last, kind, inferred_from, presence, unknown, cells=not stations
    )


def _told_kind(events: EventFile, levels: np.ndarray) -> str:
    """Return the kind of the feed, judged by the first places that have records."""
    for first, last in events.batches():
        batch = events.fetch(first, last)
        if len(batch.value):
            return kind_of_feed(batch.keys, Records.of(batch, levels))
    return "events"


def _known_range(places: Places, zone: str) -> tuple[int, int]:
    """Return the first and last known second: the range of the rides, extended by records of the same days.

    Trip files cover whole local days. On a day with rides, hours without rides are therefore known to have
    had none, if there are records. On days beyond the trip files, zero pickups would be a guess.
    """
    first, last = places.first_ride, places.last_ride
    if places.records:
        first = min(first, max(places.records.first // 1_000_000, local_day(first, zone)[0]))
        last = max(last, min(places.records.last // 1_000_000, local_day(last, zone)[1] - 1))
    return first, last


_ROWS_AT_ONCE = 4_000_000
_SECOND = 1_000_000  # in microseconds


def add_rides(con: Connection, events: EventFile, trips: str, places: Places) -> None:
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


def write_levels(con: Connection) -> np.ndarray:
    """Write table ``_levels(code, level)``: a code for each stock in table ``status``; return stocks by code.

    There are few distinct stocks, so codes are small even if a stock is huge.
    """
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _levels AS
        SELECT (row_number() OVER (ORDER BY level) - 1)::BIGINT AS code, level
        FROM (SELECT DISTINCT available AS level FROM status WHERE {KNOWN})""")
    found = con.execute("SELECT level FROM _levels ORDER BY code").fetchnumpy()["level"]
    return np.asarray(found, np.int64)


def add_records(con: Connection, events: EventFile, places: Places) -> None:
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
