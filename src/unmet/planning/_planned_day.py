"""Which day a plan is for, and what was wanted and lost on the last such weekdays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unmet.calendar import WEEKDAYS, local_seconds, make_calendar, operating_day, same_weekday

KNOWN_DAY = 0.75  # share of the usually known rows that must be known of a day


def planned_day(ds: np.ndarray, zone: str, by: str) -> dict[str, str]:
    """Return date, weekday, start and end by the local clock of the periods `ds` (naive UTC) of a plan.

    Examples
    --------
    >>> hours = np.datetime64("2024-03-04T09", "us") + np.arange(24) * np.timedelta64(1, "h")
    >>> planned_day(hours, "America/New_York", "hour")["starts"]
    '2024-03-04T04:00'
    """
    ends = ds[[0, -1]].astype("datetime64[s]")
    ends[1] += np.timedelta64(3600 if by == "hour" else 0, "s")
    local = local_seconds(ends, zone).astype("datetime64[s]").astype("datetime64[m]")
    if by != "hour":
        local[1] += np.timedelta64(1, "D")
    day = make_calendar(ds[:1], zone, by)
    return {
        "date": str(local[0].astype("datetime64[D]")),
        "weekday": WEEKDAYS[int(day.weekday[0])],
        "starts": str(local[0]),
        "ends": str(local[1]),
        "zone": zone,
    }


def such_days(
    lost: Mapping[str, np.ndarray], ds: np.ndarray, zone: str, by: str, *, days: int = 4
) -> list[dict[str, Any]]:
    """Return estimated demand and lost rides of all places on the last whole days of that weekday, in order.

    Parameters
    ----------
    lost : columns ``ds``, ``y``, ``lost_mean`` and ``exposure`` of the past (`DemandModel.lost`). Days of
        which much less is known than usual are skipped.
    ds : periods (naive UTC) of the day to compare with. Days start at four o'clock local time, as it does;
        by day they start at midnight.
    days : how many at most.
    """
    times, row = np.unique(lost["ds"], return_inverse=True)
    calendar = make_calendar(times, zone, by)
    numbers, begins, periods = np.unique(operating_day(calendar, by), return_index=True, return_counts=True)
    seen, gone = (
        np.add.reduceat(np.bincount(row, np.nan_to_num(lost[name].astype(float))), begins)
        for name in ("y", "lost_mean")
    )
    known = np.isfinite(lost["exposure"].astype(float)) if "exposure" in lost else np.ones(len(row), bool)
    share = np.add.reduceat(np.bincount(row, known), begins) / np.add.reduceat(np.bincount(row), begins)
    # A day on which the clocks change has 23 hours; the first and the last of a panel may have fewer.
    whole = (periods >= (23 if by == "hour" else 1)) & (share >= KNOWN_DAY * share.max())
    complete = np.flatnonzero(whole)
    chosen = complete[same_weekday(numbers[complete], int(make_calendar(ds[:1], zone, by).day[0]), days)]
    dates = numbers.astype("datetime64[D]").astype(str)
    return [
        {"date": str(dates[k]), "demand": float(seen[k] + gone[k]), "lost": float(gone[k])} for k in chosen
    ]
