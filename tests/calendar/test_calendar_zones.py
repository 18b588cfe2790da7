"""Zones, holidays and the operating day."""

from datetime import date

import numpy as np
import pytest

from unmet.calendar import (
    check_zone,
    holiday_dates,
    local_seconds,
    make_calendar,
    operating_day,
    same_weekday,
    utc_offset,
)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "America", "../etc/passwd", None, "x\0y"])
def test_what_is_no_zone_is_named_with_a_remedy(zone):
    with pytest.raises(ValueError, match="zone must be a time zone such as 'America/New_York'"):
        check_zone(zone)


def test_a_zone_is_returned():
    assert check_zone("Europe/Berlin") == "Europe/Berlin"


def test_offsets_change_in_the_right_second():
    change = 1_710_054_000  # 10 March 2024, 07:00 UTC
    moments = np.array([change - 1, change, change - 1])
    assert utc_offset(moments, "America/New_York").tolist() == [-18_000, -14_400, -18_000]
    assert utc_offset(np.array([0]), "Asia/Kathmandu").tolist() == [19_800]  # 05:30 until 1986


def test_the_local_clock():
    ds = np.array(["2024-07-01T22:30"], "datetime64[us]")
    assert local_seconds(ds, "Europe/Berlin").astype("datetime64[s]").astype(str) == ["2024-07-02T00:30:00"]


def test_holidays_of_a_part_of_a_country():
    assert date(2024, 7, 4) in holiday_dates("US-NJ", [2024])
    with pytest.raises(ValueError, match=r"holidays='XX'.*US-NJ"):
        holiday_dates("XX", [2024])


def test_the_operating_day_starts_at_four():
    ds = np.datetime64("2024-06-02T05:00", "us") + np.arange(6) * np.timedelta64(1, "h")  # 01:00 local
    calendar = make_calendar(ds, "America/New_York", "hour")
    day = np.datetime64("2024-06-02").astype(int)
    assert operating_day(calendar, "hour").tolist() == [day - 1] * 3 + [day] * 3
    midnight = make_calendar(ds[:1], "America/New_York", "day")
    assert operating_day(midnight, "day").tolist() == [day]


def test_the_last_four_thursdays():
    days = np.arange(np.datetime64("2024-05-01"), np.datetime64("2024-06-01")).astype(int)
    chosen = same_weekday(days, int(np.datetime64("2024-06-06").astype(int)), 4)
    assert days[chosen].astype("datetime64[D]").astype(str).tolist() == [
        *("2024-05-09", "2024-05-16", "2024-05-23", "2024-05-30"),
    ]
