"""Records and rides become the same panel however they are stored, batched and written."""

import threading
from datetime import datetime, timedelta

import numpy as np
import pytest
from small_world import connection, fill

from unmet.mobility import build_panel
from unmet.mobility.panel import _event_file, _ledger, _rows

DAY = datetime(2021, 5, 3)


def at(seconds: float) -> datetime:
    return DAY + timedelta(seconds=seconds)


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


@pytest.mark.parametrize("together", [50, 1_000_000])
def test_of_two_records_of_one_second_the_later_counts(monkeypatch, together):
    monkeypatch.setattr(_ledger, "_ROWS_AT_ONCE", together)
    with connection() as con:
        world(con, [("A", at(600), 9), ("A", at(600), 2)])
        twice = rows(con)
        con.execute("DELETE FROM status WHERE place = 'A' AND \"at\" = ?", [at(600)])
        con.execute("INSERT INTO status VALUES ('A', ?, 2, NULL, true, true)", [at(600)])
        assert rows(con) == twice


def test_odd_stocks_need_no_room():
    with connection() as con:
        status = [("A", at(0), 70_000), ("A", at(600), -4), ("A", at(900), 2), ("B", at(0), 4)]
        fill(con, [("v", at(1200), at(1500), "A", "B")], status)
        build_panel(con, by="hour", zone="UTC")
        assert con.execute("SELECT stock_end FROM panel WHERE unique_id = 'A'").fetchone() == (1,)


def test_fractions_of_a_second_are_put_in_order():
    with connection() as con:
        # By line the 2 comes last, by time the 7 does.
        status = [("A", at(0), 5), ("A", at(600.9), 7), ("A", at(600.1), 2), ("B", at(0), 4)]
        fill(con, [("v", at(1200), at(1500), "A", "B")], status)
        build_panel(con, by="hour", zone="UTC")
        assert con.execute("SELECT stock_end FROM panel WHERE unique_id = 'A'").fetchone() == (6,)


@pytest.mark.parametrize("together", [1, 5, 1000])
def test_parts_batches_and_inserts_of_any_size_give_the_same_panel(monkeypatch, together):
    with connection() as con:
        world(con)
        whole = rows(con)
        monkeypatch.setattr(_event_file, "_EVENTS_PER_BATCH", 50)  # a batch for each place
        monkeypatch.setattr(_ledger, "_ROWS_AT_ONCE", 40)
        monkeypatch.setattr(_rows, "_SLAB", together)
        assert rows(con) == whole
        held = {row[0] for row in con.execute("SHOW TABLES").fetchall()}
        assert not held & {"_panel", "_rows", "_hub_rows", "_paths"}


def test_a_panel_of_before_stays_where_a_new_one_fails(monkeypatch):
    with connection() as con:
        world(con)
        before = rows(con)
        monkeypatch.setattr(_event_file, "_EVENTS_PER_BATCH", 50)

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
    monkeypatch.setattr(_event_file, "_EVENTS_PER_BATCH", 100)
    monkeypatch.setattr(_rows, "_SLAB", together)  # often fewer rows than there are places
    with connection(threads) as con:
        fill(con, [("v", at(60 * n), at(60 * n + 600), place, "p000") for n, place in enumerate(places)])
        build_panel(con, by="hour", zone="UTC")
        found = con.execute("SELECT unique_id, ds FROM panel").fetchall()
        assert found == sorted(found)
        assert len(found) == 300 * 5


def test_who_stops_in_the_middle_leaves_no_thread(monkeypatch):
    before = set(threading.enumerate())
    monkeypatch.setattr(_event_file, "_EVENTS_PER_BATCH", 50)

    def stops(label, done, total):
        if label == "building rows":
            raise KeyboardInterrupt

    with connection() as con:
        world(con)
        with pytest.raises(KeyboardInterrupt) as caught:
            build_panel(con, by="hour", zone="UTC", progress=stops)
        assert caught.tb is not None  # which would keep alive what was not closed
        assert set(threading.enumerate()) <= before
        assert rows(con)


def test_a_place_of_which_no_record_says_anything_is_as_one_without_records():
    with connection() as con:
        fill(con, [("v", at(0), at(600), "A", "B")], [("B", at(0), 3), ("B", at(900), 4)])
        con.execute("INSERT INTO status VALUES ('A', '2021-05-03', NULL, 3, true, true)")
        build_panel(con, by="hour", zone="UTC")
        found = con.execute("SELECT unique_id, y, inferred FROM panel ORDER BY 1").fetchall()
        assert found == [("A", 1, True), ("B", 0, False)]
