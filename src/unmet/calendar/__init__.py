"""The one calendar: zones, the local clock, periods, kinds of day, holidays, the operating day,
and tables laid out as places × periods.

Moments are naive UTC or seconds since 1970. Local days may have 23 or 25 hours.
"""

from unmet.calendar._holidays import holiday_dates, is_holiday
from unmet.calendar._local_times import Calendar, make_calendar, weekday
from unmet.calendar._operating_day import DAY_STARTS, WEEKDAYS, day_start, operating_day, same_weekday
from unmet.calendar._periods import (
    Periods,
    interval_seconds,
    local_date,
    local_day,
    local_hour,
    make_periods,
    next_periods,
)
from unmet.calendar._place_grid import PlaceGrid, lay_out
from unmet.calendar._step import Step, in_words, step_of, step_of_seconds
from unmet.calendar._zones import check_zone, local_seconds, utc_offset

__all__ = [
    "DAY_STARTS",
    "WEEKDAYS",
    "Calendar",
    "Periods",
    "PlaceGrid",
    "Step",
    "check_zone",
    "day_start",
    "holiday_dates",
    "in_words",
    "interval_seconds",
    "is_holiday",
    "lay_out",
    "local_date",
    "local_day",
    "local_hour",
    "local_seconds",
    "make_calendar",
    "make_periods",
    "next_periods",
    "operating_day",
    "same_weekday",
    "step_of",
    "step_of_seconds",
    "utc_offset",
    "weekday",
]
