"""Build the panel: one row per place and period with pickups, availability and censoring."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from unmet.calendar import Periods, check_zone, make_periods
from unmet.mobility.panel._availability import write_timeline
from unmet.mobility.panel._cells import ABSENT, cell_trips, drop_unserved
from unmet.mobility.panel._companions import measure_groups
from unmet.mobility.panel._covariates import add_covariates, check_covariates
from unmet.mobility.panel._file import describe_panel
from unmet.mobility.panel._hubs import membership
from unmet.mobility.panel._ledger import Ledger, Progress, open_ledger
from unmet.mobility.panel._lowered import Reserve, write_lowered
from unmet.mobility.panel._rows import write_rows
from unmet.mobility.panel._served_share import measure_served
from unmet.mobility.panel._shared_rows import SharedLedger
from unmet.mobility.sources import WeatherReport

if TYPE_CHECKING:
    import duckdb

    from unmet.runs import Cluster

_MOST_ROWS = 1_000_000_000
_PLACES = ("station", "h3", "hub")


@dataclass(frozen=True)
class PanelReport:
    """What the panel holds. Shares of time are over all places and periods.

    `vehicles_standing` is the mean number of vehicles at all places together, `refusal` the chance that a
    request does not take the only vehicle there (see :func:`measure_served`), `reserve` the vehicles of
    every place that table ``lowered`` holds back. `notes` say what is not known and what was assumed, one
    sentence for each kind.
    """

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
    vehicles_standing: float
    refusal: float
    reserve: int | None
    covariates: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())
    assumed_ends: bool = False
    weather: WeatherReport | None = None


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
    max_reject_share: float = 0.01,
    max_gap: str | None = None,
    feed: str | None = None,
    trips: str = "trips",
    timelines: Sequence[str] = (),
    reserve: Reserve | None = None,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> PanelReport:
    """Write table ``panel``, and return a summary of it.

    For a place and period with opening stock S, returns R, deliveries D and removals M by the operator::

        supply    = S + R + D            y never exceeds it
        threshold = max(0, S − M)        min(y, threshold) = min(latent, threshold) unless demand spills over
        stock_end = S + R + D − y − M

    ``censored`` is true if there was a moment without vehicles. ``exposure`` is the share of time with a
    vehicle, out of the time in which the place was known to be open; it is null if there was no such time.
    ``threshold`` is 0, which implies nothing about demand, if the place was closed or unknown for part of
    the period; it is null for hubs. ``ds`` is the start of the local period in naive UTC. There is a row for
    every place and period. Where stock is inferred from rides, ``exposure_low`` and ``exposure_high``
    bound the exposure; with a feed both equal it.

    Parameters
    ----------
    by : ``"hour"``, ``"day"`` or any DuckDB interval (``"15 minutes"``, ``"week"``).
    zone : local time zone; days run from midnight to midnight in this zone.
    places : ``"station"``; ``"h3"`` (cells of `h3_resolution`, stock inferred); ``"hub"`` (needs `hubs`).
    hubs : a number of hubs, found by k-means; a mapping place → hub; or a CSV (``place,hub``) or JSON file.
    covariates : any of ``"hour"``, ``"weekday"``, ``"month"``, or ``"calendar"`` for all three.
    holidays : country or region, such as ``"US-NJ"``; adds column ``holiday``.
    weather : CSV or Parquet file, joined by local day or hour.
    weather_keep : column → value; use only the rows of the weather file with these values.
    max_reject_share : stop if a larger share of the weather cannot be read.
    max_gap, feed : see :func:`availability`.
    trips : table of rides, for instance one written by :func:`reduce_fleet`.
    timelines : places for which to write table ``timeline`` too (see :func:`availability`).
    reserve : also write table ``lowered``: what would have been seen if this many vehicles of every place
        were not for rent (see :func:`write_lowered`). ``"auto"``: 2, 4 or 8, by how many rides it hides.
    progress : called with (name of the step, parts done, number of parts).
    cluster : a `Cluster` with a folder, whose workers compute the rows: one task for each group of places,
        and the same bytes. Events are sorted here and written to its folder once.
    """
    if places not in _PLACES:
        raise ValueError(f"places must be one of {', '.join(map(repr, _PLACES))}, got {places!r}")
    if (places == "hub") != (hubs is not None):
        raise ValueError(
            "hubs must be given with places='hub', and only then: a number, a mapping or a file of place,hub"
        )
    check_zone(zone)
    names = check_covariates(covariates, holidays)
    notes: list[str] = []
    if places == "h3":
        trips, notes = cell_trips(con, trips, h3_resolution)
    assumed = bool(notes)
    members = membership(con, hubs, trips) if hubs is not None else None
    ledger = open_ledger(
        con,
        zone=zone,
        trips=trips,
        stations=places != "h3",
        max_gap=max_gap,
        feed=feed,
        progress=progress,
    )
    periods = make_periods(by, zone, ledger.first, ledger.last)
    _check_size(periods, len(ledger.places))
    served, groups = measure_served(ledger, zone), measure_groups(ledger)
    shared = None if cluster is None else SharedLedger(cluster, ledger, periods)
    seconds = write_rows(con, ledger, periods, members, served, progress, shared)
    kept_back = None
    if reserve is not None:
        kept_back = write_lowered(con, ledger, periods, members, reserve, served, shared)
    if shared is not None:
        shared.forget()
    if timelines:
        write_timeline(con, ledger, periods.first, periods.last, timelines)
    ledger.close()
    if places == "h3":
        notes += drop_unserved(con, (periods.last - periods.first) / periods.count / 3600)
        notes += [ABSENT] if seconds["unknown_s"] else []
    report = _report(con, ledger, periods, places, seconds)
    report |= {"notes": (*notes, *report["notes"]), "assumed_ends": assumed}
    added, about_weather = add_covariates(con, zone, names, holidays, weather, weather_keep, max_reject_share)
    about = {"zone": zone, "by": by, "kind": places, "counts": "rides not flagged, or over a day"}
    about["groups"] = f"{groups:.3f}"
    if holidays is not None:
        about["holidays"] = holidays
    if ledger.inferred_from is not None:
        about["inferred_from"] = ledger.inferred_from
    describe_panel(con, about)
    report |= {"refusal": float(1 - served[0]), "reserve": kept_back}
    return PanelReport(**{**report, "covariates": added, "weather": about_weather})


def _check_size(periods: Periods, places: int) -> None:
    """Refuse a panel that nobody could use, as one wrong date among the rides makes it."""
    if periods.count * places > _MOST_ROWS:
        raise ValueError(
            f"by={periods.by!r} makes {periods.count * places:,} rows: {places:,} places × {periods.count:,} "
            f"periods from {_stamp(periods.first)[:10]} to {_stamp(periods.last)[:10]}; remove rides with "
            "wrong dates, or choose a longer step"
        )


def _report(
    con: duckdb.DuckDBPyConnection, ledger: Ledger, periods: Periods, kind: str, seconds: dict[str, int]
) -> dict[str, Any]:
    row = con.execute(
        "SELECT count(*), sum(y), count(*) FILTER (censored), count(*) FILTER (inferred), sum(stock_start) "
        "FROM panel"
    ).fetchone()
    assert row is not None
    total = max(1, sum(seconds.values()))
    return {
        "rows": row[0],
        "places": row[0] // periods.count,
        "periods": periods.count,
        "first": _stamp(periods.first),
        "last": _stamp(periods.last),
        "by": periods.by,
        "zone": periods.zone,
        "kind": kind,
        "pickups": int(row[1]),
        "rides": ledger.places.rides + ledger.places.without_place,
        "rides_without_place": ledger.places.without_place,
        "rides_outside": ledger.places.rides - int(row[1]),
        "rows_censored": row[2],
        "rows_inferred": row[3],
        "share_available": seconds["available_s"] / total,
        "share_empty": seconds["empty_s"] / total,
        "share_closed": seconds["closed_s"] / total,
        "share_unknown": seconds["unknown_s"] / total,
        "feed": ledger.feed.kind if ledger.feed else None,
        "inferred_from": ledger.inferred_from,
        "notes": ledger.unknown.notes,
        "vehicles_standing": (row[4] or 0) / max(1, periods.count),
    }


def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
