"""Local days and hours, with the days that are shorter or longer than others."""

from datetime import UTC, datetime

import numpy as np
import pytest

from unmet.calendar import interval_seconds, local_day, make_periods, next_periods


def second(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def periods(by: str, zone: str, first: str, last: str) -> list[tuple[int, int]]:
    """Start and length of each period."""
    made = make_periods(by, zone, second(first), second(last))
    edges = np.append(made.starts, made.last)
    assert (np.diff(edges) > 0).all()
    assert edges[0] <= second(first) < edges[1]
    assert edges[-2] <= second(last) < edges[-1]
    assert made.count == len(edges) - 1
    return list(zip(edges[:-1].tolist(), np.diff(edges).tolist()))


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2021-03-14", 23), ("2021-11-07", 25), ("2021-07-04", 24)],
    ids=["spring", "autumn", "plain"],
)
def test_days_have_23_24_or_25_hours(day, hours):
    noon = f"{day}T17:00:00"
    ((start, length),) = periods("day", "America/New_York", noon, noon)
    assert length == hours * 3600
    assert local_day(second(noon), "America/New_York") == (start, start + length)
    assert len(periods("hour", "America/New_York", f"{day}T05:00:00", f"{day}T23:59:00")) <= hours


def test_a_day_whose_midnight_is_skipped_starts_with_the_change():
    # Havana, 10 March 2024: the clock goes from 24:00 to 01:00.
    ((start, length),) = periods("day", "America/Havana", "2024-03-10T12:00:00", "2024-03-10T12:00:00")
    assert (start, length) == (second("2024-03-10T05:00:00"), 23 * 3600)


def test_a_day_with_two_midnights_starts_with_the_first():
    # Havana, 3 November 2024: the clock goes from 01:00 back to 00:00.
    ((start, length),) = periods("day", "America/Havana", "2024-11-03T12:00:00", "2024-11-03T12:00:00")
    assert (start, length) == (second("2024-11-03T04:00:00"), 25 * 3600)
    ahead = next_periods(np.datetime64("2024-11-02T04:00:00", "us"), 2, "America/Havana", "day")
    assert ahead.astype("datetime64[s]").astype(np.int64).tolist() == [start, start + length]


def test_hours_start_with_the_local_hour():
    found = periods("hour", "Asia/Kolkata", "2021-05-03T10:10:00", "2021-05-03T11:10:00")
    assert [start % 3600 for start, _ in found] == [1800, 1800]


def test_other_steps():
    first, last = "2021-03-10T12:00:00", "2021-03-20T12:00:00"
    zone = "America/New_York"
    assert len(periods("week", zone, first, last)) == 2
    assert len(periods("7 days", zone, first, last)) == 2
    for by, start in (("1 month", "2021-03-01"), ("quarter", "2021-01-01"), ("years", "2021-01-01")):
        assert [row[0] for row in periods(by, zone, first, last)] == [second(f"{start}T05:00:00")]
    assert len(periods("month", zone, "2021-11-15T00:00:00", "2022-01-15T00:00:00")) == 3
    quarter = periods("15 minutes", zone, "2021-03-14T06:00:00", "2021-03-14T08:00:00")
    assert {length for _, length in quarter} == {900}
    # Seven hours do not divide a day: its last step is shorter, and on a spring day shorter still.
    cut = periods("7 hours", zone, "2021-03-13T06:00:00", "2021-03-15T03:00:00")
    assert [length // 3600 for _, length in cut] == [7, 7, 7, 3, 7, 7, 7, 2]


@pytest.mark.parametrize(
    ("by", "remedy"),
    [("36 hours", "whole days"), ("1 millisecond", "positive interval"), ("soon", "for instance '2 hours'")],
)
def test_steps_that_cannot_be(by, remedy):
    with pytest.raises(ValueError, match=f"by=.*{remedy}"):
        make_periods(by, "UTC", 0, 100)


def test_too_many_periods():
    with pytest.raises(ValueError, match="longer step"):
        make_periods("1 second", "UTC", 0, 60_000_000)


def test_an_interval_in_seconds():
    assert interval_seconds("2 hours", "max_gap") == 7200
    with pytest.raises(ValueError, match="max_gap='-1 hour' is not a positive interval"):
        interval_seconds("-1 hour", "max_gap")
