"""Stock without a feed: from vehicle ids, from counts, and for free-floating vehicles."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import connection, fill

from unmet.mobility import build_panel
from unmet.mobility.panel._inferred_stock import clamp_moves

DAY = datetime(2021, 5, 3)


@pytest.fixture
def con():
    with connection() as con:
        yield con


def hour(n: float) -> datetime:
    return DAY + timedelta(hours=n)


def test_a_vehicle_that_leaves_from_elsewhere_was_moved(con):
    rides = [
        ("v", hour(0.5), hour(1), "A", "B"),
        ("v", hour(9), hour(9.5), "C", "A"),
        ("w", hour(0), hour(12.5), "A", "A"),
    ]
    fill(con, rides)
    report = build_panel(con, by="hour", zone="UTC")
    assert report.inferred_from == "vehicle ids"
    assert report.rows_inferred == report.rows
    moved = con.execute("SELECT unique_id, hour(ds), deliveries, removals FROM panel "
                        "WHERE deliveries + removals > 0 ORDER BY ALL").fetchall()  # fmt: skip
    # From B at 1 h, moved during the eight hours until it leaves from C at 9 h. Nobody left from B: no row.
    assert moved == [("C", 7, 1, 0)]
    assert con.execute("SELECT bool_and(y <= supply) FROM panel").fetchone() == (True,)
    stock = con.execute("SELECT stock_start FROM panel WHERE unique_id = 'C' ORDER BY ds").fetchall()
    assert [n for (n,) in stock] == [0] * 8 + [1, 1] + [0] * (len(stock) - 10)


def test_without_ids_the_stock_is_the_smallest_that_serves_the_rides(con):
    rides = [
        (None, hour(1), hour(2), "A", "B"),
        (None, hour(3), hour(4), "B", "A"),
        (None, hour(5), hour(6), "A", "B"),
    ]
    fill(con, rides, stations=[("A", "a", 0.0, 0.0, 1), ("B", "b", 0.0, 0.0, 1)])
    report = build_panel(con, by="hour", zone="UTC")
    assert (report.inferred_from, report.rows_inferred) == ("ride counts", report.rows)
    found = con.execute(
        "SELECT unique_id, sum(deliveries), sum(removals), max(stock_start) FROM panel GROUP BY 1 ORDER BY 1"
    )
    assert found.fetchall() == [("A", 1, 0, 1), ("B", 0, 0, 1)]


def test_places_with_a_feed_and_places_without(con):
    rides = [("v", hour(1), hour(2), "A", "B"), ("v", hour(3), hour(4), "B", "A")]
    fill(con, rides, [("A", hour(0), 4), ("A", hour(1), 3), ("A", hour(4), 4)])
    build_panel(con, by="hour", zone="UTC")
    found = con.execute(
        "SELECT unique_id, bool_or(inferred), max(stock_start) FROM panel GROUP BY 1 ORDER BY 1"
    )
    assert found.fetchall() == [("A", False, 4), ("B", True, 1)]


def test_overlapping_rides_of_one_vehicle_keep_the_stock_sound(con):
    fill(
        con,
        [
            ("v", hour(1), hour(5), "A", "B"),
            ("v", hour(2), hour(3), "C", "A"),
            ("v", hour(6), hour(7), "A", "A"),
        ],
    )
    build_panel(con, by="hour", zone="UTC")
    assert con.execute("SELECT min(stock_start) >= 0, bool_and(y <= supply) FROM panel").fetchone() == (
        True,
        True,
    )


def test_cells_of_free_floating_vehicles(con):
    fill(con, [(str(n % 3), hour(n), hour(n + 0.5), None, None) for n in range(9)])
    con.execute(
        "UPDATE trips SET start_lat = 48.1 + (line % 2) * 0.1, end_lat = 48.3, start_lng = 11, end_lng = 11"
    )
    report = build_panel(con, by="hour", zone="Europe/Berlin", places="h3", h3_resolution=7)
    assert (report.places, report.pickups, report.rides_without_place) == (2, 9, 0)
    assert con.execute("SELECT bool_and(inferred), bool_and(y <= supply) FROM panel").fetchone() == (
        True,
        True,
    )
    with pytest.raises(ValueError, match="h3_resolution"):
        build_panel(con, zone="UTC", places="h3", h3_resolution=16)


def test_cells_need_coordinates(con):
    fill(con, [("v", hour(1), hour(2), "A", "B")])
    with pytest.raises(ValueError, match="coordinates"):
        build_panel(con, zone="UTC", places="h3")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1, 1])), max_size=60),
    st.lists(st.integers(1, 4), min_size=4, max_size=4),
)
def test_clamped_sums_agree_with_a_loop(rows, caps):
    rows = sorted(rows, key=lambda row: row[0])
    group, change = np.array([r[0] for r in rows], int), np.array([r[1] for r in rows], int)
    cap = np.array(caps)[group] if len(rows) else group
    expected, stock = [], {}
    for g, c in zip(group, change):
        before = stock.get(g, 0)
        stock[g] = min(max(before + c, 0), caps[g])
        expected.append(stock[g] - before - c)
    assert clamp_moves(group, change, cap).tolist() == expected
