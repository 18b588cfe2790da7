"""Stock without a feed: from vehicle ids and from counts."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import connection, fill

from unmet.mobility import build_panel
from unmet.mobility.panel._day_stock import clamp_moves

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
    moved = con.execute("SELECT unique_id, deliveries, removals FROM panel "
                        "WHERE deliveries + removals > 0 ORDER BY ALL").fetchall()  # fmt: skip
    # From B at 1 h, moved during the eight hours until it leaves from C at 9 h. Nobody left from B: no row.
    assert moved == [("C", 1, 0)]
    assert con.execute("SELECT bool_and(y <= supply) FROM panel").fetchone() == (True,)
    stock = [
        n
        for (n,) in con.execute("SELECT stock_start FROM panel WHERE unique_id = 'C' ORDER BY ds").fetchall()
    ]
    assert (stock[:2], stock[9]) == ([0, 0], 1)


def exposures(con, place: str) -> list[tuple[float, float, float]]:
    return con.execute(
        "SELECT exposure_low, exposure, exposure_high FROM panel WHERE unique_id = ? ORDER BY ds", [place]
    ).fetchall()


def test_a_place_is_stood_at_empty_or_ambiguous(con):
    rides = [
        ("v", hour(0.1), hour(0.5), "D", "A"),
        ("v", hour(2.1), hour(2.25), "A", "B"),
        ("v", hour(6.1), hour(7), "C", "D"),
        ("v", hour(9.1), hour(9.5), "D", "D"),
        ("z", hour(0.25), hour(0.5), "B", "E"),
    ]
    fill(con, rides)
    build_panel(con, by="hour", zone="UTC")
    # One vehicle stood at A from 0:30 to 2:06 and nobody before and after: the feedless truth, exactly.
    assert exposures(con, "A")[:4] == [(0.5, 0.5, 0.5), (1, 1, 1), (0.1, 0.1, 0.1), (0, 0, 0)]
    # It was moved from B to C between 2:15 and 6:06: ambiguous at both, certain at neither.
    at_c = exposures(con, "C")
    assert at_c[1] == (0, 0, 0)
    for low, middle, high in at_c[3:6]:
        assert (low, high, 0 < middle < 1) == (0, 1, True)
    assert [e for _, e, _ in at_c[3:6]] == sorted(e for _, e, _ in at_c[3:6])
    at_b = exposures(con, "B")
    assert all(low == 0 and high == 1 for low, _, high in at_b[3:6])
    assert [e for _, e, _ in at_b[3:6]] == sorted((e for _, e, _ in at_b[3:6]), reverse=True)
    flags = con.execute("SELECT bool_and(censored = (exposure_low < 1)), "
                        "bool_and(y = 0 OR exposure_high > 0), "
                        "bool_and(exposure BETWEEN exposure_low AND exposure_high) FROM panel")  # fmt: skip
    assert flags.fetchone() == (True, True, True)


def test_a_vehicle_that_nobody_takes_for_weeks_may_be_broken(con):
    busy = [(f"b{n}", hour(n / 4), hour(n / 4 + 0.1), "A", "A") for n in range(24 * 4 * 14)]
    rides = [("v", hour(1), hour(1.5), "B", "A"), ("v", hour(24 * 13), hour(24 * 13 + 1), "A", "B")]
    # All other vehicles come to A for one ride each; v stands there amid a hundred rides a day.
    fill(con, [*rides, *busy])
    build_panel(con, by="day", zone="UTC")
    assert all(low < 1 for low, _, _ in exposures(con, "A")[2:12])


def test_the_stock_never_exceeds_the_vehicles_seen(con):
    random = np.random.default_rng(5)
    rides = []
    for vehicle in range(9):
        begin = np.sort(random.uniform(0, 24 * 20, 30))
        places = random.choice(list("ABCDE"), (30, 2))
        rides += [(str(vehicle), hour(t), hour(t + 0.2), *ends) for t, ends in zip(begin, places)]
    fill(con, rides)
    build_panel(con, by="hour", zone="UTC")
    assert (
        con.execute("SELECT max(n) FROM (SELECT sum(stock_start) n FROM panel GROUP BY ds)").fetchone()[0]
        <= 9
    )


def test_without_ids_only_bounds_under_an_assumption_are_known(con):
    rides = [
        (None, hour(5), hour(6), "A", "B"),
        (None, hour(7), hour(8), "B", "A"),
        (None, hour(9), hour(10), "A", "B"),
        (None, hour(29), hour(30), "B", "C"),
        (None, hour(31), hour(32), "B", "C"),
    ]
    fill(con, rides, stations=[("A", "a", 0.0, 0.0, 1), ("B", "b", 0.0, 0.0, 3)])
    report = build_panel(con, by="hour", zone="UTC")
    assert (report.inferred_from, report.rows_inferred) == ("ride counts", report.rows)
    # If vans come at 4 h only, A needs one vehicle that day; it has none from 5 to 8 and from 9 on.
    at_a = exposures(con, "A")
    assert at_a[:6] == [(0, 1, 1)] * 3 + [(1, 1, 1)] + [(0, 1, 1)] * 2
    # B needs one vehicle more on the second day, besides the one that came at 10 h of the first, which vans
    # may have taken away: two at 4 h of the second day.
    stock = con.execute("SELECT hour(ds), stock_start FROM panel "
                        "WHERE unique_id = 'B' AND ds >= ? ORDER BY ds", [hour(27)]).fetchall()  # fmt: skip
    assert stock == [(3, 1), (4, 2), (5, 2), (6, 1), (7, 1)]


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
