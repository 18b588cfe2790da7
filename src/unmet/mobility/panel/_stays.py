"""Stays: where each vehicle was between two of its rides, as far as its rides tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility.panel._places import COUNTED, Places
from unmet.tables import identifier

if TYPE_CHECKING:
    import duckdb

NOWHERE = -1
DAY = 86_400
_RIDES_AT_ONCE = 3_000_000
_PATHS = """
    CREATE OR REPLACE TABLE _paths AS
    SELECT CASE WHEN vehicle_id IS NOT NULL THEN hash(vehicle_id) END AS vehicle,
           coalesce(s.no, {nowhere}) AS start_no, coalesce(e.no, {nowhere}) AS end_no,
           (epoch_us(started_at) // 1000000)::BIGINT AS start_t,
           (epoch_us(ended_at) // 1000000)::BIGINT AS end_t
    FROM {trips}
    LEFT JOIN _places s ON s.place = start_place LEFT JOIN _places e ON e.place = end_place
    WHERE {counted} AND started_at IS NOT NULL"""
_HOPS = """
    CREATE OR REPLACE TEMP TABLE _hops AS
    SELECT *, lead(start_no) OVER w AS next_no, lead(start_t) OVER w AS next_t,
           lag(start_t) OVER w IS NULL AS is_first,
           coalesce(lag(end_t) OVER w > start_t, false) AS overlapping
    FROM _paths WHERE vehicle IS NOT NULL AND vehicle % {parts} = {part}
    WINDOW w AS (PARTITION BY vehicle ORDER BY start_t, end_t, start_no, end_no)"""
_STAYS = """
    -- between two rides; where the end of a ride is unknown, since its start
    SELECT CASE WHEN end_t IS NULL THEN {nowhere} ELSE end_no END, coalesce(end_t, start_t), next_no, next_t,
           false, false FROM _hops WHERE next_t >= coalesce(end_t, start_t)
    -- before the first ride, and after the last one
    UNION ALL SELECT {nowhere}, {first}, start_no, start_t, true, false FROM _hops WHERE is_first
    UNION ALL SELECT end_no, end_t, {nowhere}, {last}, false, true FROM _hops
        WHERE next_t IS NULL AND end_t IS NOT NULL
    -- around rides that overlap: nobody knows which of them is right
    UNION ALL SELECT {nowhere}, start_t - {day}, start_no, start_t, true, false FROM _hops WHERE overlapping
    UNION ALL SELECT end_no, end_t, {nowhere}, end_t + {day}, false, true FROM _hops WHERE next_t < end_t"""
_NAMELESS = """
    SELECT {nowhere}, start_t - {day}, start_no, start_t, true, false FROM _paths WHERE vehicle IS NULL
    UNION ALL SELECT end_no, end_t, {nowhere}, end_t + {day}, false, true FROM _paths
        WHERE vehicle IS NULL AND end_t IS NOT NULL"""


@dataclass(frozen=True)
class Stays:
    """Times between two rides of a vehicle: at place `a` from second `t1` on, at place `b` until `t2`.

    Attributes
    ----------
    a, b : numbers of places; NOWHERE if unknown. Where they are the same the vehicle stood there.
    is_first, is_last : before the first ride of a vehicle (`a` is NOWHERE), after its last one (`b` is).
    """

    a: np.ndarray
    t1: np.ndarray
    b: np.ndarray
    t2: np.ndarray
    is_first: np.ndarray
    is_last: np.ndarray

    def __len__(self) -> int:
        return len(self.a)

    def where(self, rows: np.ndarray) -> Stays:
        """Return some of the stays."""
        return Stays(
            *(held[rows] for held in (self.a, self.t1, self.b, self.t2, self.is_first, self.is_last))
        )


def read_stays(
    con: duckdb.DuckDBPyConnection, places: Places, trips: str, first: int, last: int
) -> Iterator[Stays]:
    """Yield the stays of all vehicles in parts, between seconds `first` and `last`.

    A vehicle that leaves from elsewhere than where its last ride ended was moved in between. Rides of one
    vehicle that overlap are not linked, and neither are rides without a vehicle id: their vehicle may have
    been there for a day before and after.
    """
    words = {"nowhere": NOWHERE, "first": first, "last": last, "day": DAY}
    con.execute(_PATHS.format(trips=identifier(trips), counted=COUNTED, **words))
    parts = max(1, places.rides // _RIDES_AT_ONCE)
    try:
        for part in range(parts):
            con.execute(_HOPS.format(parts=parts, part=part))
            yield _fetch(con, _STAYS.format(**words), first, last)
        yield _fetch(con, _NAMELESS.format(**words), first, last)
    finally:
        con.execute("DROP TABLE IF EXISTS _paths; DROP TABLE IF EXISTS _hops")


def _fetch(con: duckdb.DuckDBPyConnection, query: str, first: int, last: int) -> Stays:
    found = con.execute(f"""
        SELECT a::INTEGER AS a, greatest(t1, {first})::BIGINT AS t1, b::INTEGER AS b,
               least(t2, {last})::BIGINT AS t2, is_first, is_last
        FROM ({query}) AS stays(a, t1, b, t2, is_first, is_last) ORDER BY ALL""").fetchnumpy()
    names = ("a", "t1", "b", "t2", "is_first", "is_last")
    stays = Stays(*(np.asarray(found[name]) for name in names))
    return stays.where((stays.t2 >= stays.t1) & ((stays.a >= 0) | (stays.b >= 0)))
