"""Hold the clocks of rides and of status records against each other: a pickup lowers the stock.

If rides and records match much better at another shift, one of the two was read in the wrong time zone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from duckdb import DuckDBPyConnection as Connection

_PLACES = 40  # busiest places that are looked at
_RIDES = 4_000
_FIRST_ROWS = 1_000_000  # of the rides, among which the busiest places are found
_FEWEST = 100  # rides from which a shift can be told
_LEAST = 0.25  # mean fall of the stock at a pickup, from which a shift is believed
_BETTER = 0.15  # by so much it must exceed the fall without a shift
_BIG = 2**40
# Zones by which to call a clock that several zones share, best known first.
_KNOWN = (
    "UTC", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Toronto",
    "America/Mexico_City", "America/Sao_Paulo", "Europe/London", "Europe/Berlin", "Europe/Helsinki",
    "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo", "Asia/Seoul", "Australia/Sydney",
)  # fmt: skip


@dataclass(frozen=True)
class Misfit:
    """The zone in which rides and records match, with the mean fall of the stock at pickups then and now."""

    zone: str
    fall: float
    fall_now: float


@dataclass(frozen=True)
class _Events:
    """Rides (place, second) and records (place, second, stock), the latter in order."""

    ride_place: np.ndarray
    ride_time: np.ndarray
    place: np.ndarray
    time: np.ndarray
    stock: np.ndarray

    def fall(self, ride_time: np.ndarray, time: np.ndarray) -> float:
        """Return the mean fall of the stock around pickups, at these times of rides and records."""
        keys = self.place * _BIG + time
        gaps = np.diff(time)[np.diff(self.place) == 0]
        wait = int(np.clip(1.5 * np.median(gaps) if len(gaps) else 0, 120, 1800))
        now = self.ride_place * _BIG + ride_time
        before = np.searchsorted(keys, now - 60) - 1
        after = np.searchsorted(keys, now + wait, side="right") - 1
        known = (before >= 0) & (self.place[before] == self.ride_place) & (after > before - 1)
        if known.sum() < _FEWEST:
            return 0.0
        fell = self.stock[before[known]] - self.stock[after[known]]
        return float(np.clip(fell, -1, 1).mean())


def misfit_of_status(con: Connection, table: str, zone: str) -> Misfit | None:
    """Return the zone in which naive records, read in `zone`, match the rides; None if `zone` does."""
    return _misfit(
        con, table, zone, lambda events, offset: (events.ride_time, events.time + offset(events.time))
    )


def misfit_of_rides(con: Connection, table: str, zone: str) -> Misfit | None:
    """Return the zone in which naive rides, read in `zone`, match the records; None if `zone` does."""
    return _misfit(
        con, table, zone, lambda events, offset: (events.ride_time + offset(events.ride_time), events.time)
    )


_Offset = Callable[[np.ndarray], np.ndarray]


def _misfit(
    con: Connection, table: str, zone: str, moved: Callable[[_Events, _Offset], tuple[np.ndarray, np.ndarray]]
) -> Misfit | None:
    events = _events(con, table)
    if events is None:
        return None
    now = events.fall(events.ride_time, events.time)
    # A feed that matches well needs no search.
    if now >= 2 * _LEAST:
        return None
    hours = np.arange(-14 * 4, 14 * 4 + 1) * 900
    best = max(events.fall(events.ride_time + shift, events.time) for shift in hours)
    if best < max(_LEAST, now + _BETTER, 2 * now):
        return None
    found = []
    for name, shifts in _clocks(zone, events).items():
        ride_time, time = moved(events, shifts)
        found.append((events.fall(ride_time, time), name))
    # Of zones that hardly differ, name the best known.
    near = [pair for pair in found if pair[0] >= max(found)[0] - 0.02]
    fall, name = min(near, key=lambda pair: (_rank(pair[1]), -pair[0], pair[1]))
    return Misfit(name, fall, now) if name != zone and fall >= max(_LEAST, now + _BETTER) else None


def _rank(name: str) -> int:
    return _KNOWN.index(name) if name in _KNOWN else len(_KNOWN)


def _events(con: Connection, table: str) -> _Events | None:
    """Return rides and records of the busiest places."""
    busiest = f"""
        SELECT start_place AS place, count(*) AS rides FROM trips
        WHERE rowid < {_FIRST_ROWS} AND flag IS NULL AND start_place IN (SELECT DISTINCT place FROM {table})
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_PLACES}"""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE busiest AS "
        f"SELECT place, row_number() OVER (ORDER BY place)::BIGINT AS no FROM ({busiest})"
    )
    try:
        rides = con.execute(f"""
            SELECT no, epoch(started_at)::BIGINT AS t FROM trips JOIN busiest ON place = start_place
            WHERE flag IS NULL AND trips.rowid < {_FIRST_ROWS} ORDER BY hash(trips.rowid), t LIMIT {_RIDES}
        """).fetchnumpy()
        if len(rides["no"]) < _FEWEST:
            return None
        low, high = int(rides["t"].min()) - 2 * 86400, int(rides["t"].max()) + 2 * 86400
        records = con.execute(f"""
            SELECT no, epoch("at")::BIGINT AS t, available::BIGINT AS stock
            FROM {table} JOIN busiest USING (place)
            WHERE available IS NOT NULL AND "at" >= make_timestamp({low * 1_000_000})
              AND "at" < make_timestamp({high * 1_000_000})
            ORDER BY no, t, stock
        """).fetchnumpy()
    finally:
        con.execute("DROP TABLE busiest")
    if len(records["no"]) < _FEWEST:
        return None
    return _Events(*(np.asarray(part[name]) for part, name in (
        (rides, "no"), (rides, "t"), (records, "no"), (records, "t"), (records, "stock"))))  # fmt: skip


def _clocks(zone: str, events: _Events) -> dict[str, _Offset]:
    """Return, for one zone of each kind of clock, how far times read in `zone` move if read in that zone."""
    first, last = int(events.time.min()), int(events.time.max())
    step = max(3600, (last - first) // 1500 // 3600 * 3600)
    first -= first % 3600
    steps = np.arange(first - 86400, last + 2 * 86400, step)
    moments = [datetime.fromtimestamp(int(second), UTC) for second in steps]

    def offsets(name: str) -> tuple[int, ...]:
        info = ZoneInfo(name)
        zero = timedelta(0)
        return tuple(int((moment.astimezone(info).utcoffset() or zero).total_seconds()) for moment in moments)

    mine = np.array(offsets(zone))
    found: dict[tuple[int, ...], str] = {tuple(mine): zone}
    others = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    for name in (*_KNOWN, *others):
        found.setdefault(offsets(name), name)

    def shifts(clock: tuple[int, ...]) -> _Offset:
        moves = mine - np.array(clock)
        return lambda time: moves[np.clip(np.searchsorted(steps, time, side="right") - 1, 0, len(steps) - 1)]

    return {name: shifts(clock) for clock, name in found.items()}
