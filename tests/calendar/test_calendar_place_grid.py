"""Rows as matrices of places and periods, on the local clock."""

import numpy as np

from unmet.calendar import lay_out, local_seconds


def hours(first: str, count: int) -> np.ndarray:
    return np.datetime64(first, "us") + np.arange(count) * np.timedelta64(3600, "s")


def test_the_local_clock_jumps_in_spring():
    # New York, 10 March 2024: 01:00 is followed by 03:00
    clock = local_seconds(hours("2024-03-10T05", 4), "America/New_York")
    assert (clock % 86400 // 3600).tolist() == [0, 1, 3, 4]


def test_days_of_23_hours_are_days():
    when = hours("2024-03-10T05", 24 + 23)
    grid = lay_out({"unique_id": np.array(["a"] * 47, dtype=object), "ds": when}, "America/New_York")
    days, starts = grid.days
    assert starts.tolist() == [0, 23]
    assert np.diff(days).tolist() == [1]


def test_places_may_lack_periods():
    columns = {
        "unique_id": np.array(["a", "a", "b"], dtype=object),
        "ds": np.array(["2024-03-04T00", "2024-03-04T02", "2024-03-04T01"], dtype="datetime64[us]"),
    }
    grid = lay_out(columns, "UTC")
    found = grid.matrix(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [[1.0, np.nan, 2.0], [np.nan, 3.0, np.nan]])


def test_rows_may_come_in_any_order():
    columns = {
        "unique_id": np.array(["b", "a", "b", "a"], dtype=object),
        "ds": hours("2024-03-04", 2)[[1, 0, 0, 1]],
    }
    layout = lay_out(columns, "UTC")
    assert layout.complete
    assert layout.ids == ["a", "b"]
    assert layout.matrix(np.array([4, 1, 3, 2])).tolist() == [[1, 2], [3, 4]]
    assert layout.matrix(np.array([True, False, True, False])).dtype == bool


def test_a_row_twice_is_not_complete():
    columns = {
        "unique_id": np.array(["a", "a", "b", "b"], object),
        "ds": hours("2024-03-04", 2)[[0, 0, 0, 1]],
    }
    assert not lay_out(columns, "UTC").complete
