"""What the local clock and calendar say at the start of periods: hour, weekday, kind of day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.calendar._zones import local_seconds

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Calendar:
    """Local time at the start of each of T periods.

    Attributes
    ----------
    cell : kind of day (working day, Saturday, Sunday or holiday) and hour, 72 cells; by day the weekday, 7
        cells; by week one cell.
    week : hour of the week, 168; by day the weekday; by week 0. A holiday is a Sunday.
    day : local day as days since 1970.
    hour, weekday : local; Monday is 0, on holidays too. By day and week, the hour is 0.
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


def weekday(day: Whole) -> Whole:
    """Return the weekday of days since 1970; Monday is 0."""
    return (day + 3) % 7  # 1 January 1970 was a Thursday


def make_calendar(
    ds: NDArray[np.datetime64], zone: str, by: str, holiday: NDArray[np.float64] | None = None
) -> Calendar:
    """Return the calendar of periods that start at `ds` (naive UTC), by a step such as ``"hour"``.

    Steps shorter than a day have the cell of the hour in which they start.
    Periods where `holiday` is above 0 have the kind of day of a Sunday.
    """
    seconds = ds.astype("datetime64[s]").astype(np.int64)
    local = local_seconds(ds, zone)
    day = local // 86_400
    hour = (local % 86_400) // 3600
    of_week = weekday(day)
    like = of_week if holiday is None else np.where(np.nan_to_num(holiday) > 0, 6, of_week)
    kind = np.maximum(like - 4, 0)
    years = seconds / (365.25 * 86_400)
    if by == "week":
        return Calendar(day * 0, day * 0, day, hour * 0, of_week, years, 1, 1)
    if by == "day":
        return Calendar(like, like, day, hour * 0, of_week, years, 7, 7)
    return Calendar(kind * 24 + hour, like * 24 + hour, day, hour, of_week, years, 72, 168)
