"""The operating day: from four o'clock to four o'clock local time, when the streets are quietest."""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from unmet.calendar._local_times import Calendar
from unmet.calendar._periods import local_hour

DAY_STARTS = 4  # local hour
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def operating_day(calendar: Calendar, by: str) -> NDArray[np.int64]:
    """Return the operating day of each period as days since 1970; by day it is the local day.

    The hours before four o'clock belong to the day before.
    """
    return calendar.day - (calendar.hour < DAY_STARTS) if by not in ("day", "week") else calendar.day


def day_start(day: date, zone: str, by: str) -> np.datetime64:
    """Return when the operating day of a local date starts, in naive UTC; by day it is the local day.

    >>> str(day_start(date(2024, 3, 10), "America/New_York", "hour"))
    '2024-03-10T08:00:00.000000'
    """
    return local_hour(day, DAY_STARTS if by == "hour" else 0, zone)


def same_weekday(days: NDArray[np.int64], day: int, count: int) -> NDArray[np.int64]:
    """Return the positions of the last `count` of `days` on the weekday of `day`: the last four Thursdays.

    >>> same_weekday(np.arange(100, 130), 131, 2)
    array([17, 24])
    """
    return np.flatnonzero((days - day) % 7 == 0)[-count:]
