"""Local calendar across the change of clocks, cells, next periods."""

import numpy as np
import pytest

from unmet.calendar import make_calendar, next_periods

ZONE = "America/New_York"


def test_spring_day_has_23_hours_and_local_cells() -> None:
    # 10 March 2024: clocks go from 2 to 3 h; local midnight is 5 h UTC before and 4 h after.
    ds = np.datetime64("2024-03-10T05:00:00", "us") + np.arange(24) * np.timedelta64(1, "h")
    found = make_calendar(ds, ZONE, "hour")
    assert found.hour[:4].tolist() == [0, 1, 3, 4]
    assert (found.weekday[:23] == 6).all()
    assert found.hour[23] == 0
    assert found.weekday[23] == 0
    assert found.cell[0] == 2 * 24
    assert found.week[3] == 6 * 24 + 4
    assert found.cell[23] == 0


def test_kinds_of_day() -> None:
    ds = np.datetime64("2024-01-01T12:00:00", "us") + np.arange(7) * np.timedelta64(24, "h")  # from a Monday
    assert (make_calendar(ds, "UTC", "hour").cell // 24).tolist() == [0, 0, 0, 0, 0, 1, 2]
    assert make_calendar(ds, "UTC", "day").cell.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_next_days_start_at_local_midnight() -> None:
    last = np.datetime64("2024-03-09T05:00:00", "us")
    found = next_periods(last, 2, ZONE, "day")
    assert found.astype(str).tolist() == ["2024-03-10T05:00:00.000000", "2024-03-11T04:00:00.000000"]
    assert next_periods(last, 2, ZONE, "hour")[1] == np.datetime64("2024-03-09T07:00:00")


def test_a_horizon_beyond_the_calendar() -> None:
    with pytest.raises(ValueError, match="beyond the calendar"):
        next_periods(np.datetime64("9999-12-30T00:00:00", "us"), 400, "UTC", "day")
