"""The planned day by the local clock, and the last such days beside it."""

import numpy as np
import pytest

from unmet.planning import planned_day, such_days

HOUR = np.timedelta64(1, "h")


def hours(first: str, count: int) -> np.ndarray:
    return np.datetime64(first, "us") + np.arange(count) * HOUR


def test_the_day_is_told_by_the_local_clock():
    found = planned_day(hours("2024-06-02T08:00", 24), "America/New_York", "hour")
    assert found == {
        "date": "2024-06-02",
        "weekday": "Sunday",
        "starts": "2024-06-02T04:00",
        "ends": "2024-06-03T04:00",
        "zone": "America/New_York",
    }
    # East of Greenwich the local day has begun before that of UTC.
    assert planned_day(hours("2024-06-01T19:00", 24), "Asia/Tokyo", "hour")["starts"] == "2024-06-02T04:00"


def test_a_day_of_a_run_by_day_starts_at_midnight():
    found = planned_day(hours("2024-06-02T04:00", 1), "America/New_York", "day")
    assert (found["starts"], found["ends"]) == ("2024-06-02T00:00", "2024-06-03T00:00")


def test_such_days_by_hand():
    """Two places from Friday 1 March, 00:00 New York: one ride lost in every hour, ten more at one moment."""
    ds = hours("2024-03-01T05:00", 24 * 21)  # clocks go forward on 10 March
    gone = np.ones(len(ds))
    gone[ds == np.datetime64("2024-03-11T07:30") - np.timedelta64(30, "m")] += 10  # Monday 11 March, 03:00
    lost = {"ds": np.tile(ds, 2), "y": np.full(2 * len(ds), 3.0), "lost_mean": np.tile(gone, 2)}
    lost["lost_mean"][0] = np.nan
    planned = hours("2024-03-24T08:00", 24)
    found = such_days(lost, planned, "America/New_York", "hour")
    # A Sunday goes on until four on Monday; that of 10 March begins after the clocks went forward.
    assert [one["date"] for one in found] == ["2024-03-03", "2024-03-10", "2024-03-17"]
    assert [one["lost"] for one in found] == pytest.approx([48, 68, 48])
    assert [one["demand"] for one in found] == pytest.approx([192, 212, 192])
    last = such_days(lost, planned, "America/New_York", "hour", days=1)
    assert [one["date"] for one in last] == ["2024-03-17"]


def test_a_day_that_is_not_whole_is_left_out():
    ds = hours("2024-03-01T05:00", 24 * 8)
    lost = {"ds": ds, "y": np.ones(len(ds)), "lost_mean": np.ones(len(ds))}
    # The first Friday is whole from four on, the second ends at midnight.
    found = such_days(lost, hours("2024-03-15T08:00", 24), "America/New_York", "hour")
    assert [one["date"] for one in found] == ["2024-03-01"]


def test_such_days_of_a_run_by_day():
    ds = np.array([f"2024-03-{day:02d}T05:00" for day in range(1, 10)], "datetime64[us]")
    lost = {"ds": ds, "y": np.zeros(9), "lost_mean": np.arange(9.0)}
    found = such_days(lost, np.array(["2024-03-15T04:00"], "datetime64[us]"), "America/New_York", "day")
    assert found == [
        {"date": "2024-03-01", "demand": 0.0, "lost": 0.0},
        {"date": "2024-03-08", "demand": 7.0, "lost": 7.0},
    ]
