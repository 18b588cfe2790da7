"""Rows of the panel: counts and seconds of each place and period, summed batch by batch."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility._gathered import Gathered
from unmet.mobility._hub_rows import gather_hubs
from unmet.mobility._keys import DELIVERY, EDGE, PICKUP, REMOVAL, RETURN
from unmet.mobility._periods import Periods
from unmet.mobility._segments import OPEN, Segments, segments
from unmet.mobility._stock import Books, Progress
from unmet.mobility._stream import Batch, load

if TYPE_CHECKING:
    import duckdb

_Frame = dict[str, np.ndarray]
_Written = tuple["duckdb.DuckDBPyConnection", dict[str, int]]  # rows not yet committed, and their seconds
_ROWS_AT_ONCE = 4 * 122_880  # rows of a stretch, in whole row groups of DuckDB
_AT_ONCE = 4  # stretches written at the same time
_SECONDS = ("available_s", "empty_s", "closed_s", "unknown_s")

# What a batch gives, with the stock at the end and the shares that a station's row needs.
_ROWS = """
    SELECT place AS unique_id, period, start, y, returns, deliveries, removals, stock_start,
           stock_start + returns + deliveries - y - removals AS stock_end, capacity,
           available_s, empty_s, closed_s, unknown_s,
           CASE WHEN available_s + empty_s > 0 THEN available_s / (available_s + empty_s)::DOUBLE END
               AS exposure,
           closed_s + unknown_s = 0 AS usable, NOT observed OR unknown_s > 0 AS inferred
    FROM _frame JOIN _places USING (no)"""

# Sums as the columns that users know.
_PANEL = """
    SELECT unique_id, make_timestamp(start * 1000000) AS ds, y::INTEGER AS y, empty_s > 0 AS censored,
           exposure,
           CASE WHEN usable IS NULL THEN NULL WHEN usable THEN greatest(0, stock_start - removals)
                ELSE 0 END::INTEGER AS threshold,
           (stock_start + returns + deliveries)::INTEGER AS supply, returns::INTEGER AS returns,
           deliveries::INTEGER AS deliveries, removals::INTEGER AS removals,
           stock_start::INTEGER AS stock_start, stock_end::INTEGER AS stock_end,
           capacity::INTEGER AS capacity, inferred,
           (available_s + empty_s) / (available_s + empty_s + closed_s + unknown_s)::DOUBLE AS observed
    FROM"""


def write_rows(
    con: duckdb.DuckDBPyConnection,
    books: Books,
    periods: Periods,
    members: str | None,
    progress: Progress | None,
) -> dict[str, int]:
    """Write table ``panel``, ordered by place and time; return the seconds spent in each state.

    Parameters
    ----------
    members : table of hubs and their members; ``None`` for a row per place.
    """
    into, select = ("_panel", f"{_PANEL} ({_ROWS})") if members is None else ("_rows", _ROWS)
    try:
        totals = _insert(con, books, periods, into, select, progress)
        if members is not None:
            gather_hubs(con, members)
            con.execute(f"CREATE OR REPLACE TABLE _panel AS {_PANEL} _hub_rows ORDER BY unique_id, ds")
            sums = con.execute(
                f"SELECT {', '.join(f'sum({name})' for name in _SECONDS)} FROM _hub_rows"
            ).fetchone()
            assert sums is not None
            totals = dict(zip(_SECONDS, map(int, sums)))
        con.execute("BEGIN; DROP TABLE IF EXISTS panel; ALTER TABLE _panel RENAME TO panel; COMMIT")
    finally:
        for table in ("_panel", "_rows", "_hub_rows"):
            con.execute(f"DROP TABLE IF EXISTS {table}")
    return totals


def _insert(
    con: duckdb.DuckDBPyConnection,
    books: Books,
    periods: Periods,
    into: str,
    select: str,
    progress: Progress | None,
) -> dict[str, int]:
    """Write the rows of all places, and sum up their seconds.

    Threads write a stretch of places each, in a transaction of its own; committed in order, their rows come
    to stand in order. Places are numbered by name, so that this is the order of the panel.
    """
    edges = np.array([row[0] for row in con.execute("SELECT start FROM _periods ORDER BY start").fetchall()])
    con.register("_frame", _no_rows())
    con.execute(f"CREATE OR REPLACE TABLE {into} AS {select}")
    con.unregister("_frame")

    def write(item: tuple[duckdb.DuckDBPyConnection, tuple[int, int]]) -> _Written:
        cursor, places = item
        try:
            cursor.execute("BEGIN")
            rows = Gathered(cursor, lambda: f"INSERT INTO {into} {select}", in_order=True)
            totals = dict.fromkeys(_SECONDS, 0)
            for numbers in books.ledger.batches(len(edges), places):
                batch = load(cursor, books.ledger, numbers)
                frame = _sums(segments(batch, edges, periods.last, books.how), batch, edges)
                rows.add(frame)
                for name in _SECONDS:
                    totals[name] += int(frame[name].sum(dtype=np.int64))
            rows.flush()
        except BaseException:
            cursor.close()
            raise
        return cursor, totals

    step = max(1, _ROWS_AT_ONCE // len(edges))
    stretches = [
        (first, min(first + step, books.ledger.places) - 1) for first in range(0, books.ledger.places, step)
    ]
    totals = dict.fromkeys(_SECONDS, 0)
    threads = min(int(con.execute("SELECT current_setting('threads')").fetchall()[0][0]), _AT_ONCE)
    cursors = ((con.cursor(), places) for places in stretches)
    # Rows pass by the places, whichever are more, so that they keep their order.
    with (
        closing(ahead(write, cursors, threads, discard=lambda found: found[0].close())) as written,
    ):
        for done, future in enumerate(written):
            if progress:
                progress("building rows", done, len(stretches))
            cursor, seconds = future.result()
            cursor.execute("COMMIT")
            cursor.close()
            totals = {name: totals[name] + seconds[name] for name in _SECONDS}
    if progress:
        progress("building rows", len(stretches), len(stretches))
    return totals


def _no_rows() -> _Frame:
    """A frame as :func:`_sums` makes them, without any rows."""
    names = ("no", "period", "y", "returns", "deliveries", "removals", "stock_start", *_SECONDS)
    return {**{name: np.zeros(0, np.int32) for name in names}, "start": np.zeros(0, np.int64)}


def _sums(found: Segments, batch: Batch, edges: np.ndarray) -> _Frame:
    """Counts and seconds of each place and period: every period starts with an EDGE."""
    edge = found.kind == EDGE
    places, rows = len(batch.observed), len(batch.observed) * len(edges)
    stock = found.level[edge]
    row, kind, lasts = np.cumsum(edge) - 1, found.kind, found.until - found.t
    state = np.where(found.regime == OPEN, found.level <= 0, found.regime + 1)
    inside = found.t >= edges[0]
    if not inside.all():  # events before the range only move the stock
        row, kind, lasts, state = row[inside], kind[inside], lasts[inside], state[inside]
    counts = np.bincount(8 * row + kind, minlength=8 * rows).reshape(rows, 8)
    # Sums of whole seconds are exact in floating point.
    seconds = np.bincount(4 * row + state, weights=lasts, minlength=4 * rows).reshape(rows, 4)
    numbers = np.arange(len(edges), dtype=np.int32)
    # Integers as wide as the columns of the panel: the database need not change them.
    return {
        "no": np.repeat(np.arange(places, dtype=np.int32) + np.int32(batch.first), len(edges)),
        "period": np.tile(numbers, places),
        "start": np.tile(edges, places),
        "y": counts[:, PICKUP].astype(np.int32),
        "returns": counts[:, RETURN].astype(np.int32),
        "deliveries": counts[:, DELIVERY].astype(np.int32),
        "removals": counts[:, REMOVAL].astype(np.int32),
        "stock_start": stock.astype(np.int32),
        **{name: seconds[:, number].astype(np.int32) for number, name in enumerate(_SECONDS)},
    }
