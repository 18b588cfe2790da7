"""When a vehicle could be had: one unbroken timeline per place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._ledger import close_ledger
from unmet.mobility._periods import check_zone
from unmet.mobility._segments import CLOSED, UNKNOWN, segments
from unmet.mobility._stock import Books, Progress, fill_books
from unmet.mobility._stream import load

if TYPE_CHECKING:
    import duckdb

STATES = ("available", "empty", "closed", "unknown")


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
    rows = write_timeline(con, books, books.first, books.last + 1)
    close_ledger(con, books.ledger)
    return rows


def write_timeline(
    con: duckdb.DuckDBPyConnection, books: Books, first: int, last: int, places: Sequence[str] | None = None
) -> int:
    """Write the timeline of filled books from `first` to `last`, for all places or for some."""
    con.execute("""CREATE OR REPLACE TABLE timeline (place VARCHAR, from_ TIMESTAMP, until_ TIMESTAMP,
                   state VARCHAR, available INTEGER, inferred BOOLEAN)""")
    rows = 0
    for numbers in _batches(con, books, places):
        batch = load(con, books.ledger, numbers)
        found = segments(batch, np.array([first]), last, books.how)
        lasting = (found.t >= first) & (found.until > found.t)
        no, t, until = found.no[lasting], found.t[lasting], found.until[lasting]
        level = np.maximum(found.level[lasting], 0)
        regime = found.regime[lasting]
        state = np.where(regime == CLOSED, 2, np.where(regime == UNKNOWN, 3, np.where(level > 0, 0, 1)))
        new = np.ones(len(no), bool)
        new[1:] = (np.diff(no) != 0) | (np.diff(level) != 0) | (np.diff(state) != 0)
        begin = np.flatnonzero(new)
        frame = {
            "no": no[begin] + batch.first,
            "a": t[begin],
            "b": until[np.append(begin[1:], len(no)) - 1],
            "state": state[begin],
            "level": level[begin],
        }
        con.register("_frame", frame)
        con.execute(f"""
            INSERT INTO timeline
            SELECT place, make_timestamp(a * 1000000), make_timestamp(b * 1000000), {list(STATES)}[state + 1],
                   level, NOT observed OR state = 3
            FROM _frame JOIN _places USING (no) ORDER BY no, a""")
        con.unregister("_frame")
        rows += len(begin)
    return rows


def _batches(
    con: duckdb.DuckDBPyConnection, books: Books, places: Sequence[str] | None
) -> list[tuple[int, int]]:
    if places is None:
        return books.ledger.batches()
    found = con.execute(
        "SELECT place, no FROM _places WHERE place IN (SELECT unnest(?::VARCHAR[])) ORDER BY no",
        [list(places)],
    ).fetchall()
    missing = sorted(set(places) - {row[0] for row in found})
    if missing:
        some = con.execute("SELECT place FROM _places ORDER BY no LIMIT 5").fetchall()
        raise ValueError(
            f"there is no place {missing[0]!r}; the first places are {', '.join(row[0] for row in some)}"
        )
    return [(row[1], row[1]) for row in found]
