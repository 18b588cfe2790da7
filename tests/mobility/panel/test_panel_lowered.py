"""Virtual stock-outs: rides of vehicles that are held back are hidden, nothing else changes."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from small_world import connection, fill

from unmet.mobility import build_panel, lowered_columns

DAY = datetime(2021, 5, 3)


def minute(n: float) -> datetime:
    return DAY + timedelta(minutes=n)


@pytest.fixture
def con():
    with connection() as con:
        yield con


def test_counts_and_time_by_hand(con):
    records = [("A", minute(0), 3), ("A", minute(10), 2), ("A", minute(20), 1), ("A", minute(30), 0),
               ("A", minute(45), 3), ("B", minute(0), 5)]  # fmt: skip
    rides = [(f"v{n}", minute(n), minute(100), "A", "B") for n in (10, 20, 30)]
    fill(con, [*rides, ("w", minute(0), minute(110), "B", "B")], records)
    report = build_panel(con, zone="UTC", reserve=2)
    found = lowered_columns(con)
    first = {name: values[0] for name, values in found.items()}
    assert report.reserve == 2
    # Three stand until minute 10, then 2, 1 and none; three again from minute 45.
    assert (first["unique_id"], first["y"], first["hidden"]) == ("A", 1, 2)
    assert first["exposure"] == pytest.approx(25 / 60)
    assert first["tight"] == pytest.approx(20 / 60)
    assert first["ran_out"] == 1  # at minute 10 two of three were left


@pytest.mark.parametrize("hubs", [None, {"A": "north", "B": "north"}])
def test_nothing_is_lost_between_seen_and_hidden(con, hubs):
    records = [("A", minute(0), 3), ("A", minute(10), 2), ("A", minute(20), 1), ("B", minute(0), 5)]
    rides = [("v", minute(10), minute(100), "A", "B"), ("w", minute(20), minute(110), "A", "B")]
    fill(con, rides, records)
    build_panel(con, zone="UTC", places="hub" if hubs else "station", hubs=hubs, reserve="auto")
    panel = con.execute("FROM panel ORDER BY unique_id, ds").fetchnumpy()
    found = lowered_columns(con)
    assert found["unique_id"].tolist() == panel["unique_id"].tolist()
    assert (found["ds"] == panel["ds"]).all()
    assert (found["y"] + found["hidden"] == panel["y"]).all()
    both = found["exposure"] + found["tight"]
    assert np.nan_to_num(both) == pytest.approx(np.nan_to_num(np.ma.filled(panel["exposure"], 0.0)))


def test_a_reserve_of_nothing_is_refused(con):
    fill(con, [("v", minute(10), minute(100), "A", "B")], [("A", minute(0), 3)])
    with pytest.raises(ValueError, match="reserve must be"):
        build_panel(con, zone="UTC", reserve=0)
