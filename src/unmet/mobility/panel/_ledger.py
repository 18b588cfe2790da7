"""The ledger: all events of all places, and the time range in which they are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmet.calendar import interval_seconds, local_day
from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._inferred_stock import IDLE, infer_moves
from unmet.mobility.panel._known_time import Unknown, find_unknown
from unmet.mobility.panel._places import Places, exists, number_places
from unmet.mobility.panel._presence import Presence
from unmet.mobility.panel._read_events import add_records, add_rides, write_levels
from unmet.mobility.panel._reconciliation import Feed, Records, kind_of_feed
from unmet.tables import private_folder

if TYPE_CHECKING:
    import duckdb

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

    def close(self) -> None:
        """Delete the events, which may take as much space as the rides."""
        self.events.close()
        if self.presence is not None:
            self.presence.close()


def open_ledger(
    con: duckdb.DuckDBPyConnection,
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
