"""From a run folder to everything the page shows."""

from __future__ import annotations

import os
import unicodedata
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from unmet.calendar import Layout, lay_out
from unmet.report._curves import make_curves
from unmet.report._data import Day, Interval, PlaceTotals, ReportData, Weekday, interval
from unmet.report._files import made_again, maybe_table, need_table, read_json, read_object, read_rows
from unmet.report._horizon import make_horizon
from unmet.report._numbers import known
from unmet.report._planned import read_planned
from unmet.report._same_run import check_follows, check_observed, check_places
from unmet.tables import Columns

_LOST = (
    *("unique_id", "ds", "y", "censored", "exposure"),
    *("demand_mean", "demand_q05", "demand_q95", "lost_mean", "identified"),
)
_QUANTILES = ("q05", "q25", "q50", "q75", "q95")
_PLAN = (
    *("capacity", "usual_stock", "target", "expected_lost_usual", "expected_lost_target"),
    *("rides_saved", "value_of_next_vehicle"),
)
_LONGEST_NAME = 120
UNSURE = 0.1  # share of lost rides without an upper bound from which a sum has none


def read_run(folder: str | os.PathLike[str], *, title: str | None = None) -> ReportData:
    """Read a run folder; ``lost.parquet`` and ``lost_total.json`` must be there, other parts may be absent.

    Parameters
    ----------
    folder : the folder that ``unmet run`` wrote
    title : heading of the page; None: "Unmet demand"

    Raises
    ------
    ValueError
        Where a file is missing or not what it should be; the message says which step makes it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"folder {folder} does not exist; make a run with `unmet run … -o {folder}`")
    lost, about = need_table(folder / "lost.parquet", _LOST)
    zone, by = about.get("zone", "UTC"), about.get("by", "hour")
    grid = lay_out(lost, zone)
    totals = read_object(folder / "lost_total.json", "observed", "demand", "lost", "places", needed=True)
    stations = maybe_table(folder / "stations.parquet", ("unique_id", "name", "lat", "lng"))
    check_observed(folder / "lost_total.json", totals["observed"], lost)
    if stations is not None:
        check_places(folder / "stations.parquet", stations["unique_id"], grid.ids, every=True)
    places = _places(lost, grid, totals, stations, folder)
    backtest = maybe_table(folder / "backtest.parquet", ("unique_id", "ds", "y", "censored", *_QUANTILES))
    forecast = maybe_table(folder / "forecast.parquet", ("unique_id", "ds", "mean", *_QUANTILES))
    for name, table in (("backtest", backtest), ("forecast", forecast)):
        if table is not None:
            check_places(folder / f"{name}.parquet", np.unique(table["unique_id"]), grid.ids)
    check_follows(folder / "forecast.parquet", forecast, lost)
    plan = read_rows(folder / "plan.csv", _PLAN)
    check_places(folder / "plan.csv", (row.get("unique_id", "") for row in plan), grid.ids)
    moves = read_rows(folder / "moves.csv", ("rank", "vehicles", "rides_saved"))
    check_places(folder / "moves.csv", (row.get(end) for row in moves for end in ("from", "to")), grid.ids)
    truth = read_json(folder / "truth.json")
    return ReportData(
        title=clean(title, "Unmet demand"),
        zone=zone,
        by=by,
        first=str(np.datetime64(int(grid.clock[0]), "s")),
        last=str(np.datetime64(int(grid.clock[-1]), "s")),
        periods=len(grid.times),
        rows=len(lost["ds"]),
        places=places,
        total=_total(totals, lost),
        days=_days(totals),
        week=_week(lost, grid) if by == "hour" else None,
        curves=make_curves(lost, grid, backtest, forecast, zone),
        horizon=make_horizon(forecast, [place.unique_id for place in places], zone),
        calibration=read_object(folder / "calibration.json", "bands", "coverage") or None,
        measures=_measures(folder / "measures.json"),
        plan=plan,
        moves=moves,
        fleet=read_rows(folder / "fleet.csv", ("fleet", "service_level", "expected_lost")),
        truth=truth if isinstance(truth, dict) else None,
        account=read_object(folder / "panel.json", "panel"),
        planned=read_planned(folder / "curves.json", grid.ids),
        next_door=interval(totals["next_door"]) if isinstance(totals.get("next_door"), dict) else None,
        unknown=float(np.mean(~np.isfinite(lost["exposure"].astype(float)))),
    )


def _measures(path: Path) -> tuple[dict[str, Any], ...]:
    found = read_json(path)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, dict) and "model" in one for one in found):
        raise ValueError(f"{path} is not a list of models compared; {made_again(path)}")
    return tuple(found)


def clean(text: Any, otherwise: str) -> str:
    """A name that can be shown: no control signs, not endless, never empty."""
    if text is None or (isinstance(text, float) and not isfinite(text)):
        return otherwise
    shown = "".join("\ufffd" if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in str(text))
    shown = shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"
    return shown if shown.strip() else otherwise


def _places(
    lost: Columns, grid: Layout, totals: dict[str, Any], stations: Columns | None, folder: Path
) -> tuple[PlaceTotals, ...]:
    rows_of: dict[str, int] = {}
    if stations is not None:
        rows_of = {str(one): row for row, one in enumerate(stations["unique_id"])}
    count = len(grid.ids)
    rows = np.bincount(grid.place, minlength=count)
    censored = np.bincount(grid.place, weights=lost["censored"].astype(float), minlength=count) / rows
    exposure = lost["exposure"].astype(float)
    seen = np.isfinite(exposure)
    share = np.bincount(grid.place[seen], weights=exposure[seen], minlength=count)
    empty = 1 - share / np.maximum(1, np.bincount(grid.place[seen], minlength=count))
    gone = np.nan_to_num(lost["lost_mean"].astype(float))
    beyond = np.where(lost["identified"].astype(bool), 0.0, gone)
    every = np.maximum(1e-9, np.bincount(grid.place, weights=gone, minlength=count))
    unsure = np.bincount(grid.place, weights=beyond, minlength=count) / every
    found = []
    for number, identity in enumerate(grid.ids):
        entry = totals.get("places", {}).get(identity)
        if entry is None:
            raise ValueError(f"{folder / 'lost_total.json'} lacks place {identity!r}; run `unmet fit` again")
        row = rows_of.get(identity)

        def value(name: str, row: int | None = row) -> Any:
            return None if row is None or stations is None or name not in stations else stations[name][row]

        found.append(
            PlaceTotals(
                unique_id=identity,
                name=clean(value("name"), clean(identity, "(no name)")),
                lat=_finite(value("lat")),
                lng=_finite(value("lng")),
                capacity=_finite(value("capacity")),
                observed=float(entry["observed"]),
                demand=_bounded(interval(entry["demand"]), float(unsure[number])),
                lost=_bounded(interval(entry["lost"]), float(unsure[number])),
                censored=float(censored[number]),
                empty=float(empty[number]),
                unsure=float(unsure[number]),
            )
        )
    return tuple(found)


def _bounded(found: Interval, unsure: float) -> Interval:
    """No upper bound where more than a tenth of what was lost lies in periods without one."""
    return Interval(found.mean, found.low, inf) if unsure > UNSURE else found


def _finite(value: Any) -> float | None:
    return None if value is None or not isfinite(value) else float(value)


def _total(totals: dict[str, Any], lost: Columns) -> PlaceTotals:
    exposure = lost["exposure"].astype(float)
    seen = exposure[np.isfinite(exposure)]
    gone = np.nan_to_num(lost["lost_mean"].astype(float))
    beyond = gone[~lost["identified"].astype(bool)].sum()
    return PlaceTotals(
        unique_id="",
        name="All places",
        lat=None,
        lng=None,
        capacity=None,
        observed=float(totals["observed"]),
        demand=interval(totals["demand"]),
        lost=interval(totals["lost"]),
        censored=float(lost["censored"].astype(float).mean()),
        empty=float(1 - seen.mean()) if len(seen) else 0.0,
        unsure=float(beyond / max(1e-9, gone.sum())),
    )


def _days(totals: dict[str, Any]) -> tuple[Day, ...]:
    found = []
    for entry in totals.get("days", ()):
        bounds: Interval = interval({"mean": entry["demand"], "q05": entry["lo"], "q95": entry["hi"]})
        seen = float(entry["observed"])
        gone = float(entry["lost"]) if known(entry.get("lost")) else bounds.mean - seen
        found.append(Day(str(entry["date"]), seen, bounds.mean, bounds.low, bounds.high, gone))
    return tuple(found)


def _week(lost: Columns, grid: Layout) -> Weekday:
    """Sums by local weekday and hour, divided by the number of such days."""
    days, _ = grid.days
    many = np.maximum(1, np.bincount((days + 3) % 7, minlength=7))[:, None]  # 1970-01-01 was a Thursday
    cell = ((grid.clock // 86400 + 3) % 7 * 24 + grid.clock % 86400 // 3600)[grid.period]

    def table(values: np.ndarray) -> list[list[float]]:
        return (
            np.bincount(cell, weights=np.nan_to_num(values), minlength=168).reshape(7, 24) / many
        ).tolist()

    return Weekday(lost=table(lost["lost_mean"]), demand=table(lost["demand_mean"]))
