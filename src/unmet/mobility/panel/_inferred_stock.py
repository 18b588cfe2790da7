"""Infer the stock of places without status records from rides, vehicle ids and docks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility.panel._day_stock import add_night_moves
from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import DELIVERY, REMOVAL
from unmet.mobility.panel._hazard import Hazard, make_hazard
from unmet.mobility.panel._places import COUNTED, Places
from unmet.mobility.panel._presence import VALUES, Presence
from unmet.mobility.panel._stays import Stays, read_stays
from unmet.mobility.panel._van_times import Chances, chances, vans_by_hour
from unmet.tables import identifier, private_folder

if TYPE_CHECKING:
    import duckdb

IDLE = 86_400  # seconds for which stock is followed before the first and after the last ride
FROM_IDS, FROM_COUNTS = "vehicle ids", "ride counts"
_MARGIN = 40 * 86_400  # a period, at most a month, may start before the first ride and end after the last
_NAMELESS_AT_MOST = 0.05
_SURE_BELOW = 2.0  # a vehicle that stood while its share of demand was this many rides could be rented
_SURE = 0.9  # a vehicle that could be rented with this chance throughout surely stood there
_TURNS = 3
_STAYS_AT_ONCE = 100_000


def infer_moves(
    con: duckdb.DuckDBPyConnection,
    places: Places,
    events: EventFile,
    trips: str,
    zone: str,
    known: tuple[int, int],
) -> tuple[str | None, Presence | None]:
    """Add deliveries and removals at the places without records.

    Return what they were inferred from, None if every place has records, and what vehicle ids tell about
    those places, None without ids.

    Parameters
    ----------
    known : first and last known second.
    """
    if places.observed.all():
        return None, None
    [(rides, named)] = con.execute(
        f"SELECT count(*), count(vehicle_id) FROM {identifier(trips)} WHERE {COUNTED}"
    ).fetchall()
    first, last = known[0], known[1] + 1
    if named < (1 - _NAMELESS_AT_MOST) * rides:
        add_night_moves(places, events, zone, first - IDLE, last + IDLE)
        return FROM_COUNTS, None
    return FROM_IDS, _from_vehicles(con, places, events, trips, first, last)


def _from_vehicles(
    con: duckdb.DuckDBPyConnection, places: Places, events: EventFile, trips: str, first: int, last: int
) -> Presence:
    """Add the moves of vans, and return where vehicles surely and perhaps stood.

    Where vehicles stood tells how soon they are rented; this tells when vans came and which vehicles could
    not be rented, and so again where vehicles stood.
    """
    presence = _new_presence(con, places, first, last)
    for stays in read_stays(con, places, trips, first, last):
        stood = stays.where(stays.a == stays.b)
        presence.add_sure(stood.a, stood.t1, stood.t2)
    for turn in range(_TURNS):
        hazard = make_hazard(events, presence, len(places), first, last)
        presence.close()
        presence = _new_presence(con, places, first, last)
        clock: np.ndarray | None = None
        for stays in read_stays(con, places, trips, first, last):
            clock = vans_by_hour(stays, hazard) if clock is None else clock
            for begin in range(0, len(stays), _STAYS_AT_ONCE):
                part = stays.where(np.arange(begin, min(begin + _STAYS_AT_ONCE, len(stays))))
                others = _add_sure(part, hazard, presence)
                found = chances(others, hazard, clock)
                _add_perhaps(others, found, presence, first, last)
                if turn == _TURNS - 1:
                    _add_moves(others, found, places, events, first, last)
    return presence


def _new_presence(con: duckdb.DuckDBPyConnection, places: Places, first: int, last: int) -> Presence:
    return Presence(EventFile(private_folder(con), len(places), first - _MARGIN, last + _MARGIN, VALUES))


def _add_sure(stays: Stays, hazard: Hazard, presence: Presence) -> Stays:
    """Add vehicles that stood where they were left, for no longer than is plausible; return the others."""
    taken = hazard.until(stays.a, stays.t2) - hazard.until(stays.a, stays.t1)
    sure = (stays.a == stays.b) & (taken < _SURE_BELOW)
    stood = stays.where(sure)
    presence.add_sure(stood.a, stood.t1, stood.t2)
    return stays.where(~sure)


def _add_perhaps(stays: Stays, found: Chances, presence: Presence, first: int, last: int) -> None:
    """Add vehicles that were moved, perhaps could not be rented, or have no ride before or after.

    What holds at the first and last known second holds before and after: nothing more is known.
    """
    ends = found.ends.copy()
    ends[stays.is_first & (stays.t1 == first), 0] -= _MARGIN
    ends[stays.is_last & (stays.t2 == last), -1] += _MARGIN
    stood = stays.a == stays.b
    rentable = stood & (found.at_a.min(axis=1) >= _SURE)
    presence.add_sure(stays.a[rentable], stays.t1[rentable], stays.t2[rentable])
    for at, chance, rows in (
        (stays.a, found.at_a, (stays.a >= 0) & ~rentable),
        (stays.b, found.at_b, (stays.b >= 0) & ~stood),
    ):
        presence.add_perhaps(at[rows], ends[rows], chance[rows])


def _add_moves(
    stays: Stays, found: Chances, places: Places, events: EventFile, first: int, last: int
) -> None:
    """Add the moves of vans at their most likely time.

    A vehicle whose rides are not linked counts only during its rides: there are never more vehicles than
    were seen.
    """
    moved = stays.a != stays.b
    leave = np.where(stays.is_last & (stays.t2 < last), stays.t1, found.left)
    left = moved & (stays.a >= 0) & ~(stays.is_last & (leave >= stays.t2))
    came = moved & (stays.b >= 0)
    # A pickup comes before a delivery of the same second, so the vehicle is brought the second before.
    when = np.where(stays.is_first & (stays.t1 > first), stays.t2, found.came)
    when = np.minimum(when, stays.t2 - 1)
    when = np.where(stays.is_first & (when <= first), first - IDLE, when)
    for at, t, kind, rows in (
        (stays.a, leave, REMOVAL, left & ~places.observed[stays.a]),
        (stays.b, when, DELIVERY, came & ~places.observed[stays.b]),
    ):
        events.add_events(at[rows], t[rows], np.full(int(rows.sum()), kind))
