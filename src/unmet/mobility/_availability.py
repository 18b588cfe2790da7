"""When a vehicle could be had: one unbroken timeline per place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmet.mobility._periods import check_zone
from unmet.mobility._segments import STATE, segments
from unmet.mobility._stock import Books, Progress, fill_books

if TYPE_CHECKING:
    import duckdb


def availability(
    con: duckdb.DuckDBPyConnection,
    *,
    max_gap: str | None = None,
    feed: str | None = None,
    zone: str = "UTC",
    progress: Progress | None = None,
) -> int:
    """Fill ``timeline(place, from_, until_, state, available, inferred)`` and return its number of rows.

    ``state`` is ``'available'``, ``'empty'``, ``'closed'`` (renting is off) or ``'unknown'``. Between two
    records the stock follows the rides, so that a place that ran out and recovered between two snapshots is
    seen as empty. Times are naive UTC; the segments of a place meet without a gap or an overlap.

    Parameters
    ----------
    con : connection with the canonical tables ``trips`` and, where there is a feed, ``status``.
    max_gap : a longer silence of a place is unknown. ``None``: two hours in a feed of snapshots. In a feed
        of changes silence means that nothing changed, and only a silence of seven days, or of two hours
        after a ride that should have changed something, is unknown.
    feed : ``"events"`` or ``"snapshots"``; ``None`` decides from the records.
    zone : local zone; decides only which days the range may reach into.
    """
    books = fill_books(con, zone=check_zone(con, zone), max_gap=max_gap, feed=feed, progress=progress)
    return write_timeline(con, books)


def write_timeline(con: duckdb.DuckDBPyConnection, books: Books) -> int:
    """Write the timeline of filled books."""
    first, last = books.first, books.last + 1
    con.execute("""CREATE OR REPLACE TABLE timeline (place VARCHAR, from_ TIMESTAMP, until_ TIMESTAMP,
                   state VARCHAR, available INTEGER, inferred BOOLEAN)""")
    for batch in books.ledger.batches:
        segments(con, batch, first, last)
        con.execute(f"""
            INSERT INTO timeline
            WITH lasting AS (
                SELECT no, t, until, level, {STATE} AS state FROM _segments WHERE t >= {first} AND until > t),
            changes AS (
                SELECT *, lag(level) OVER w IS DISTINCT FROM level
                          OR lag(state) OVER w IS DISTINCT FROM state AS new
                FROM lasting WINDOW w AS (PARTITION BY no ORDER BY t)),
            runs AS (SELECT *, sum(new::INTEGER) OVER (PARTITION BY no ORDER BY t) AS run FROM changes)
            SELECT place, make_timestamp(min(t) * 1000000) AS from_, make_timestamp(max(until) * 1000000),
                   any_value(state), any_value(greatest(level, 0)),
                   NOT observed OR any_value(state) = 'unknown'
            FROM runs JOIN _places USING (no) GROUP BY no, place, observed, run ORDER BY place, from_""")
        con.execute("DROP TABLE _segments")
    row = con.execute("SELECT count(*) FROM timeline").fetchone()
    assert row is not None
    return int(row[0])
