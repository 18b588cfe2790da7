"""From a run to everything the page shows."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from unmet.calendar import PlaceGrid, lay_out, step_of, weekday
from unmet.planning import KNOWN_DAY
from unmet.report._curves import make_curves
from unmet.report._data import Day, ReportData, Weekday
from unmet.report._horizon import make_horizon
from unmet.results import Interval, Run, open_run, shown_name
from unmet.results.numbers import known
from unmet.tables import Columns


def read_run(run: Run | str | os.PathLike[str], *, title: str | None = None) -> ReportData:
    """Gather what the page shows of a run; lost rides must be there, other parts may be absent.

    Parameters
    ----------
    run : a run, or its folder
    title : heading of the page; None: "Unmet demand"

    Raises
    ------
    ValueError
        Where a file is missing, damaged or of a different run; the message says which step makes it.
    """
    run = run if isinstance(run, Run) else open_run(run)
    run.check()
    lost = run.columns("lost")
    grid = lay_out(lost, run.zone)
    backtest, forecast = (run.columns(name) if run.given(name) else None for name in ("backtest", "forecast"))
    summary = run.summary()
    number = {place: n for n, place in enumerate(grid.ids)}
    worst = [number[place.unique_id] for place in summary.worst if place.unique_id in number]
    return ReportData(
        title=shown_name(title, "Unmet demand"),
        summary=summary,
        places=run.places,
        days=_days(run.totals),
        week=_week(lost, grid) if step_of(run.by).seconds <= 3600 else None,
        curves=make_curves(lost, grid, backtest, forecast, run.zone, worst),
        horizon=make_horizon(forecast, grid.ids, run.zone),
        calibration=run.calibration or {},
        measures=tuple(run.measures),
        plan=run.rows("plan"),
        moves=run.rows("moves"),
        fleet=run.rows("fleet"),
        account=run.account or {},
    )


def _days(totals: dict[str, Any]) -> tuple[Day, ...]:
    found = []
    entries = totals.get("days") or ()
    least = KNOWN_DAY * max((entry.get("known", 1.0) for entry in entries), default=1.0)
    for entry in entries:
        demand = Interval.read({"mean": entry["demand"], "q05": entry.get("lo"), "q95": entry.get("hi")})
        seen = float(entry["observed"])
        gone = float(entry["lost"]) if known(entry.get("lost")) else demand.mean - seen
        known_day = entry.get("known", 1.0) >= least
        found.append(Day(entry["date"], seen, demand.mean, demand.low, demand.high, gone, known_day))
    return tuple(found)


def _week(lost: Columns, grid: PlaceGrid) -> Weekday:
    """Sums by local weekday and hour, divided by the number of such days."""
    days, _ = grid.days
    many = np.maximum(1, np.bincount(weekday(days), minlength=7))[:, None]
    cell = (weekday(grid.clock // 86400) * 24 + grid.clock % 86400 // 3600)[grid.period]

    def table(values: np.ndarray) -> list[list[float]]:
        return (
            np.bincount(cell, weights=np.nan_to_num(values), minlength=168).reshape(7, 24) / many
        ).tolist()

    return Weekday(lost=table(lost["lost_mean"]), demand=table(lost["demand_mean"]))
