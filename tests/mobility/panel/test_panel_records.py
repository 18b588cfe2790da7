"""Records and rides as sorted integers: ranges in order, and the same panel however records are kept."""

import sys
import threading
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import connection, fill

from unmet.mobility import _gathered, _ledger, _record_keys, _rows, _sorted, build_panel
from unmet.mobility._record_keys import write_records
from unmet.mobility._sorted import SortedIntegers

DAY = datetime(2021, 5, 3)


def at(seconds: float) -> datetime:
    return DAY + timedelta(seconds=seconds)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(-50, 50), max_size=40), max_size=5),
    st.integers(-60, 60),
    st.integers(-60, 60),
    st.sampled_from([1, 2, 7, 4096]),
)
def test_a_range_comes_back_in_order(arrays, low, high, step):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted, "_STEP", step)
        store = SortedIntegers()
        for values in arrays:
            store.add(np.array(values, np.int64))
        found = store.between(low, high)
        store.close()
    assert found.tolist() == sorted(v for values in arrays for v in values if low <= v < high)


def world(con, extra=()) -> None:
    rng = np.random.default_rng(1)
    rides, status = [], []
    for n in range(200):
        start = int(rng.integers(0, 86_400))
        a, b = rng.choice(list("ABC"), 2)
        rides.append((f"v{n % 9}", at(start), at(start + int(rng.integers(60, 4000))), str(a), str(b)))
    for place in "ABC":
        status += [(place, at(int(t)), int(rng.integers(0, 9))) for t in range(0, 90_000, 600)]
    fill(con, rides, [*status, *extra])


def rows(con):
    build_panel(con, by="hour", zone="UTC")
    return con.execute("FROM panel ORDER BY unique_id, ds").fetchall()


def test_packed_records_and_a_table_of_records_give_the_same_panel(monkeypatch):
    with connection() as con:
        world(con)
        packed = rows(con)
        assert write_records(con, 3, 50)[0].keys is not None
        monkeypatch.setattr(_record_keys, "_BITS", 10)
        assert write_records(con, 3, 50)[0].keys is None
        assert rows(con) == packed


@pytest.mark.parametrize("table", [False, True])
def test_of_two_records_of_one_second_the_later_counts(monkeypatch, table):
    if table:
        monkeypatch.setattr(_record_keys, "_BITS", 10)
    with connection() as con:
        status = [("A", at(0), 5), ("A", at(600), 9), ("A", at(600), 2), ("B", at(0), 4)]
        fill(con, [("v", at(1200), at(1500), "A", "B")], status)
        build_panel(con, by="hour", zone="UTC")
        supply = con.execute("SELECT stock_end, removals FROM panel WHERE unique_id = 'A'").fetchall()
        assert supply == [(1, 3)]


def test_fractions_of_a_second_are_put_in_order():
    with connection() as con:
        # By line the 2 comes last, by time the 7 does.
        status = [("A", at(0), 5), ("A", at(600.9), 7), ("A", at(600.1), 2), ("B", at(0), 4)]
        fill(con, [("v", at(1200), at(1500), "A", "B")], status)
        build_panel(con, by="hour", zone="UTC")
        assert con.execute("SELECT stock_end FROM panel WHERE unique_id = 'A'").fetchone() == (6,)


@pytest.mark.parametrize("together", [1, 5, 1000])
def test_batches_and_frames_of_any_size_give_the_same_panel(monkeypatch, together):
    with connection() as con:
        world(con)
        whole = rows(con)
        monkeypatch.setattr(_ledger, "_EVENTS_PER_BATCH", 50)  # a batch for each place
        monkeypatch.setattr(_gathered, "_ROWS", together)
        assert rows(con) == whole
        held = {row[0] for row in con.execute("SHOW TABLES").fetchall()}
        assert not held & {"_panel", "_rows", "_hub_rows", "_moves", "_records"}


def test_a_panel_of_before_stays_where_a_new_one_fails(monkeypatch):
    with connection() as con:
        world(con)
        before = rows(con)
        monkeypatch.setattr(_ledger, "_EVENTS_PER_BATCH", 50)

        def fails(*_):
            raise RuntimeError("in the middle")

        monkeypatch.setattr(_rows, "_sums", fails)
        with pytest.raises(RuntimeError, match="in the middle"):
            build_panel(con, by="day", zone="UTC")
        assert con.execute("FROM panel ORDER BY unique_id, ds").fetchall() == before


@pytest.mark.parametrize("together", [3, 1000])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_stand_in_order_however_they_are_written(monkeypatch, together, threads):
    places = [f"p{n:03}" for n in range(300)]
    monkeypatch.setattr(_rows, "_ROWS_AT_ONCE", 700)
    monkeypatch.setattr(_gathered, "_ROWS", together)  # often fewer rows than there are places
    with connection(threads) as con:
        fill(con, [("v", at(60 * n), at(60 * n + 600), place, "p000") for n, place in enumerate(places)])
        build_panel(con, by="hour", zone="UTC")
        found = con.execute("SELECT unique_id, ds FROM panel").fetchall()
        assert found == sorted(found)
        assert len(found) == 300 * 5


def test_who_stops_in_the_middle_leaves_no_thread(monkeypatch):
    usual, before = sys.getswitchinterval(), set(threading.enumerate())
    monkeypatch.setattr(_rows, "_ROWS_AT_ONCE", 24)

    def stops(label, done, total):
        if label == "building rows":
            raise KeyboardInterrupt

    with connection() as con:
        world(con)
        with pytest.raises(KeyboardInterrupt) as caught:
            build_panel(con, by="hour", zone="UTC", progress=stops)
        assert caught.tb is not None  # which would keep alive what was not closed
        assert set(threading.enumerate()) <= before
        assert sys.getswitchinterval() == usual
        assert rows(con)


def test_a_place_of_which_no_record_says_anything_is_as_one_without_records():
    with connection() as con:
        fill(con, [("v", at(0), at(600), "A", "B")], [("B", at(0), 3), ("B", at(900), 4)])
        con.execute("INSERT INTO status VALUES ('A', '2021-05-03', NULL, 3, true, true)")
        build_panel(con, by="hour", zone="UTC")
        found = con.execute("SELECT unique_id, y, inferred FROM panel ORDER BY 1").fetchall()
        assert found == [("A", 1, True), ("B", 0, False)]
