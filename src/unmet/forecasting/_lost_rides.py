"""Lost rides: demand of the past, split into observed, lost and served by a neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import make_calendar
from unmet.forecasting._grid import Grid
from unmet.forecasting._parametric import Parametric, Past
from unmet.forecasting._past_draws import draw_past, foreign_share

Floats = NDArray[np.float64]
Columns = dict[str, np.ndarray]
_ENDS = (0.05, 0.5, 0.95)
_DRAWS = 200


@dataclass(frozen=True)
class Lost:
    """Past demand by row and in total, and one draw of the full demand of every row (P, T)."""

    columns: Columns
    total: dict[str, Any]
    completed: Floats


def estimate_lost(
    model: Parametric, grid: Grid, past: Past, identified: NDArray[np.bool_], seed: int, draws: int = _DRAWS
) -> Lost:
    """Simulate the past `draws` times and summarise it.

    Means of rows come from the model, and means of places, days and the total are their sums, so all tables
    add up to the same number. Draws give the intervals. Quantiles of demand in uncertain rows are those of
    demand + U, whose whole part is the quantile of the count. Quantiles of lost rides are whole counts.
    """
    shape = grid.y.shape
    calendar = make_calendar(grid.ds, grid.zone, grid.by)
    days, day = np.unique(calendar.day, return_inverse=True)
    demand = {f"q{round(100 * end):02d}": grid.y.copy() for end in _ENDS}
    lost_ends = [np.zeros(shape), np.zeros(shape)]
    completed = grid.y.copy()
    foreign = grid.y * foreign_share(grid, past)
    means = {
        "demand": grid.y - foreign + past.unserved,
        "lost": past.unserved - past.went,
        "unserved": past.unserved,
        "next_door": past.went,
    }
    names = ("unserved", "next_door")
    by_day = {name: np.zeros((draws, len(days))) for name in names}
    places: dict[str, dict[str, Any]] = {}
    for found in draw_past(model, grid, past, draws, seed):
        place, at = found.place, found.at
        gone = found.unserved - found.next_door
        whole = grid.y[place, at] + found.unserved - found.foreign
        jitter = np.random.default_rng([seed, 31, place]).uniform(size=whole.shape)
        if len(at):
            values = np.quantile(whole + jitter, _ENDS, axis=0)
            for key, row in zip(demand, values):
                demand[key][place, at] = row
            for ends, row in zip(lost_ends, np.quantile(gone, (0.05, 0.95), axis=0, method="inverted_cdf")):
                ends[place, at] = row
            completed[place, at] = whole[0]
        if len(at):
            begins = np.flatnonzero(np.diff(day[at], prepend=-1))
            for name in names:
                by_day[name][:, day[at[begins]]] += np.add.reduceat(getattr(found, name), begins, axis=1)
        seen = float(grid.y[place].sum())
        mean = {name: float(values[place].sum()) for name, values in means.items()}
        places[str(grid.places[place])] = {
            "observed": seen,
            "demand": summary(seen + (found.unserved - found.foreign).sum(axis=1), mean["demand"]),
            "lost": summary(gone.sum(axis=1), mean["lost"]),
            "next_door": summary(found.next_door.sum(axis=1), mean["next_door"]),
        }
    observed = float(grid.y.sum())
    seen_by_day = np.bincount(day, grid.y.sum(axis=0), minlength=len(days))
    lost_by_day = np.bincount(day, means["lost"].sum(axis=0), minlength=len(days))
    gone_by_day = by_day["unserved"] - by_day["next_door"]
    total = {name: float(values.sum()) for name, values in means.items()}
    total_lost = gone_by_day.sum(axis=1)
    # Pickups include people who walked from a neighbour, so total demand is pickups plus lost rides.
    low, high = np.quantile(seen_by_day + gone_by_day, (0.05, 0.95), axis=0)
    dates = days.astype("datetime64[D]").astype(str)
    return Lost(
        columns=_columns(grid, means, demand, lost_ends, identified),
        total={
            "observed": observed,
            "demand": summary(observed + total_lost, observed + total["lost"]),
            "lost": summary(total_lost, total["lost"]),
            "unserved": summary(by_day["unserved"].sum(axis=1), total["unserved"]),
            "next_door": summary(by_day["next_door"].sum(axis=1), total["next_door"]),
            "spill": {"share": model.spill.share, "walk": model.spill.walk},
            "places": places,
            "days": [
                {
                    "date": str(date),
                    "observed": float(seen_by_day[k]),
                    "demand": float(seen_by_day[k] + lost_by_day[k]),
                    "lo": float(low[k]),
                    "hi": float(high[k]),
                    "lost": float(lost_by_day[k]),
                }
                for k, date in enumerate(dates)
            ],
        },
        completed=completed,
    )


def summary(draws: Floats, mean: float) -> dict[str, float]:
    """Return a mean and the 90% interval of draws around it."""
    low, high = np.quantile(draws, (0.05, 0.95))
    return {"mean": mean, "q05": float(low), "q95": float(high)}


def _columns(
    grid: Grid,
    means: dict[str, Floats],
    demand: dict[str, Floats],
    lost: list[Floats],
    identified: NDArray[np.bool_],
) -> Columns:
    rows, periods = grid.y.shape
    columns = {
        "unique_id": np.repeat(grid.places, periods),
        "ds": np.tile(grid.ds, rows),
        "y": grid.y,
        "censored": grid.censored,
        "exposure": np.where(grid.known, grid.exposure, np.nan),
        "demand_mean": means["demand"],
        "demand_q05": demand["q05"],
        "demand_q50": demand["q50"],
        "demand_q95": demand["q95"],
        "lost_mean": means["lost"],
        "lost_q05": lost[0],
        "lost_q95": lost[1],
        "next_door_mean": means["next_door"],
        "identified": identified,
    }
    return {name: np.ascontiguousarray(values).reshape(-1) for name, values in columns.items()}
