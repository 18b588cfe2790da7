"""Packed events: SQL and NumPy agree, and order is place, second, kind."""

from datetime import datetime, timedelta

import duckdb
import numpy as np
import pytest

from unmet.mobility._keys import (
    EDGE,
    PICKUP,
    RETURN,
    pack,
    packed,
    place_of,
    place_of_keys,
    places_between,
    unpack,
)


@pytest.mark.parametrize("second", [0, 1, -1, 86_399, 1_604_188_880, 4_102_444_799, -2_208_988_800])
@pytest.mark.parametrize("no", [0, 7, 1_000_000])
def test_sql_packs_as_numpy_does(no, second):
    moment = datetime(1970, 1, 1) + timedelta(seconds=second)
    row = (
        duckdb.connect()
        .execute(
            f"SELECT key, {place_of('key')} FROM (SELECT {packed('n', 'm', PICKUP)} AS key "
            "FROM (SELECT $n::INTEGER AS n, $m::TIMESTAMP AS m))",
            {"n": no, "m": moment},
        )
        .fetchone()
    )
    key = pack(np.array([no]), second, PICKUP)[0]
    assert row == (key, no)
    assert place_of_keys(key) == no
    low, high = places_between(no, no)
    assert low <= key < high
    assert key - low == pack(np.array([0]), second, PICKUP)[0]
    assert [part.tolist() for part in unpack(np.array([key]))] == [[no], [second], [PICKUP]]


def test_order_is_place_second_kind():
    events = [(0, 5, PICKUP), (0, 6, EDGE), (0, 6, RETURN), (0, 6, PICKUP), (1, -9, EDGE), (1, 0, EDGE)]
    keys = [pack(np.array([no]), t, kind)[0] for no, t, kind in events]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
