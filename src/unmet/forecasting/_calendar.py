"""The local calendar of periods: cells of hour and kind of day, hours of the week, days, the next periods."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
_US = np.timedelta64(1, "us")


@dataclass(frozen=True)
class Calendar:
    """What the clock and the calendar on the wall say at each of T periods.

    Attributes
    ----------
    cell : kind of day (working day, Saturday, Sunday) and hour: 72 cells; by day, the weekday: 7.
    week : hour of the week, 168; by day the weekday.
    day : local day as days since 1970.
    hour, weekday : local; Monday is 0.
    years : time in years since 1970, for trends.
    """

    cell: Whole
    week: Whole
    day: Whole
    hour: Whole
    weekday: Whole
    years: NDArray[np.float64]
    cells: int
    weeks: int


def make_calendar(ds: NDArray[np.datetime64], zone: str, by: str) -> Calendar:
    """The calendar of periods that start at `ds` (naive UTC)."""
    seconds = ds.astype("datetime64[s]").astype(np.int64)
    local = seconds + utc_offset(seconds, zone)
    day = local // 86400
    hour = (local % 86400) // 3600
    weekday = (day + 3) % 7  # 1 January 1970 was a Thursday
    kind = np.maximum(weekday - 4, 0)
    years = seconds / (365.25 * 86400)
    if by == "day":
        return Calendar(weekday, weekday, day, hour * 0, weekday, years, 7, 7)
    return Calendar(kind * 24 + hour, weekday * 24 + hour, day, hour, weekday, years, 72, 168)


def utc_offset(seconds: Whole, zone: str) -> Whole:
    """Seconds that local time is ahead of UTC; looked up once per quarter of an hour that occurs."""
    place = ZoneInfo(zone)
    quarter, back = np.unique(seconds // 900, return_inverse=True)
    offsets = []
    for stamp in quarter:
        offset = datetime.fromtimestamp(int(stamp) * 900, UTC).astimezone(place).utcoffset()
        assert offset is not None
        offsets.append(int(offset.total_seconds()))
    return np.array(offsets, np.int64)[back]


def next_periods(last: np.datetime64, count: int, zone: str, by: str) -> NDArray[np.datetime64]:
    """Starts of the `count` periods after the one that starts at `last`."""
    try:
        if by == "hour":
            return last + np.arange(1, count + 1) * np.timedelta64(3600 * 10**6, "us")
        place = ZoneInfo(zone)
        moment = datetime.fromtimestamp(int((last - np.datetime64(0, "us")) / _US) / 1e6, UTC).astimezone(
            place
        )
        midnights = [
            datetime.combine(moment.date() + timedelta(days=step), datetime.min.time(), place).astimezone(UTC)
            for step in range(1, count + 1)
        ]
        return np.array([midnight.replace(tzinfo=None) for midnight in midnights], "datetime64[us]")
    except OverflowError:
        raise ValueError(f"horizon={count} runs beyond the calendar: ask for fewer periods") from None
