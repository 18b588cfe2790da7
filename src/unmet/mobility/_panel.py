"""The panel: one row per place and period that says what was seen, what could be had and what was cut off."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.mobility._availability import write_timeline
from unmet.mobility._covariates import add_covariates, check_covariates
from unmet.mobility._hub_rows import gather_hubs
from unmet.mobility._hubs import membership
from unmet.mobility._ledger import close_ledger
from unmet.mobility._panel_file import describe_panel
from unmet.mobility._periods import Periods, check_zone, make_periods
from unmet.mobility._places import cell_trips
from unmet.mobility._segments import CLOSED, OPEN, UNKNOWN, Segments, segments
from unmet.mobility._stock import Books, Progress, fill_books
from unmet.mobility._stream import DELIVERY, EDGE, PICKUP, REMOVAL, RETURN, Batch, load

if TYPE_CHECKING:
    import duckdb

_PLACES = ("station", "h3", "hub")
_Frame = dict[str, np.ndarray]


@dataclass(frozen=True)
class PanelReport:
    """What the panel holds; the shares of time are over all places and the whole range."""

    rows: int
    places: int
    periods: int
    first: str
    last: str
    by: str
    zone: str
    kind: str
    pickups: int
    rides: int
    rides_without_place: int
    rides_outside: int
    rows_censored: int
    rows_inferred: int
    share_available: float
    share_empty: float
    share_closed: float
    share_unknown: float
    feed: str | None
    inferred_from: str | None
    covariates: tuple[str, ...] = field(default=())


def build_panel(
    con: duckdb.DuckDBPyConnection,
    *,
    by: str = "hour",
    zone: str,
    places: str = "station",
    hubs: int | Mapping[str, str] | str | os.PathLike[str] | None = None,
    h3_resolution: int = 8,
    covariates: Sequence[str] = (),
    holidays: str | None = None,
    weather: str | os.PathLike[str] | None = None,
    weather_keep: Mapping[str, str] | None = None,
    max_gap: str | None = None,
    feed: str | None = None,
    trips: str = "trips",
    timelines: Sequence[str] = (),
    progress: Progress | None = None,
) -> PanelReport:
    """Write table ``panel`` and report on it.

    For a place and period with opening stock S, returns R, deliveries D and removals M by the operator::

        supply    = S + R + D            y never exceeds it
        threshold = max(0, S − M)        min(y, threshold) = min(latent, threshold) unless demand spills over
        stock_end = S + R + D − y − M

    ``censored``: at some moment nothing could be rented. ``exposure``: the share of known, open time in
    which something could; null where no time was known and open. ``threshold`` is 0 (it claims nothing)
    where part of the period was closed or unknown, and null for hubs. ``ds`` is the naive UTC start of the
    local period. There is a row for every place and period of the range.

    Parameters
    ----------
    by : ``"hour"``, ``"day"`` or any DuckDB interval (``"15 minutes"``, ``"week"``).
    zone : local time zone; days run from local midnight to local midnight.
    places : ``"station"``; ``"h3"`` (cells of `h3_resolution`, stock inferred); ``"hub"`` (needs `hubs`).
    hubs : a number for k-means, a mapping place → hub, or a CSV (``place,hub``) or JSON file.
    covariates : any of ``"hour"``, ``"weekday"``, ``"month"``, or ``"calendar"`` for all three.
    holidays : country and subdivision such as ``"US-NJ"``; adds ``holiday``.
    weather : CSV or Parquet file joined by local day or hour; `weather_keep` picks its rows.
    max_gap, feed : see :func:`availability`.
    trips : table of rides, for instance one written by :func:`reduce_fleet`.
    timelines : places of which table ``timeline`` is written too (see :func:`availability`).
    progress : called with (what is being done, parts done, parts in all).
    """
    if places not in _PLACES:
        raise ValueError(f"places must be one of {', '.join(map(repr, _PLACES))}, got {places!r}")
    if (places == "hub") != (hubs is not None):
        raise ValueError("hubs= goes with places='hub': a number of hubs, a mapping or a file of place,hub")
    check_zone(con, zone)
    names = check_covariates(covariates, holidays)
    if places == "h3":
        trips = cell_trips(con, trips, h3_resolution)
    members = membership(con, hubs, trips) if hubs is not None else None
    books = fill_books(
        con,
        zone=zone,
        trips=trips,
        stations=places != "h3",
        max_gap=max_gap,
        feed=feed,
        progress=progress,
    )
    periods = make_periods(con, by, zone, books.first, books.last)
    _station_rows(con, books, periods, progress)
    if timelines:
        write_timeline(con, books, periods.first, periods.last, timelines)
    close_ledger(con)
    if members is not None:
        gather_hubs(con, members)
    report = _report(con, books, periods, places)
    _write_table(con)
    added = add_covariates(con, zone, names, holidays, weather, weather_keep)
    describe_panel(
        con, {"zone": zone, "by": by, "kind": places, "counts": "rides not flagged, or over a day"}
    )
    return PanelReport(**{**report, "covariates": added})


def _station_rows(
    con: duckdb.DuckDBPyConnection, books: Books, periods: Periods, progress: Progress | None
) -> None:
    """Write ``_rows``: counts and seconds per place and period, all integers."""
    con.execute("""CREATE OR REPLACE TEMP TABLE _rows (
        unique_id VARCHAR, period INTEGER, y INTEGER, returns INTEGER, deliveries INTEGER, removals INTEGER,
        stock_start INTEGER, stock_end INTEGER, capacity INTEGER, available_s BIGINT, empty_s BIGINT,
        closed_s BIGINT, unknown_s BIGINT, exposure DOUBLE, usable BOOLEAN, inferred BOOLEAN)""")
    edges = np.array([row[0] for row in con.execute("SELECT start FROM _periods ORDER BY start").fetchall()])
    batches = books.ledger.batches(len(edges))

    def sums(batch: Batch) -> dict[str, np.ndarray]:
        return _sums(segments(batch, edges, periods.last, books.how), batch, len(edges))

    for done, frame in enumerate(_ahead(sums, (load(con, numbers) for numbers in batches))):
        if progress:
            progress("building rows", done, len(batches))
        con.register("_frame", frame)
        con.execute("""
            INSERT INTO _rows
            SELECT place, period, y, returns, deliveries, removals, stock_start,
                   stock_start + returns + deliveries - y - removals, capacity,
                   available_s, empty_s, closed_s, unknown_s,
                   CASE WHEN available_s + empty_s > 0 THEN available_s / (available_s + empty_s)::DOUBLE END,
                   closed_s + unknown_s = 0, NOT observed OR unknown_s > 0
            FROM _frame JOIN _places USING (no) ORDER BY no, period""")
        con.unregister("_frame")
    if progress:
        progress("building rows", len(batches), len(batches))


def _ahead(work: Callable[[Batch], _Frame], batches: Iterator[Batch]) -> Iterator[_Frame]:
    """Results in order, while two threads work ahead; NumPy lets them run side by side."""
    with ThreadPoolExecutor(2) as pool:
        waiting: deque[Future[_Frame]] = deque()
        for batch in batches:
            waiting.append(pool.submit(work, batch))
            if len(waiting) > 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _sums(found: Segments, batch: Batch, periods: int) -> dict[str, np.ndarray]:
    """Counts and seconds of each place and period: every period starts with an EDGE, so sums run between."""
    edge = np.flatnonzero(found.kind == EDGE)
    lasts = found.until - found.t
    inside = found.t >= found.t[edge[0]]  # events before the range only move the stock

    def total(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(np.where(inside, values, 0), edge, dtype=np.int64)

    known, has = found.regime == OPEN, found.level > 0
    places = len(batch.names)
    return {
        "no": np.repeat(np.arange(places) + batch.first, periods),
        "period": np.tile(np.arange(periods), places),
        "y": total(found.kind == PICKUP),
        "returns": total(found.kind == RETURN),
        "deliveries": total(found.kind == DELIVERY),
        "removals": total(found.kind == REMOVAL),
        "stock_start": found.level[edge],
        "available_s": total(np.where(known & has, lasts, 0)),
        "empty_s": total(np.where(known & ~has, lasts, 0)),
        "closed_s": total(np.where(found.regime == CLOSED, lasts, 0)),
        "unknown_s": total(np.where(found.regime == UNKNOWN, lasts, 0)),
    }


def _write_table(con: duckdb.DuckDBPyConnection) -> None:
    """Turn sums into the columns that users know."""
    con.execute("""
        CREATE OR REPLACE TABLE panel AS
        SELECT unique_id, make_timestamp(start * 1000000) AS ds, y, empty_s > 0 AS censored, exposure,
               CASE WHEN usable IS NULL THEN NULL WHEN usable THEN greatest(0, stock_start - removals)
                    ELSE 0 END::INTEGER AS threshold,
               stock_start + returns + deliveries AS supply, returns, deliveries, removals,
               stock_start, stock_end, capacity, inferred,
               (available_s + empty_s) / (available_s + empty_s + closed_s + unknown_s)::DOUBLE AS observed
        FROM _rows JOIN _periods USING (period) ORDER BY unique_id, ds""")


def _report(con: duckdb.DuckDBPyConnection, books: Books, periods: Periods, kind: str) -> dict[str, Any]:
    row = con.execute("""
        SELECT count(*), count(DISTINCT unique_id), sum(y), count(*) FILTER (empty_s > 0),
               count(*) FILTER (inferred), sum(available_s), sum(empty_s), sum(closed_s), sum(unknown_s)
        FROM _rows""").fetchone()
    assert row is not None
    total = max(1, sum(row[5:9]))
    return {
        "rows": row[0],
        "places": row[1],
        "periods": periods.count,
        "first": _stamp(periods.first),
        "last": _stamp(periods.last),
        "by": periods.by,
        "zone": periods.zone,
        "kind": kind,
        "pickups": int(row[2]),
        "rides": books.ledger.rides + books.ledger.without_place,
        "rides_without_place": books.ledger.without_place,
        "rides_outside": books.ledger.rides - int(row[2]),
        "rows_censored": row[3],
        "rows_inferred": row[4],
        "share_available": int(row[5]) / total,
        "share_empty": int(row[6]) / total,
        "share_closed": int(row[7]) / total,
        "share_unknown": int(row[8]) / total,
        "feed": books.how.feed if books.how else None,
        "inferred_from": books.inferred_from,
    }


def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
