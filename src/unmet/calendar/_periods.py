"""Periods: local hours, days or any other step, with their true length, and those that come next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from unmet.calendar._step import step_of
from unmet.calendar._zones import check_zone
from unmet.runs import naming_extras
from unmet.tables import scratch

_DAY = 86_400
_CALENDAR_STEPS = ("day", "week", "month", "quarter", "year")
_PERIODS_AT_MOST = 50_000_000


@dataclass(frozen=True)
class Periods:
    """Periods that follow each other: their starts and the end of the last one, in seconds since 1970."""

    starts: NDArray[np.int64]
    last: int
    by: str
    zone: str

    @property
    def first(self) -> int:
        return int(self.starts[0])

    @property
    def count(self) -> int:
        return len(self.starts)


def interval_seconds(interval: str, argument: str) -> int:
    """Return the length of an interval such as ``"2 hours"`` in whole seconds; a month has 30 days.

    Parameters
    ----------
    interval : as DuckDB reads it.
    argument : name to use in the error.
    """
    with naming_extras():
        import duckdb

    with scratch() as con:
        try:
            row = con.execute("SELECT epoch(?::INTERVAL)::BIGINT", [interval]).fetchone()
        except duckdb.Error:
            row = None
    if not row or row[0] is None or row[0] <= 0:
        raise ValueError(f"{argument}={interval!r} is not a positive interval; write for instance '2 hours'")
    return int(row[0])


def local_day(second: int, zone: str) -> tuple[int, int]:
    """Return start and end of the local day that holds a moment, all in seconds since 1970."""
    day = _local_date(second, zone)
    return _midnight(day, zone), _midnight(day + timedelta(days=1), zone)


def local_hour(day: date, hour: int, zone: str) -> np.datetime64:
    """Return when the clock first shows a full hour of a local day, in naive UTC.

    Raises OverflowError if that is before the year 1 or after the year 9999.

    >>> str(local_hour(date(2024, 3, 10), 4, "America/New_York"))
    '2024-03-10T08:00:00.000000'
    """
    local = datetime.combine(day, time(hour), ZoneInfo(zone))
    return np.datetime64(local.astimezone(UTC).replace(tzinfo=None), "us")


def local_date(moment: np.datetime64, zone: str) -> date:
    """Return the local date at a moment in naive UTC."""
    return _local_date(int(moment.astype("datetime64[s]").astype(np.int64)), zone)


def make_periods(by: str, zone: str, first: int, last: int) -> Periods:
    """Return the periods from the one that holds `first` to the one that holds `last` (seconds since 1970).

    Days and longer steps run from local midnight to local midnight, so a spring day has 23 hours and an
    autumn day 25. Shorter steps count elapsed time from local midnight and are cut at the next one: the
    hour that a clock shows twice is two periods.

    Parameters
    ----------
    by : ``"hour"``, ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"`` or an interval such as
        ``"15 minutes"``.
    """
    check_zone(zone)
    step = re.sub(r"^1\s+", "", by.strip().lower()).rstrip("s")
    days, length = 1, None
    if step not in _CALENDAR_STEPS:
        seconds = interval_seconds(by if re.match(r"^\d", by.strip()) else f"1 {by}", "by")
        if seconds >= _DAY and seconds % _DAY:
            raise ValueError(f"by={by!r}: a step longer than a day must be whole days")
        days, length = (seconds // _DAY, None) if seconds >= _DAY else (1, seconds)
        step = "day"
        if length and (last - first) // length > _PERIODS_AT_MOST:
            raise ValueError(f"by={by!r} makes too many periods for this range; choose a longer step")
    try:
        day, end = _first_of(_local_date(first, zone), step), _local_date(last, zone)
        edges = [_midnight(day, zone)]
        while day <= end:
            day = _after(day, step, days)
            edges.append(_midnight(day, zone))
    except OverflowError:
        raise ValueError("trips run beyond the calendar; remove rows with impossible times") from None
    starts, stops = np.array(edges[:-1]), np.array(edges[1:])
    if length:
        starts = np.concatenate([np.arange(a, b, length) for a, b in zip(starts, stops)])
        stops = np.append(starts[1:], stops[-1])
    kept = (stops > first) & (starts <= last)
    return Periods(starts[kept], int(stops[kept][-1]), by, zone)


def next_periods(last: np.datetime64, count: int, zone: str, by: str) -> NDArray[np.datetime64]:
    """Return the starts of the `count` periods after the one that starts at `last` (naive UTC).

    Steps of at most an hour count elapsed time; longer ones go by the local clock.
    """
    step = step_of(by).seconds
    try:
        if step <= 3600:
            return last + np.arange(1, count + 1) * np.timedelta64(step * 10**6, "us")
        second = int(last.astype("datetime64[s]").astype(np.int64))
        clock = datetime.fromtimestamp(second, UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
        if second == _midnight(clock.date(), zone):  # a day that skips midnight starts at one
            clock = datetime.combine(clock.date(), time.min)
        local = [clock + timedelta(seconds=step * k) for k in range(1, count + 1)]
        starts = [int(one.replace(tzinfo=ZoneInfo(zone)).timestamp()) for one in local]
        return np.array(starts, "datetime64[s]").astype("datetime64[us]")
    except OverflowError:
        raise ValueError(f"horizon={count} runs beyond the calendar: ask for fewer periods") from None


def _local_date(second: int, zone: str) -> date:
    return datetime.fromtimestamp(second, UTC).astimezone(ZoneInfo(zone)).date()


def _midnight(day: date, zone: str) -> int:
    """Return when a local day starts: its first midnight, or the change of the clock that skips midnight."""
    return int(datetime.combine(day, time.min, ZoneInfo(zone)).timestamp())


def _first_of(day: date, step: str) -> date:
    if step == "week":
        return day - timedelta(days=day.weekday())
    month = {"month": day.month, "quarter": 3 * ((day.month - 1) // 3) + 1, "year": 1}.get(step)
    return day if month is None else date(day.year, month, 1)


def _after(day: date, step: str, days: int) -> date:
    if step in ("day", "week"):
        return day + timedelta(days=7 if step == "week" else days)
    months = day.month - 1 + {"month": 1, "quarter": 3, "year": 12}[step]
    if day.year + months // 12 > date.max.year:
        raise OverflowError
    return date(day.year + months // 12, months % 12 + 1, 1)
