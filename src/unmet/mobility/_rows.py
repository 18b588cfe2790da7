"""Rows of the panel: counts and seconds of each place and period, summed batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility._connection import transaction
from unmet.mobility._gathered import Gathered
from unmet.mobility._hub_rows import gather_hubs
from unmet.mobility._keys import DELIVERY, EDGE, PICKUP, REMOVAL, RETURN
from unmet.mobility._periods import Periods
from unmet.mobility._segments import OPEN, Segments, segments
from unmet.mobility._stock import Books, Progress
from unmet.mobility._stream import Batch, load, load_files

if TYPE_CHECKING:
    import duckdb

_Frame = dict[str, np.ndarray]
_BEGUN = 12  # batches summed up while others are inserted
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
        totals = _insert(con, _frames(con, books, periods, progress), into, select)
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
    con: duckdb.DuckDBPyConnection, frames: Iterator[_Frame], into: str, select: str
) -> dict[str, int]:
    """Write the rows of all batches, and sum up their seconds."""
    totals = dict.fromkeys(_SECONDS, 0)

    def sql() -> str:
        return f"{f'INSERT INTO {into}' if rows.inserted else f'CREATE OR REPLACE TABLE {into} AS'} {select}"

    rows = Gathered(con, sql, in_order=True)
    with transaction(con):
        for frame in frames:
            rows.add(frame)  # places are numbered by name, so that rows come in the order of the panel
            totals = {name: totals[name] + int(frame[name].sum(dtype=np.int64)) for name in _SECONDS}
        rows.flush()
    return totals


def _frames(
    con: duckdb.DuckDBPyConnection, books: Books, periods: Periods, progress: Progress | None
) -> Iterator[_Frame]:
    """Sums of all batches in order; NumPy lets threads work side by side."""
    edges = np.array([row[0] for row in con.execute("SELECT start FROM _periods ORDER BY start").fetchall()])
    batches = books.ledger.batches(len(edges))

    def sums(batch: Batch) -> _Frame:
        return _sums(segments(batch, edges, periods.last, books.how), batch, edges)

    def from_files(numbers: tuple[int, int]) -> _Frame | None:
        batch = load_files(books.ledger, numbers)
        return None if batch is None else sums(batch)

    futures: Iterator[Future[_Frame | None]] = (
        ahead(sums, (load(con, books.ledger, numbers) for numbers in batches))
        if books.ledger.moves
        else ahead(from_files, batches, begun=_BEGUN)
    )
    for done, (numbers, future) in enumerate(zip(batches, futures)):
        if progress:
            progress("building rows", done, len(batches))
        frame = future.result()
        yield sums(load(con, books.ledger, numbers)) if frame is None else frame
    if progress:
        progress("building rows", len(batches), len(batches))


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
