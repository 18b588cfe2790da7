"""Packed events sort by place, second and kind; the event file returns what was added, in order."""

import pickle
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.mobility.panel import _event_file
from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import DELIVERY, EDGE, PICKUP, RECORD, REMOVAL, RETURN, pack, unpack
from unmet.tables import _sorted_keys

FIRST, LAST = -2_208_988_800, 4_102_444_799


def test_order_is_place_second_kind():
    events = [(0, 5, PICKUP), (0, 6, EDGE), (0, 6, RETURN), (0, 6, PICKUP), (1, -9, EDGE), (1, 0, EDGE)]
    keys = [pack(np.array([no]), t, kind)[0] for no, t, kind in events]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("second", [0, 1, -1, 86_399, 1_604_188_880, LAST, FIRST])
@pytest.mark.parametrize("no", [0, 7, 1_000_000])
def test_events_come_back_from_sql(no, second):
    events = EventFile(None, 1_000_001, FIRST, LAST, values=9)
    key = events.key("n", "epoch_us(m) // 1000000", RECORD, "v")
    moment = datetime(1970, 1, 1) + timedelta(seconds=second)
    [(found,)] = duckdb.execute(
        f"SELECT {key} FROM (SELECT $n::INTEGER AS n, $m::TIMESTAMP AS m, 5 AS v)", {"n": no, "m": moment}
    ).fetchall()
    events.add(np.array([found]))
    batch = events.fetch(no, no)
    assert [part.tolist() for part in unpack(batch.keys)] == [[0], [second], [RECORD]]
    assert batch.value.tolist() == [5]
    assert events.sizes[no] == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, 9), st.integers(-50, 50), st.sampled_from([RETURN, PICKUP, DELIVERY, REMOVAL])
            ),
            max_size=40,
        ),
        max_size=5,
    ),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from([1, 2, 7, 4096]),
)
def test_a_run_of_places_comes_back_in_order(arrays, first, last, step):
    first, last = min(first, last), max(first, last)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted_keys, "_STEP", step)
        events = EventFile(None, 10, -50, 50)
        for rows in arrays:
            events.add_events(*np.array(rows, np.int64).reshape(-1, 3).T)
        no, t, kind = unpack(events.fetch(first, last).keys)
        assert events.sizes.sum() == sum(map(len, arrays))
        events.close()
    found = list(zip((no + first).tolist(), t.tolist(), kind.tolist()))
    assert found == sorted(row for rows in arrays for row in rows if first <= row[0] <= last)


def test_batches_hold_all_places_once(monkeypatch):
    monkeypatch.setattr(_event_file, "_EVENTS_PER_BATCH", 10)
    events = EventFile(None, 6, 0, 100)
    events.add_events(np.repeat(np.arange(6), [1, 9, 30, 0, 2, 3]), np.zeros(45), np.full(45, PICKUP))
    assert events.batches() == [(0, 1), (2, 2), (3, 5)]
    assert events.batches(edges=6) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]


def test_times_that_no_integer_can_hold_are_refused():
    with pytest.raises(ValueError, match=r"span 8000 years.*impossible times"):
        EventFile(None, 1 << 20, 0, 8000 * 365 * 86_400, values=64)


def test_shared_events_can_be_sent(tmp_path: Path) -> None:
    events = EventFile(None, places=3, first=0, last=1000, values=4)
    events.add_events(np.array([2, 0, 1]), np.array([5, 7, 9]), np.array([PICKUP, RECORD, RETURN]), 2)
    with pytest.raises(TypeError, match="share them first"):
        pickle.dumps(events)
    shared = events.share(tmp_path)
    assert shared.name == str(next(tmp_path.iterdir()))
    assert events.share(tmp_path).name == shared.name  # named by its content
    sent = pickle.loads(pickle.dumps(shared))
    for one, other in ((events, sent), (events, shared)):
        here, there = one.fetch(0, 2), other.fetch(0, 2)
        np.testing.assert_array_equal(here.keys, there.keys)
        np.testing.assert_array_equal(here.value, there.value)
    assert len(here.keys) == 3
