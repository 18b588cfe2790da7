"""Write the rows of the panel: counts and seconds of each place and period."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unmet.calendar import Periods
from unmet.mobility.panel._availability import AVAILABLE, EMPTY, STATES, Segments, segments
from unmet.mobility.panel._columns import select_columns
from unmet.mobility.panel._events import DELIVERY, EDGE, KINDS, PICKUP, REMOVAL, RETURN
from unmet.mobility.panel._hubs import gather_hubs
from unmet.mobility.panel._ledger import Ledger, Progress
from unmet.mobility.panel._shared_rows import SharedLedger
from unmet.tables import transaction

if TYPE_CHECKING:
    import duckdb

_Frame = dict[str, np.ndarray]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
# Rows of one insert. DuckDB keeps the order of up to 50 × 2,048 rows; more are split among threads.
_SLAB = 48 * 2_048
_SLABS_AT_ONCE = 5  # in one transaction: four full row groups, which DuckDB writes only once
_SECONDS = tuple(f"{state}_s" for state in STATES)
# Seconds in which a vehicle surely stood there, can have stood there, and in which a request was served.
_BOUNDS = ("low_s", "high_s", "reach_s")
_FRAME: dict[str, type] = {
    "no": np.int32,
    "period": np.int32,
    "start": np.int64,
    **dict.fromkeys(("y", "returns", "deliveries", "removals", "stock_start", *_SECONDS, *_BOUNDS), np.int32),
}

# The sums of a batch, with the stock at the end and the shares of time of a station.
_SUMS = """
    SELECT place AS unique_id, period, start, y, returns, deliveries, removals, stock_start,
           stock_start + returns + deliveries - y - removals AS stock_end, capacity,
           available_s, empty_s, closed_s, unknown_s,
           low_s, high_s, reach_s,
           available_s / nullif(available_s + empty_s, 0)::DOUBLE AS exposure,
           low_s / nullif(available_s + empty_s, 0)::DOUBLE AS exposure_low,
           high_s / nullif(available_s + empty_s, 0)::DOUBLE AS exposure_high,
           reach_s / nullif(available_s + empty_s, 0)::DOUBLE AS reach,
           closed_s + unknown_s = 0 AND low_s = high_s AS usable, NOT observed OR unknown_s > 0 AS inferred
    FROM _frame JOIN _places USING (no)"""


def write_rows(
    con: duckdb.DuckDBPyConnection,
    ledger: Ledger,
    periods: Periods,
    members: str | None,
    served: np.ndarray,
    progress: Progress | None,
    shared: SharedLedger | None = None,
) -> dict[str, int]:
    """Write table ``panel``, ordered by place and time; return the seconds spent in each state.

    An existing panel is replaced only when the new one is complete.

    Parameters
    ----------
    members : table of places and their hubs; ``None`` if there are no hubs.
    served : chance that a request is served while 1, 2, … vehicles stand (see :func:`measure_served`).
    shared : the ledger on a cluster, whose workers then compute the rows.
    """
    columns = select_columns()
    into, select = ("_panel", f"{columns} FROM ({_SUMS})") if members is None else ("_rows", _SUMS)
    try:
        totals = _insert(con, ledger, periods, into, select, served, progress, shared)
        if members is not None:
            gather_hubs(con, members)
            con.execute(f"CREATE OR REPLACE TABLE _panel AS {columns} FROM _hub_rows ORDER BY unique_id, ds")
            [sums] = con.execute(
                f"SELECT {', '.join(f'sum({name})' for name in _SECONDS)} FROM _hub_rows"
            ).fetchall()
            totals = dict(zip(_SECONDS, map(int, sums)))
        con.execute("BEGIN; DROP TABLE IF EXISTS panel; ALTER TABLE _panel RENAME TO panel; COMMIT")
    finally:
        for table in ("_panel", "_rows", "_hub_rows"):
            con.execute(f"DROP TABLE IF EXISTS {table}")
    return totals


def _insert(
    con: duckdb.DuckDBPyConnection,
    ledger: Ledger,
    periods: Periods,
    into: str,
    select: str,
    served: np.ndarray,
    progress: Progress | None,
    shared: SharedLedger | None,
) -> dict[str, int]:
    """Write the rows of all places in order of their numbers, and return the total seconds in each state.

    While one batch is written, threads compute the next ones.
    """
    edges = periods.starts
    totals = dict.fromkeys(_SECONDS, 0)
    batches = ledger.events.batches(len(edges))

    def sums(numbers: tuple[int, int]) -> _Frame:
        return rows_of(ledger, numbers, periods, served)

    def told(frames: Iterable[_Frame]) -> Iterator[_Frame]:
        for done, frame in enumerate(frames, start=1):
            for name in _SECONDS:
                totals[name] += int(frame[name].sum(dtype=np.int64))
            yield frame
            if progress:
                progress("building rows", done, len(batches))

    def insert(frame: _Frame, statement: str) -> None:
        con.register("_frame", frame)
        con.execute(f"{statement} {select}")
        con.unregister("_frame")

    insert({name: np.zeros(0, kind) for name, kind in _FRAME.items()}, f"CREATE OR REPLACE TABLE {into} AS")
    [(threads,)] = con.execute("SELECT current_setting('threads')").fetchall()
    if shared is None:
        made = _in_order(sums, batches, int(threads))
    else:
        made = shared.frames("rows", rows_of, batches, served)
    with closing(made) as frames:
        slabs = _slabs(told(frames))
        for slab in slabs:
            with transaction(con):
                for held in chain([slab], islice(slabs, _SLABS_AT_ONCE - 1)):
                    insert(held, f"INSERT INTO {into}")
    return totals


def _in_order(
    work: Callable[[_Item], _Result], items: Iterable[_Item], threads: int
) -> Generator[_Result, None, None]:
    """Yield ``work(item)`` in the order of the items, while threads work on the next few."""
    waiting: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="unmet") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _slabs(frames: Iterable[_Frame]) -> Iterator[_Frame]:
    """Regroup frames into frames of `_SLAB` rows; the last one may have fewer."""
    held: list[_Frame] = []
    for frame in frames:
        held.append(frame)
        rows = sum(len(one["no"]) for one in held)
        if rows >= _SLAB:
            whole = {name: np.concatenate([one[name] for one in held]) for name in frame}
            cut = rows - rows % _SLAB
            for begin in range(0, cut, _SLAB):
                yield {name: values[begin : begin + _SLAB] for name, values in whole.items()}
            held = [{name: values[cut:] for name, values in whole.items()}]
    if held and len(held[0]["no"]):
        yield {name: np.concatenate([one[name] for one in held]) for name in held[0]}


def rows_of(ledger: Ledger, numbers: tuple[int, int], periods: Periods, served: np.ndarray) -> _Frame:
    """Return counts and seconds of each period of consecutive places."""
    edges = periods.starts
    return _sums(segments(ledger, numbers, edges, periods.last), numbers, edges, served)


def _sums(found: Segments, numbers: tuple[int, int], edges: np.ndarray, served: np.ndarray) -> _Frame:
    """Return counts and seconds of each place and period; every period starts with an EDGE."""
    edge = found.kind == EDGE
    places = numbers[1] - numbers[0] + 1
    rows = places * len(edges)
    stock = found.level[edge]
    row, kind, lasts, state = np.cumsum(edge) - 1, found.kind, found.until - found.t, found.state
    shares = [found.chance, found.low, found.high, found.chance * found.served(served)]
    inside = found.t >= edges[0]
    if not inside.all():  # events before the first period only change the stock
        row, kind, lasts, state = row[inside], kind[inside], lasts[inside], state[inside]
        shares = [share[inside] for share in shares]
    counts = np.bincount(KINDS * row + kind, minlength=KINDS * rows).reshape(rows, KINDS)
    # Sums of whole seconds are exact in floating point.
    seconds = np.bincount(4 * row + state, weights=lasts, minlength=4 * rows).reshape(rows, 4)
    if found.low is not found.chance:  # stock was inferred at some of these places
        open_s = seconds[:, AVAILABLE] + seconds[:, EMPTY]
        lasts = np.where(state <= EMPTY, lasts, 0)
        chance, low, high, reach = (np.bincount(row, lasts * share, minlength=rows) for share in shares)
        seconds[:, AVAILABLE] = np.clip(np.round(chance), low, high)
        seconds[:, EMPTY] = open_s - seconds[:, AVAILABLE]
    else:
        low = high = seconds[:, AVAILABLE]
        stands = lasts * (state == AVAILABLE)
        reach = low if (served == 1).all() else np.bincount(row, stands * shares[3], minlength=rows)
    reach = np.minimum(np.round(reach), seconds[:, AVAILABLE])
    # The same integer types as in the panel, so that the database does not convert them.
    return {
        "no": np.repeat(np.arange(numbers[0], numbers[1] + 1, dtype=np.int32), len(edges)),
        "period": np.tile(np.arange(len(edges), dtype=np.int32), places),
        "start": np.tile(edges, places),
        "y": counts[:, PICKUP].astype(np.int32),
        "returns": counts[:, RETURN].astype(np.int32),
        "deliveries": counts[:, DELIVERY].astype(np.int32),
        "removals": counts[:, REMOVAL].astype(np.int32),
        "stock_start": stock.astype(np.int32),
        **{name: seconds[:, number].astype(np.int32) for number, name in enumerate(_SECONDS)},
        **{name: bound.astype(np.int32) for name, bound in zip(_BOUNDS, (low, high, reach))},
    }
