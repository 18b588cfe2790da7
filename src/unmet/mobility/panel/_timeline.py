"""Timelines: the state and stock of each place over time, without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmet.calendar import check_zone
from unmet.mobility.panel._availability import STATES, UNKNOWN, segments
from unmet.mobility.panel._ledger import Ledger, Progress, open_ledger

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
    """Write ``timeline(place, from_, until_, state, available, inferred)`` and return its number of rows.

    ``state`` is ``'available'``, ``'empty'``, ``'closed'`` (renting is off) or ``'unknown'``. Between two
    records the stock follows the rides, so a place that ran out and recovered between two snapshots is seen
    as empty. Times are naive UTC; the segments of a place follow each other without gap or overlap.

    Parameters
    ----------
    con : connection with the canonical tables ``trips`` and, where there is a feed, ``status``.
    max_gap : treat stock as unknown after this long without a record. ``None``: after two hours in a feed
        of snapshots. In a feed of changes no record means no change: stock is unknown only after seven
        days, or after two hours if a ride should have changed it.
    feed : ``"events"`` or ``"snapshots"``; ``None``: detect it from the records.
    zone : local time zone; it only decides how far records may extend the range of the rides.
    """
    ledger = open_ledger(con, zone=check_zone(zone), max_gap=max_gap, feed=feed, progress=progress)
    rows = write_timeline(con, ledger, ledger.first, ledger.last + 1)
    ledger.close()
    return rows


def write_timeline(
    con: duckdb.DuckDBPyConnection, ledger: Ledger, first: int, last: int, places: Sequence[str] | None = None
) -> int:
    """Write the timeline from second `first` to `last`, for all or some places; return its number of rows."""
    con.execute("""CREATE OR REPLACE TABLE timeline (place VARCHAR, from_ TIMESTAMP, until_ TIMESTAMP,
                   state VARCHAR, available INTEGER, inferred BOOLEAN)""")
    rows = 0
    for numbers in ledger.events.batches() if places is None else _numbers(con, places):
        found = segments(ledger, numbers, np.array([first]), last)
        lasting = (found.t >= first) & (found.until > found.t)
        no, t, until, state = (held[lasting] for held in (found.no, found.t, found.until, found.state))
        level = found.level[lasting]
        new = np.ones(len(no), bool)
        new[1:] = (np.diff(no) != 0) | (np.diff(level) != 0) | (np.diff(state) != 0)
        begin = np.flatnonzero(new)
        frame = {
            "no": no[begin] + numbers[0],
            "a": t[begin],
            "b": until[np.append(begin[1:], len(no)) - 1],
            "state": state[begin],
            "level": level[begin],
        }
        con.register("_frame", frame)
        con.execute(f"""
            INSERT INTO timeline
            SELECT place, make_timestamp(a * 1000000), make_timestamp(b * 1000000), {list(STATES)}[state + 1],
                   level, NOT observed OR state = {UNKNOWN}
            FROM _frame JOIN _places USING (no) ORDER BY no, a""")
        con.unregister("_frame")
        rows += len(begin)
    return rows


def _numbers(con: duckdb.DuckDBPyConnection, places: Sequence[str]) -> list[tuple[int, int]]:
    """Return a batch for each of these places."""
    found = con.execute(
        "SELECT place, no FROM _places WHERE place IN (SELECT unnest(?::VARCHAR[])) ORDER BY no",
        [list(places)],
    ).fetchall()
    missing = sorted(set(places) - {row[0] for row in found})
    if missing:
        some = con.execute("SELECT place FROM _places ORDER BY no LIMIT 5").fetchall()
        raise ValueError(
            f"there is no place {missing[0]!r}; places are, for instance, {', '.join(row[0] for row in some)}"
        )
    return [(row[1], row[1]) for row in found]
