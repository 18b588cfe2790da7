"""Every figure that the city of the demo is judged by: fitted as the demo does, held against its truth."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unmet.datasets.city import City
from unmet.forecasting import fit_demand
from unmet.forecasting._backtest import backtest
from unmet.forecasting._fit_plan import _blinded
from unmet.forecasting._grid import make_grid
from unmet.forecasting._model import LEVELS, DemandModel, column_name
from unmet.metrics import icp, tilted_loss
from unmet.pipeline import Watching, demo_inputs, make_demo_city, panel_step
from unmet.planning import gap_closed, play_three
from unmet.runs import Steps
from unmet.tables import read_columns

DAYS = 28
STARVED = 0.25


def demo_panel(city: City, folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """Write the city's files, read them back as the demo does: path of the panel, columns of stations."""
    made = folder / "city"
    if not (folder / "stations.parquet").is_file():
        with Steps(folder, source={"city": "measured"}) as steps, Watching(shown=False) as watching:
            city.write(made, snapshots=None)
            panel_step(steps, demo_inputs(made), watching)
    return folder / "panel.parquet", read_columns(folder / "stations.parquet")[0]


def measure_demo(
    folder: Path,
    *,
    seed: int = 1,
    shocks: str = "independent",
    spill: bool = True,
    size: str = "town",
    days: int = 90,
    rivals: bool = True,
    play: bool = True,
) -> dict[str, Any]:
    """Simulate, fit and measure; shares in percent, ratios to the truth as they are.

    `rivals` also fits the oracle, the unaware model and that without censored rows; `play` plays targets.
    """
    city = make_demo_city(size, days=days, shocks=shocks, seed=seed, spill=spill)
    panel, stations = demo_panel(city, folder)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = fit_demand(
            panel,
            stations=stations,
            networks=("linear", "mlp"),
            seed=seed,
            never_available="keep",
            baselines=False,
            progress=False,
        )
    place = {name: index for index, name in enumerate(city.map.ids)}
    order = np.array([place[str(name)] for name in model.places])
    found: dict[str, Any] = {"seed": seed, "shocks": shocks, "spill": spill}
    found["short"] = 100 * city.share_empty
    found |= forecasts(model, city, order)
    found |= the_past(model, city, order)
    if rivals:
        found |= losses(model, city, order, panel, seed)
    if play:
        found |= targets(model, city, order)
    parts = model.parametric
    found["fitted"] = {
        "network": model.network_name,
        "variance": parts.shocks.variance,
        "persistence": parts.shocks.persistence,
        "share": parts.spill.share,
        "walk": parts.spill.walk,
    }
    found["said"] = [str(one.message) for one in said]
    return found


