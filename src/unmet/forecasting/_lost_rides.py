"""Lost rides: demand of the past, split into observed, lost and served by a neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._exposure_draws import describe_doubt
from unmet.forecasting._grid import Grid
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._parametric import Parametric, Past
from unmet.forecasting._past_draws import foreign_share
from unmet.forecasting._place_lost import ENDS, SERVED_NOT, drawn_places
from unmet.runs import Cluster

Floats = NDArray[np.float64]
Columns = dict[str, np.ndarray]
_DRAWS = 200


@dataclass(frozen=True)
class AddedError:
    """Relative errors of unserved requests that the draws do not know: what the self-check found."""

    total: float = 0.0
    places: float = 0.0


NO_ERROR = AddedError()


@dataclass(frozen=True)
class Lost:
    """Past demand by row and in total, and one draw of the full demand of every row (P, T)."""

    columns: Columns
    total: dict[str, Any]
    completed: Floats


def estimate_lost(
    model: Parametric,
    grid: Grid,
    past: Past,
    identified: NDArray[np.bool_],
    seed: int,
    draws: int = _DRAWS,
    error: AddedError = NO_ERROR,
    most: float | None = None,
    near: NearbyPlaces | None = None,
    jobs: int = 1,
    cluster: Cluster | None = None,
) -> Lost:
    """Simulate the past `draws` times and summarise it.

    Means of rows come from the model, and means of places, days and the total are their sums, so all tables
    add up to the same number. Draws give the intervals. Quantiles of demand in uncertain rows are those of
    demand + U, whose whole part is the quantile of the count. Quantiles of lost rides are whole counts.
    Intervals of places, of days and of the total carry `error` besides the draws.

    Without a feed and vehicle ids nothing tells when vans came: means of rows are then lower bounds, those of
    sums are None, and neither has an upper bound unless an assumption about vans is made; `most` is the one
    with the lower bound of exposure. The workers of a `cluster` draw blocks of places.
    """
    shape = grid.y.shape
    days, day = np.unique(grid.calendar.day, return_inverse=True)
    demand = {f"q{round(100 * end):02d}": grid.y.copy() for end in ENDS}
    lost_ends = [np.zeros(shape), np.zeros(shape)]
    completed = grid.y.copy()
    foreign = grid.y * foreign_share(grid, past)
    means = {
        "demand": grid.y - foreign + past.unserved,
        "lost": past.unserved - past.went,
        "unserved": past.unserved,
        "next_door": past.went,
    }
    by_day = {name: np.zeros((draws, len(days))) for name in SERVED_NOT}
    places: dict[str, dict[str, Any]] = {}
    empty = np.zeros(draws)
    open_ended = (grid.high > grid.low) & grid.known & np.full(shape, grid.bounded)
    unsure = np.asarray(open_ended.any(axis=1))
    for found, of_days in drawn_places(model, grid, past, draws, seed, near, jobs, cluster):
        for name, counts in zip(SERVED_NOT, of_days):  # whole numbers: their order does not matter
            by_day[name] += counts
        for one in found:
            place, at = one.place, one.at
            empty += one.empty
            lowest = 0.0 if unsure[place] else None
            for key, row in zip(demand, one.demand):
                demand[key][place, at] = row
            for ends, row in zip(lost_ends, one.lost_ends):
                ends[place, at] = row
            completed[place, at] = one.completed
            seen = float(grid.y[place].sum())
            mean = {name: float(values[place].sum()) for name, values in means.items()}
            places[str(grid.places[place])] = {
                "observed": seen,
                "demand": summary(
                    seen + one.sums["added"],
                    mean["demand"],
                    error.places * mean["unserved"],
                    lowest=None if lowest is None else mean["demand"],
                ),
                **{
                    name: summary(one.sums[name], mean[name], error.places * mean[name], lowest=lowest)
                    for name in ("lost", "unserved", "next_door")
                },
            }
    demand["q95"][open_ended] = lost_ends[1][open_ended] = np.inf
    observed = float(grid.y.sum())
    known_by_day = np.bincount(day, grid.known.mean(axis=0), minlength=len(days)) / np.bincount(day)
    seen_by_day = np.bincount(day, grid.y.sum(axis=0), minlength=len(days))
    lost_by_day = np.bincount(day, means["lost"].sum(axis=0), minlength=len(days))
    gone_by_day = by_day["unserved"] - by_day["next_door"]
    total = {name: float(values.sum()) for name, values in means.items()}
    total_lost = gone_by_day.sum(axis=1)
    # Pickups include people who walked from a neighbour, so total demand is pickups plus lost rides.
    low, high = np.quantile(gone_by_day, (0.05, 0.95), axis=0)
    low, high = (seen_by_day + end for end in with_error(low, high, lost_by_day, error.total * lost_by_day))
    lowest = total["lost"] if unsure.any() else None
    bounds = None if most is None else (total["lost"], most)
    doubt = describe_doubt(grid, past, empty / max(_requests(grid, past), 1e-300), bounds)
    dates = days.astype("datetime64[D]").astype(str)
    return Lost(
        columns=_columns(grid, means, demand, lost_ends, identified & ~open_ended),
        total={
            "observed": observed,
            "demand": summary(
                observed + total_lost,
                observed + total["lost"],
                error.total * total["lost"],
                least=observed,
                lowest=None if lowest is None else observed + lowest,
            ),
            "lost": summary(total_lost, total["lost"], error.total * total["lost"], lowest=lowest),
            "unserved": summary(
                by_day["unserved"].sum(axis=1),
                total["unserved"],
                error.total * total["unserved"],
                lowest=lowest,
            ),
            "next_door": summary(
                by_day["next_door"].sum(axis=1),
                total["next_door"],
                error.total * total["next_door"],
                lowest=None if lowest is None else 0.0,
            ),
            **({} if doubt is None else {"ambiguous": doubt}),
            "spill": {
                "share": model.spill.share,
                "walk": model.spill.walk,
                "laws": {law.law: law.weight for law in model.spill.laws} if model.spill.share > 0 else {},
            },
            "places": places,
            "days": [
                {
                    "date": str(date),
                    "observed": float(seen_by_day[k]),
                    "demand": float(seen_by_day[k] + lost_by_day[k]),
                    "lo": float(low[k]),
                    "hi": float(high[k]),
                    "lost": float(lost_by_day[k]),
                    "known": float(known_by_day[k]),
                }
                for k, date in enumerate(dates)
            ],
        },
        completed=completed,
    )


def summary(
    draws: NDArray[Any], mean: float, error: float = 0.0, least: float = 0.0, lowest: float | None = None
) -> dict[str, float | None]:
    """Return a mean and the 90% interval of draws around it with a further `error`, not below `least`.

    With `lowest`, return a lower bound and no more.
    """
    if lowest is not None:
        return {"mean": None, "q05": lowest, "q95": None}
    low, high = np.quantile(draws, (0.05, 0.95))
    low, high = with_error(low, high, mean, error, least)
    return {"mean": mean, "q05": float(low), "q95": float(high)}


def with_error(low: Any, high: Any, mean: Any, error: Any, least: float = 0.0) -> tuple[Any, Any]:
    """Return an interval around `mean` with an independent error added to both its sides.

    Draws over what is assumed (who walks, which time was empty) may all lie beside the mean, which is then
    an end of the interval.
    """
    low, high = np.minimum(low, mean), np.maximum(high, mean)
    if not np.any(error):
        return low, high
    below, above = np.hypot(mean - low, error), np.hypot(high - mean, error)
    return np.maximum(mean - below, least), mean + above


def _requests(grid: Grid, past: Past) -> float:
    """Return the expected requests in ambiguous time."""
    return float((past.rate * grid.known * (grid.high - grid.low)).sum())


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
