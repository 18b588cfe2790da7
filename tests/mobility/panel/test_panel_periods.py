"""Rows of local days and hours, with the days that are shorter or longer than others."""

from datetime import datetime

import pytest
from small_world import connection, fill

from unmet.mobility import build_panel


@pytest.fixture
def con():
    with connection() as con:
        yield con


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2021-03-14", 23), ("2021-11-07", 25), ("2021-07-04", 24)],
    ids=["spring", "autumn", "plain"],
)
def test_days_have_23_24_or_25_hours(con, day, hours):
    # Records before and after the local day extend the range of the only ride to the whole day.
    noon = datetime.fromisoformat(f"{day}T17:00:00")
    ride = ("v", noon, noon, "A", "A")
    fill(con, [ride], [("A", datetime(2021, 1, 1), 3), ("A", datetime(2022, 1, 1), 3)])
    hourly = build_panel(con, by="hour", zone="America/New_York", feed="events")
    assert hourly.rows == hours
    daily = build_panel(con, by="day", zone="America/New_York", feed="events")
    assert daily.rows == 1


def test_the_repeated_hour_is_two_rows(con):
    rides = [
        ("v", datetime(2021, 11, 7, 5, 30), datetime(2021, 11, 7, 5, 40), "A", "A"),  # 01:30 summer time
        ("v", datetime(2021, 11, 7, 6, 30), datetime(2021, 11, 7, 6, 40), "A", "A"),  # 01:30 again
    ]
    fill(con, rides)
    build_panel(con, by="hour", zone="America/New_York", covariates=["hour"])
    assert con.execute("SELECT ds, y, hour FROM panel ORDER BY ds").fetchall() == [
        (datetime(2021, 11, 7, 5), 1, 1),
        (datetime(2021, 11, 7, 6), 1, 1),
    ]
