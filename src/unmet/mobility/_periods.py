"""Periods of the panel: local days, hours or any step, with their true length in UTC."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_CALENDAR = ("day", "week", "month", "quarter", "year")
_SLOTS_AT_MOST = 50_000_000


@dataclass(frozen=True)
class Periods:
    """Bounds of the range in seconds since 1970 (UTC) and the width of the lookup slots."""

    first: int
    last: int
    slot: int
    count: int
    by: str
    zone: str

    def number_of(self, seconds: str) -> str:
        """SQL for the slot that holds a moment given in seconds since 1970."""
        return f"({seconds} - {self.first}) // {self.slot}"


def check_zone(con: duckdb.DuckDBPyConnection, zone: str) -> str:
    """Return the zone's name, or say that the name is not one."""
    import duckdb

    try:
        con.execute("SELECT timezone(?, TIMESTAMP '2020-06-01 00:00:00')::TIMESTAMP", [zone]).fetchone()
    except duckdb.Error:
        raise ValueError(
            f"zone={zone!r} is not a time zone; write a name such as 'America/New_York'"
        ) from None
    return zone


def seconds_of(con: duckdb.DuckDBPyConnection, interval: str, argument: str) -> int:
    """Length of a DuckDB interval in whole seconds; months count 30 days."""
    import duckdb

    try:
        row = con.execute("SELECT epoch(?::INTERVAL)::BIGINT", [interval]).fetchone()
    except duckdb.Error:
        row = None
    if not row or row[0] is None or row[0] <= 0:
        raise ValueError(f"{argument}={interval!r} is not a positive interval; write for instance '2 hours'")
    return int(row[0])


def make_periods(
    con: duckdb.DuckDBPyConnection, by: str, zone: str, first: int, last: int, table: str = "_periods"
) -> Periods:
    """Write the periods from the one that holds `first` to the one that holds `last` (seconds, UTC).

    Days and longer steps run from local midnight to local midnight, so a spring day has 23 hours and an
    autumn day 25. Shorter steps are counted in elapsed time from local midnight and cut at the next one:
    the hour that a clock shows twice is two periods.

    Tables: ``_periods(period, start, stop)`` in seconds and ``_slots(slot, period)``, a lookup of equal
    slots (as wide as the bounds allow) that finds the period of a moment with a hash join.
    """
    check_zone(con, zone)
    step = re.sub(r"^1\s+", "", by.strip().lower()).rstrip("s")
    zoned = zone.replace("'", "''")

    def utc(local: str) -> str:
        return f"epoch(timezone('{zoned}', {local})::TIMESTAMP)::BIGINT"

    def local(seconds: int) -> str:
        return f"timezone('{zoned}', to_timestamp({seconds}))"

    if step in _CALENDAR:
        span, trunc, inner = f"INTERVAL 1 {step}", step, None
    else:
        length = seconds_of(con, by if re.match(r"^\d", by.strip()) else f"1 {by}", "by")
        if length >= 86_400:
            if length % 86_400:
                raise ValueError(f"by={by!r}: a step longer than a day must be whole days")
            span, trunc, inner = f"INTERVAL {length // 86_400} day", "day", None
        else:
            span, trunc, inner = "INTERVAL 1 day", "day", length
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _days AS
        SELECT {utc("day")} AS start, {utc(f"day + {span}")} AS stop
        FROM unnest(generate_series(date_trunc('{trunc}', {local(first)})::TIMESTAMP,
                                    {local(last)}::TIMESTAMP, {span})) AS days(day)""")
    pieces = "SELECT start, stop FROM _days"
    if inner:
        pieces = f"""SELECT s AS start, least(s + {inner}, stop) AS stop
                     FROM (SELECT unnest(range(start, stop, {inner})) AS s, stop FROM _days)"""
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        SELECT (row_number() OVER (ORDER BY start) - 1)::INTEGER AS period, start, stop
        FROM ({pieces}) WHERE stop > {first} AND start <= {last} ORDER BY start""")
    con.execute("DROP TABLE _days")
    bounds = [row[0] for row in con.execute(f"SELECT start FROM {table} ORDER BY start").fetchall()]
    end = con.execute(f"SELECT max(stop) FROM {table}").fetchone()
    assert end is not None
    edges = [*bounds, int(end[0])]
    slot = math.gcd(*(edge - edges[0] for edge in edges[1:]))
    if (edges[-1] - edges[0]) // slot > _SLOTS_AT_MOST:
        raise ValueError(f"by={by!r} makes too many periods for this range; choose a longer step")
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _slots AS
        SELECT unnest(range((start - {edges[0]}) // {slot}, (stop - {edges[0]}) // {slot})) AS slot, period
        FROM {table} ORDER BY 1""")
    return Periods(edges[0], edges[-1], slot, len(bounds), by, zone)
