"""The timeline: unbroken, with the right state, also between snapshots."""

from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from small_world import connection, fill

from unmet.mobility import availability
from unmet.mobility.panel._events import PICKUP, pack
from unmet.mobility.panel._reconciliation import Records, kind_of_feed

DAY = datetime(2021, 5, 3)


@pytest.fixture
def con():
    with connection() as con:
        yield con


def minute(n: float) -> datetime:
    return DAY + timedelta(minutes=n)


def timeline(con, place="A", **options):
    count = availability(con, **options)
    rows = con.execute("FROM timeline ORDER BY place, from_").fetchall()
    assert len(rows) == count
    assert all(row[1] < row[2] for row in rows)
    assert all(a[2] == b[1] for a, b in pairwise(rows) if a[0] == b[0])
    return [
        ((row[1] - DAY).total_seconds() / 60, (row[2] - DAY).total_seconds() / 60, *row[3:])
        for row in rows
        if row[0] == place
    ]


def test_running_out_between_two_snapshots_is_seen(con):
    snapshots = [("A", minute(n), 1) for n in range(0, 60, 5)]
    rides = [("v", minute(11), minute(13), "A", "A"), ("w", minute(59), minute(59.5), "B", "B")]
    fill(con, rides, snapshots)
    assert timeline(con)[:3] == [
        (0, 11, "available", 1, False),
        (11, 13, "empty", 0, False),
        (13, pytest.approx(59, abs=0.1), "available", 1, False),
    ]


def test_states(con):
    records = [("A", minute(0), 2), ("A", minute(10), 0), ("A", minute(20), 0, False), ("A", minute(30), 4),
               ("A", minute(200), 4), ("A", minute(210), 4)]  # fmt: skip
    fill(con, [("v", minute(0), minute(210), "B", "B"), ("v", minute(215), minute(220), "B", "B")], records)
    assert timeline(con, max_gap="1 hour") == [
        (0, 10, "available", 2, False),
        (10, 20, "empty", 0, False),
        (20, 30, "closed", 0, False),
        (30, 200, "unknown", 4, True),
        (200, pytest.approx(215, abs=0.1), "available", 4, False),
    ]


def test_silence_of_a_feed_of_changes_means_no_change_unless_a_ride_contradicts_it(con):
    quiet = [("A", minute(0), 2), ("A", minute(1), 1), ("A", minute(600), 0)]
    rides = [("v", minute(1), minute(900), "A", "B"), ("w", minute(600), minute(700), "A", "B")]
    fill(con, rides, quiet)
    assert [row[2] for row in timeline(con)] == ["available", "available", "empty"]
    # A third ride at minute 100 changed the stock, and no record says so for hours.
    fill(con, [*rides, ("x", minute(100), minute(110), "A", "B")], quiet)
    assert [row[:3] for row in timeline(con, feed="events")][:3] == [
        (0, 1, "available"),
        (1, 100, "available"),
        (100, 600, "unknown"),
    ]


def test_silence_of_snapshots_is_unknown(con):
    snapshots = [("A", minute(n), 1) for n in [*range(0, 60, 5), *range(600, 660, 5)]]
    fill(con, [("v", minute(2), minute(3), "A", "A"), ("v", minute(652), minute(653), "A", "A")], snapshots)
    assert (55, 600, "unknown", 1, True) in timeline(con)


def test_rides_fill_in_what_snapshots_did_not_see(con):
    rides = [("v", minute(n + 0.4), minute(n + 2.2), "A", "A") for n in range(0, 100, 10)]
    changes = [
        ("A", minute(n + m), level) for n in range(0, 100, 10) for m, level in ((0, 1), (0.4, 0), (2.2, 1))
    ]
    fill(con, rides, changes)
    exact = timeline(con)
    fill(con, rides, [("A", minute(n), 1) for n in range(0, 100, 5)])
    assert timeline(con)[:-1] == exact[:-1]
    assert len(exact) == 21


def test_the_kind_of_feed_is_told_from_the_rides():
    no, t = np.zeros(50, np.int32), np.arange(50) * 700
    rides = pack(no, t, PICKUP)

    def records(times):
        ones = np.ones(len(times), np.int64)
        return Records(np.zeros(len(times), np.int32), np.asarray(times), ones, ones.astype(bool))

    assert kind_of_feed(rides, records(t + 2)) == "events"
    beats = np.unique(np.r_[t + 2, np.arange(0, 35000, 60)])  # most records are heartbeats
    assert kind_of_feed(rides, records(beats)) == "events"
    assert kind_of_feed(rides, records(np.arange(0, 35000, 300))) == "snapshots"
    assert kind_of_feed(rides[:0], records(np.arange(0, 35000, 300))) == "snapshots"