def forecasts(model: DemandModel, city: City, order: np.ndarray) -> dict[str, Any]:
    """Coverage of demand by the calibrated intervals of the backtest, hours and days."""
    test = model.backtest
    periods = len(test["ds"]) // len(order)
    demand = city.truth.latent[order][:, -periods:]
    rows, low, high = demand.reshape(-1).astype(float), test["q05"], test["q95"]
    band = model.map.band(test["mean"])
    week = np.tile(np.arange(periods) // 168, len(order))
    daily = model.daily_backtest
    sums = demand.reshape(len(order), -1, 24).sum(axis=-1).reshape(-1)
    return {
        "coverage": 100 * icp(rows, low, high, randomised=True),
        "lower_tail": 100 * float(np.clip(np.minimum(low, rows + 1) - rows, 0, 1).mean()),
        "upper_tail": 100 * float(np.clip(rows + 1 - np.maximum(high, rows), 0, 1).mean()),
        "weeks": [100 * icp(rows, low, high, randomised=True, rows=week == k) for k in range(week.max() + 1)],
        "bands": [100 * icp(rows, low, high, randomised=True, rows=band == k) for k in range(band.max() + 1)],
        "days": 100 * icp(sums, daily["q05"], daily["q95"], randomised=True),
        "unidentified": 100 * float(np.isinf(high).mean()),
        "bias": float(test["mean"].sum() / rows.sum()),
    }


def the_past(model: DemandModel, city: City, order: np.ndarray) -> dict[str, Any]:
    """Intervals of rows that were cut off, and totals of unserved, lost and served next door."""
    rows, total = model.lost(), model.lost_total()
    truth = city.truth
    demand = truth.latent[order].reshape(-1).astype(float)
    cut = rows["censored"].astype(bool)
    lost, moved = truth.lost - truth.rival, truth.spilled_out
    places = lost.sum(axis=1)[order]
    ends = [total["places"][str(name)]["lost"] for name in model.places]
    ratio = {"lost": lost.sum(), "next_door": moved.sum(), "unserved": (lost + moved).sum()}
    found: dict[str, Any] = {
        "censored_rows": 100 * icp(demand, rows["demand_q05"], rows["demand_q95"], randomised=True, rows=cut)
    }
    for name, true in ratio.items():
        found[name] = [total[name][key] / max(int(true), 1) for key in ("mean", "q05", "q95")]
        found[f"{name}_true"] = int(true)
    inside = [one["q05"] <= true <= one["q95"] for one, true in zip(ends, places)]
    found["places_lost"] = 100 * sum(inside) / len(inside)
    return found


def losses(model: DemandModel, city: City, order: np.ndarray, panel: Path, seed: int) -> dict[str, Any]:
    """Tilted loss on demand: excess over the oracle against that of models that know less."""
    grid = make_grid(panel, never_available="keep")
    latent = city.truth.latent[order].astype(float)
    everything = np.where(grid.known, 1.0, 0.0)
    oracle = replace(grid, y=latent * grid.known, exposure=everything, censored=np.zeros_like(grid.censored))
    levels = np.array(LEVELS)
    test = model.backtest
    periods = len(test["ds"]) // len(order)
    rows = latent[:, -periods:].reshape(-1)
    ours, raw = (
        np.stack([test[column_name(level, kind)] for level in LEVELS], axis=1) for kind in ("q", "raw")
    )
    starved = np.repeat(1 - grid.exposure.sum(axis=1) / grid.known.sum(axis=1) > STARVED, periods)
    grids = {"oracle": oracle, **{name: _blinded(grid, name) for name in ("unaware", "dropped")}}
    found = {}
    for name, one in grids.items():
        other, _ = backtest(one, None, ("linear",), DAYS, seed, use="seen")
        jitter = other.uniform.reshape(-1)
        found[name] = other.quantiles(levels, "linear")
    # Levels that are not identified have no finite quantile: there the network's own is judged.
    found["ours"] = np.where(np.isfinite(ours), ours, raw)
    loss = {name: tilted_loss(rows + jitter, one, levels) for name, one in found.items()}
    over = loss["ours"] - loss["oracle"]
    few = None
    if starved.any():
        ends = (tilted_loss(rows + jitter, found[name], levels, rows=starved) for name in ("ours", "unaware"))
        few = 100 * (next(ends) / next(ends) - 1)
    return {
        "excess_unaware": over / (loss["unaware"] - loss["oracle"]),
        "excess_dropped": over / (loss["dropped"] - loss["oracle"]),
        "starved": few,
        "starved_places": int(starved.sum()) // periods,
        "loss": loss,
    }


def targets(model: DemandModel, city: City, order: np.ndarray) -> dict[str, Any]:
    """Share of the gap in lost rides that targets from estimated demand close, as the demo plays it."""
    test = model.backtest
    periods = len(test["ds"]) // len(order)
    rate = np.zeros(city.rate.shape)
    rate[order, -periods:] = test["mean"].reshape(len(order), -1)
    hour = city.rate.shape[1] - periods
    first_day = int(city.hours.day[hour] + (city.hours.hour[hour] > 0))
    shape = float(np.median(model.rates(1)["shape"]))
    played = play_three(city, rate, shape, first_day=first_day)
    return {
        "played": {name: one.lost for name, one in played.items()},
        "gap_closed": 100 * gap_closed(played["observed"], played["estimated"], played["true"]),
    }
