"""Local days and hours, with the days that are shorter or longer than others."""

from datetime import datetime
from itertools import pairwise

import pytest
from small_world import connection, fill

from unmet.mobility import build_panel
from unmet.mobility._periods import make_periods


@pytest.fixture
def con():
    with connection() as con:
        yield con


def periods(con, by, zone, first, last):
    seconds = [int(datetime.fromisoformat(text + "+00:00").timestamp()) for text in (first, last)]
    made = make_periods(con, by, zone, *seconds)
    rows = con.execute("SELECT period, start, stop FROM _periods ORDER BY period").fetchall()
    assert [row[0] for row in rows] == list(range(made.count))
    assert all(a[2] == b[1] for a, b in pairwise(rows))
    covered = con.execute("SELECT count(*), count(DISTINCT slot) FROM _slots").fetchone()
    assert covered == ((made.last - made.first) // made.slot,) * 2
    return rows


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2021-03-14", 23), ("2021-11-07", 25), ("2021-07-04", 24)],
    ids=["spring", "autumn", "plain"],
)
def test_days_have_23_24_or_25_hours(con, day, hours):
    noon = f"{day}T17:00:00"
    (only,) = periods(con, "day", "America/New_York", noon, noon)
    assert only[2] - only[1] == hours * 3600
    # A feed that reaches beyond both ends of the local day stretches the day of the only ride.
    ride = ("v", datetime.fromisoformat(noon), datetime.fromisoformat(noon), "A", "A")
    fill(con, [ride], [("A", datetime(2021, 1, 1), 3), ("A", datetime(2022, 1, 1), 3)])
    report = build_panel(con, by="hour", zone="America/New_York", feed="events")
    assert report.rows == hours
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


def test_hours_start_with_the_local_hour(con):
    rows = periods(con, "hour", "Asia/Kolkata", "2021-05-03T10:10:00", "2021-05-03T11:10:00")
    assert [row[1] % 3600 for row in rows] == [1800, 1800]


def test_other_steps(con):
    first, last = "2021-03-10T12:00:00", "2021-03-20T12:00:00"
    assert len(periods(con, "week", "America/New_York", first, last)) == 2
    assert len(periods(con, "1 month", "America/New_York", first, last)) == 1
    assert len(periods(con, "7 days", "America/New_York", first, last)) == 2
    quarter = periods(con, "15 minutes", "America/New_York", "2021-03-14T06:00:00", "2021-03-14T08:00:00")
    assert {row[2] - row[1] for row in quarter} == {900}
    # Seven hours do not divide a day: its last step is shorter, and on a spring day shorter still.
    cut = periods(con, "7 hours", "America/New_York", "2021-03-13T06:00:00", "2021-03-15T03:00:00")
    assert [(row[2] - row[1]) // 3600 for row in cut] == [7, 7, 7, 3, 7, 7, 7, 2]
