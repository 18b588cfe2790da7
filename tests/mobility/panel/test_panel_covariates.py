"""Calendar, holidays and weather in local time."""

from datetime import datetime

import pytest
from small_world import connection, fill

from unmet.mobility import build_panel


@pytest.fixture
def con():
    with connection() as con:
        # 3 July 23:30 to 5 July 01:30 in New York; the fourth is a holiday.
        fill(con, [("v", datetime(2021, 7, 4, 3, 30), datetime(2021, 7, 4, 4), "A", "A"),
                   ("v", datetime(2021, 7, 5, 5, 30), datetime(2021, 7, 5, 6), "A", "A")])  # fmt: skip
        yield con


def test_calendar_and_holidays_are_local(con):
    report = build_panel(con, by="hour", zone="America/New_York", covariates=["calendar"], holidays="US-NJ")
    assert report.covariates == ("hour", "weekday", "month", "holiday")
    rows = con.execute("SELECT hour, weekday, month, holiday FROM panel ORDER BY ds").fetchall()
    assert rows[0] == (23, 5, 7, False)
    assert rows[1] == (0, 6, 7, True)
    assert rows[-1] == (1, 0, 7, True)  # observed on the Monday


def test_daily_weather(con, tmp_path):
    path = tmp_path / "weather.csv"
    path.write_text("date,y,rain,place\n2021-07-03,20.5,0,1\n2021-07-04,25,3,1\n2021-07-04,99,9,2\n")
    report = build_panel(con, zone="America/New_York", weather=path, weather_keep={"place": "1"})
    assert report.covariates == ("weather_y", "rain")  # y is taken
    rows = con.execute("SELECT weather_y, rain FROM panel ORDER BY ds").fetchall()
    assert rows[0] == (20.5, 0.0)
    assert rows[1] == (25.0, 3.0)
    assert rows[-1] == (None, None)


def test_hourly_weather_local_and_utc(con, tmp_path):
    local = tmp_path / "local.csv"
    local.write_text("time,rain\n2021-07-03 23:00:00,1\n2021-07-04 00:00:00,2\n")
    build_panel(con, zone="America/New_York", weather=local)
    assert con.execute("SELECT rain FROM panel ORDER BY ds LIMIT 3").fetchall() == [(1.0,), (2.0,), (None,)]
    utc = tmp_path / "utc.csv"
    utc.write_text("ds,rain\n2021-07-04 03:00:00,1\n2021-07-04 04:00:00,2\n")
    build_panel(con, zone="America/New_York", weather=utc)
    assert con.execute("SELECT rain FROM panel ORDER BY ds LIMIT 3").fetchall() == [(1.0,), (2.0,), (None,)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("when,rain\n2021-07-03,1\n", "'date' or 'time'"),
        ("date,mood\n2021-07-03,good\n", "numbers"),
        ("date,rain\n2021-07-03,1\n2021-07-03,2\n", "several rows"),
    ],
)
def test_wrong_weather(con, tmp_path, text, words):
    path = tmp_path / "weather.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        build_panel(con, zone="America/New_York", weather=path)
    path.write_text("date,rain\n2021-07-03,1\n")
    with pytest.raises(ValueError, match="no column 'zip'"):
        build_panel(con, zone="America/New_York", weather=path, weather_keep={"zip": "1"})
