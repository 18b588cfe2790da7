"""Open the books, fill them from records or by inference, and say over which range they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmet.mobility._inferred import infer
from unmet.mobility._keys import unpack
from unmet.mobility._ledger import Ledger, exists, open_ledger, weigh_moves
from unmet.mobility._observed import Listening, kind_of_feed
from unmet.mobility._periods import seconds_of
from unmet.mobility._stream import load

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[str, int, int], None]
SKEW = "1 minute"
IDLE = "1 day"


@dataclass(frozen=True)
class Books:
    """A filled ledger, with the range of known moments in seconds since 1970 (UTC)."""

    ledger: Ledger
    first: int
    last: int
    how: Listening | None
    inferred_from: str | None


def fill_books(
    con: duckdb.DuckDBPyConnection,
    *,
    zone: str,
    trips: str = "trips",
    stations: bool = True,
    max_gap: str | None = None,
    feed: str | None = None,
    progress: Progress | None = None,
) -> Books:
    """Number places, write rides and records, and infer moves where there are no records."""
    if feed not in (None, "events", "snapshots"):
        raise ValueError(f"feed must be None, 'events' or 'snapshots', got {feed!r}")
    gap = None if max_gap is None else seconds_of(con, max_gap, "max_gap")
    tell = progress or (lambda label, done, total: None)
    tell("numbering places", 0, 1)
    status = stations and exists(con, "status")
    ledger = open_ledger(con, trips, status, stations and exists(con, "stations"))
    first, last = known_range(con, ledger, zone)
    how = None
    if status:
        kind = feed or _kind(con, ledger)
        how = Listening(kind, gap, seconds_of(con, SKEW, "skew"), last)
    tell("inferring stock", 0, 1)
    inferred = infer(con, ledger, trips, seconds_of(con, IDLE, "idle"))
    if inferred:
        ledger = weigh_moves(con, ledger)
    return Books(ledger, first, last, how, inferred)


def _kind(con: duckdb.DuckDBPyConnection, ledger: Ledger) -> str:
    """The kind of feed, told from the first places that have one."""
    for batch in ledger.batches():
        held = load(con, ledger, batch)
        if len(held.records.no):
            return kind_of_feed(held.rides[held.observed[unpack(held.rides)[0]]], held.records)
    return "events"


def known_range(con: duckdb.DuckDBPyConnection, ledger: Ledger, zone: str) -> tuple[int, int]:
    """First and last known moment: the rides' range, stretched by records within the same local days.

    Files of rides hold whole local days, so on a day with a ride the other hours are known to be without
    one as far as records reach; on a day without any ride file zero pickups would be a guess.
    """
    row = con.execute(
        """
        WITH days AS (SELECT date_trunc('day', timezone($z, to_timestamp($a))) AS a,
                             date_trunc('day', timezone($z, to_timestamp($b))) + INTERVAL 1 day AS b)
        SELECT epoch(timezone($z, a)::TIMESTAMP)::BIGINT,
               epoch(timezone($z, b)::TIMESTAMP)::BIGINT - 1 FROM days""",
        {"z": zone, "a": ledger.first_ride, "b": ledger.last_ride},
    ).fetchone()
    assert row is not None
    first, last = ledger.first_ride, ledger.last_ride
    if ledger.first_record is not None and ledger.last_record is not None:
        first = min(first, max(ledger.first_record, row[0]))
        last = max(last, min(ledger.last_record, row[1]))
    return first, last
