"""Cells of free-floating vehicles: served or not, absent for long, rides without ends."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from small_world import connection, fill

from unmet.mobility import build_panel
from unmet.mobility.panel._known_time import long_absences

DAY = datetime(2021, 5, 3)
NEAR, FAR, LONELY = 48.1, 48.2, 48.3  # latitudes of three cells


@pytest.fixture
def con():
    with connection() as con:
        yield con


def hour(n: float) -> datetime:
    return DAY + timedelta(hours=n)


def place(con, rides) -> None:
    """Fill in rides (vehicle, start, end, latitude of the start, latitude of the end)."""
    fill(con, [(vehicle, start, end, None, None) for vehicle, start, end, _, _ in rides])
    for line, (*_, start, end) in enumerate(rides):
        con.execute(
            "UPDATE trips SET start_lat = ?, end_lat = ?, start_lng = 11, end_lng = 11 WHERE line = ?",
            [start, end, line],
        )


def shuttle(ends: bool = True) -> list[tuple]:
    """A vehicle goes to and fro every five hours for ten days; another leaves a third cell once."""
    rides = []
    for n in range(48):
        here, there = (NEAR, FAR) if n % 2 == 0 else (FAR, NEAR)
        rides.append(("v", hour(5 * n), hour(5 * n + 0.5) if ends else None, here, there if ends else None))
    rides.append(("w", hour(100), hour(100.5) if ends else None, LONELY, NEAR if ends else None))
    return rides


def test_cells_that_are_hardly_served_are_left_out_and_counted(con):
    place(con, shuttle())
    report = build_panel(con, by="hour", zone="Europe/Berlin", places="h3", h3_resolution=7)
    assert (report.places, report.pickups, report.rides_outside) == (2, 48, 1)
    [note] = [note for note in report.notes if "left out" in note]
    assert note.startswith("1 of 3 cells are left out, with 1 pickups")
    sound = con.execute("SELECT bool_and(inferred), bool_and(y <= supply) FROM panel").fetchone()
    assert sound == (True, True)


def test_no_cell_at_all_is_an_error_that_says_what_to_do(con):
    place(con, shuttle()[:4])
    with pytest.raises(ValueError, match="larger cells"):
        build_panel(con, zone="UTC", places="h3", h3_resolution=7)
    with pytest.raises(ValueError, match="h3_resolution"):
        build_panel(con, zone="UTC", places="h3", h3_resolution=16)
    fill(con, [("v", hour(1), hour(2), "A", "B")])
    with pytest.raises(ValueError, match="coordinates"):
        build_panel(con, zone="UTC", places="h3")


def test_rides_without_ends_are_assumed_to_last_twenty_minutes(con):
    """The vehicle then stands where it leaves next, as it does if the ends are known."""
    place(con, shuttle(ends=False))
    report = build_panel(con, by="hour", zone="UTC", places="h3", h3_resolution=7)
    [note] = [note for note in report.notes if "no ends" in note]
    assert "20 minutes" in note
    start, away = con.execute("SELECT min(unique_id), max(unique_id) FROM panel").fetchone()
    returns = con.execute("SELECT sum(returns) FROM panel").fetchone()
    assert returns == (47,)  # nobody knows where the last ride ended
    low = con.execute("SELECT min(exposure_low), max(exposure_low) FROM panel WHERE hour(ds) = 5").fetchone()
    assert start != away
    assert low[0] < 0.5 < low[1]


def test_an_absence_of_more_than_a_day_is_unknown():
    day = 86_400
    no = np.array([0, 0, 0, 0, 1, 1])
    t = np.array([0, day // 2, day, 3 * day, 0, day])
    until = np.array([day // 2, day, 3 * day, 4 * day, day, 2 * day])
    empty = np.array([True, False, True, False, True, False])
    assert long_absences(no, t, until, empty).tolist() == [False, False, True, False, False, False]
    empty = np.array([True, True, False, False, True, True])  # half a day twice; then two whole days
    assert long_absences(no, t, until, empty).tolist() == [False, False, False, False, True, True]
    assert not len(long_absences(no[:0], t[:0], until[:0], empty[:0]))
