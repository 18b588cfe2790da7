"""The day that a plan is for and what the plan saves."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from unmet.results._read import refuse
from unmet.results._schema import CURVES
from unmet.results._values import PlanFigures, PlannedDay
from unmet.results.numbers import known
from unmet.tables import Columns


def planned_day_of(folder: Path, curves: dict[str, Any] | None) -> PlannedDay | None:
    """Return the day in curves.json; None where an earlier version wrote curves of places alone."""
    day = None if curves is None else curves.get("day")
    if curves is None or day is None:
        return None
    try:
        starts = datetime.fromisoformat(day["starts"])
        past = tuple(
            (str(one["date"]), float(one["demand"]), float(one["lost"]))
            for one in curves.get("such_days") or ()
        )
        return PlannedDay(
            date=starts.date().isoformat(),
            weekday=str(day["weekday"]),
            starts=f"{starts:%Y-%m-%dT%H:%M}",
            zone=str(day["zone"]),
            demand=float(day["demand"]) if known(day.get("demand")) else None,
            past=past,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(folder, CURVES, "does not say which day was planned")


def plan_figures(plan: Columns, day: PlannedDay | None) -> PlanFigures:
    """Return what a plan saves, all places together."""

    def total(name: str) -> float:
        return float(np.nansum(plan[name].astype(float)))

    return PlanFigures(
        day=day,
        places=len(plan["unique_id"]),
        vehicles=round(total("target")),
        usual_vehicles=round(total("usual_stock")),
        lost_usual=total("expected_lost_usual"),
        lost_target=total("expected_lost_target"),
        saved=total("rides_saved"),
    )
