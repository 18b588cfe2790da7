"""Local times: hours that a zone skips or has twice, checked against zoneinfo and by hand."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.mobility import read_trips
from unmet.mobility.sources._clock import resolve, spans, to_utc

ZONES = [
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "UTC",
]
HOUR = timedelta(hours=1)


@given(
    st.sampled_from(ZONES),
    st.datetimes(datetime(1991, 1, 1), datetime(2037, 1, 1)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
)
@settings(max_examples=300, deadline=None)
def test_spans_agree_with_zoneinfo(zone: str, local: datetime) -> None:
    found = [span for span in spans(zone)[0] if span.from_ <= local < span.until_]
    assert len(found) == 1
    expected = local.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(UTC).replace(tzinfo=None)
    assert local - found[0].offset == expected


@pytest.mark.parametrize("zone", ZONES)
def test_sql_agrees_with_zoneinfo_near_and_far(zone: str) -> None:
    moments = [datetime(2019, 1, 1) + timedelta(hours=7 * step) for step in range(4000)]
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for years in [(2019, 2021), (2000, 2001)]:
            values = ", ".join(f"(TIMESTAMP '{moment}')" for moment in moments)
            found = con.execute(
                f"SELECT {to_utc('t', zone, years)} FROM (VALUES {values}) AS v(t)"
            ).fetchall()
            for local, (utc,) in zip(moments, found, strict=True):
                both = {
                    local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC).replace(tzinfo=None)
                    for fold in (0, 1)
                }
                assert utc in both


def night(minute: int, hour: int = 1) -> datetime:
    return datetime(2020, 11, 1, hour, minute)


def test_the_doubled_hour_by_hand() -> None:
    zone, none = "America/New_York", timedelta(0)
    first, second = (none, none), (HOUR, HOUR)

    def decide(start: datetime, end: datetime | None, seconds: float | None = None) -> tuple:
        return resolve([(2, start, end, seconds)], zone).get(2, first)

    assert decide(night(10), night(20)) == first  # nothing decides
    assert decide(night(50), night(5)) == (none, HOUR)  # ends before it starts, unless the clock went back
    assert decide(night(10), night(20), 600) == first
    assert decide(night(10), night(20), 4200) == (none, HOUR)  # seventy minutes were ridden
    assert decide(night(50, 0), night(10), 1200) == first
    assert decide(night(50, 0), night(10), 4800) == (none, HOUR)
    assert decide(night(50), night(10, 2), 1200) == (HOUR, none)  # by 02:00 the clock shows winter time
    assert decide(night(50), night(10, 2), 4800) == first
    assert decide(night(10), None) == first
    lines = [(2, night(10), night(20), None), (3, night(55), night(58), None), (4, night(5), night(9), None)]
    assert resolve(lines, zone) == {4: second}  # starts fall back once: the second hour begins there
    lines.append((5, night(50), night(52), None))
    lines.append((6, night(1), night(2), None))
    assert resolve(lines, zone) == {}  # they fall back twice: the file is not in order


def test_a_file_over_both_changes(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "when,until,car\n"
        "2020-03-08 01:59:59,2020-03-08 03:00:01,a\n"  # two seconds of riding in spring
        "2020-11-01 00:59:00,2020-11-01 01:10:00,b\n"
        "2020-11-01 01:50:00,2020-11-01 01:05:00,c\n"
        "2020-11-01 02:00:00,2020-11-01 02:00:00,d\n"
    )
    report = read_trips(
        con, path, columns={"start": "when", "end": "until", "vehicle": "car"}, zone="America/New_York"
    )
    assert con.execute(
        "SELECT started_at::VARCHAR, ended_at - started_at, flag FROM trips ORDER BY line"
    ).fetchall() == [
        ("2020-03-08 06:59:59", timedelta(seconds=2), None),
        ("2020-11-01 04:59:00", timedelta(minutes=11), None),
        ("2020-11-01 05:50:00", timedelta(minutes=15), None),
        ("2020-11-01 07:00:00", timedelta(0), "zero-length"),
    ]
    assert report.flags == {"zero-length": 1}
