"""Fit a demand model to a panel: backtest, choice of network, calibration, lost rides."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._ahead import recent_effects
from unmet.forecasting._around import AROUND, Site, make_site
from unmet.forecasting._backtest import Backtest, network_of
from unmet.forecasting._calibrate import Calibrated, calibrate
from unmet.forecasting._costs import costs_of
from unmet.forecasting._daily import calibrate_days, sum_over_days
from unmet.forecasting._day_spread import day_spread
from unmet.forecasting._files import pack_parametric, unpack_parametric
from unmet.forecasting._fit_plan import FitPlan, stages_on
from unmet.forecasting._grid import NO_USE, Grid, at_worst, make_grid
from unmet.forecasting._inputs import Ahead, make_ahead
from unmet.forecasting._lost_rides import NO_ERROR, AddedError, estimate_lost
from unmet.forecasting._measures import measure, raw_coverage, seasonal_naive
from unmet.forecasting._memory import fit_memory, side_by_side
from unmet.forecasting._model import LEVELS, Columns, DemandModel, column_name
from unmet.forecasting._nearby import NearbyPlaces, find_nearby
from unmet.forecasting._network import KINDS
from unmet.forecasting._own_panel import as_panel
from unmet.forecasting._parametric import Parametric, fit_parametric, look_back
from unmet.forecasting._self_check import SelfCheck
from unmet.forecasting._stage_files import (
    pack_backtest,
    pack_self_check,
    unpack_backtest,
    unpack_self_check,
)
from unmet.forecasting._time_lasted import draw_time, expected_time
from unmet.forecasting._turns import STAGES, Turns
from unmet.forecasting._views import make_view, training_rows
from unmet.runs import Cluster, Stages, cpu_seconds, in_threads, one_blas_thread
from unmet.runs import progress as progress_bar
from unmet.tables import Pairs

Floats = NDArray[np.float64]
_USUAL_TRAINING_DAYS = 14
_TEST_ROWS = 2500  # of a panel by day or week; the highest twentieth of them is some hundred
_PLAUSIBLE = 10.0  # times the rides seen: a bound on lost rides above it is none


def fit_demand(
    panel: Any,
    *,
    columns: Pairs | None = None,
    zone: str | None = None,
    times: str | None = None,
    stations: Mapping[str, Any] | None = None,
    levels: Sequence[float] = LEVELS,
    seed: int = 0,
    networks: Sequence[str] = ("linear", "mlp", "lstm"),
    neighbours: str | Mapping[str, Any] = "distance",
    ahead: str = "day",
    backtest_days: int | None = None,
    baselines: bool = True,
    never_available: str = "raise",
    lowered: Any = None,
    jobs: int = 1,
    memory: int | None = None,
    stages: Stages | None = None,
    progress: bool | None = None,
    cluster: Cluster | None = None,
) -> DemandModel:
    """Fit latent demand to a panel.

    Parameters
    ----------
    panel : a `Panel`, the path of a panel file, or a table of your own: a frame of pandas, Polars or Arrow,
        or a CSV or Parquet file, with `unique_id`, `ds`, `y` and one of `exposure`, `censored` and
        `threshold`. `as_panel` says what each must hold.
    columns, zone, times : names in such a table, and how its times are to be read; see `as_panel`.
    stations : columns unique_id, lat, lng. With them, the model tells people who walk from an empty place to
        a neighbour from those who are lost. Without them, nobody walks.
    levels : nominal levels, increasing; they must hold 0.05, 0.5 and 0.95.
    seed : seed of all draws. The same panel, settings and seed give the same model.
    networks : kinds of network; the one with the lowest loss in the backtest is used. "linear", "mlp" and
        "lstm" look at the place itself, "graph" also at its neighbours, "grid" at the map around it.
    neighbours : who is a neighbour in a graph network: the nearest places ("distance"), those whose demand
        went with this one's a period later ("learned"), or those with which it shares most rides: columns
        origin, destination and rides. "distance" and network "grid" need `stations`.
    ahead : {"day", "period"}
        "day" forecasts whole days from what was known at their start. "period" forecasts one period from all
        before it, so that a storm or a crowd that moves through the city can be followed.
    backtest_days : number of last days to forecast as they would have been, to calibrate and compare; by week
        a number of weeks. None: 28 days or 52 weeks; of a few places more, up to half the panel. A short
        panel uses fewer: 14 stay before them, or 7 of a panel of 14.
    baselines : also fit baselines that ignore censoring or drop censored rows, for `measures`.
    never_available : {"raise", "keep"}
        "keep" treats places that never had any supply like the average place.
    lowered : the panel with virtual stock-outs, or the path of its file (lowered.parquet of a run). With it,
        the model estimates the rides that these hide, and intervals of totals grow by the factor by which
        they missed; see ``self_check`` of the model.
    jobs : number of threads.
    memory : bytes that the fit may take. Where they are too few for parts of it to run side by side, one runs
        after the other; where they are too few for that, it warns (`MemoryWarning`). None: what
        one needs, and a gigabyte for others beside it.
    stages : keeps finished stages, so that a fit that was killed goes on with the next.
    progress : show a progress bar. By default only in a terminal.
    cluster : a `Cluster` with a folder, whose workers do the stages that do not depend on each other
        (backtest, self-check, baselines) and the draws of lost rides by blocks of places. The model is the
        same to the bit.

    Returns
    -------
    DemandModel
    """
    wanted = tuple(float(level) for level in levels)
    if list(wanted) != sorted(set(wanted)) or not {0.05, 0.5, 0.95} <= set(wanted) or wanted[0] <= 0:
        raise ValueError(f"levels must increase inside (0, 1) and hold 0.05, 0.5 and 0.95, not {wanted}")
    if not networks:
        raise ValueError(f"networks must name at least one of {', '.join(map(repr, KINDS))}")
    for name in networks:
        if name not in KINDS:
            raise ValueError(f"networks must be among {', '.join(map(repr, KINDS))}, not {name!r}")
    if backtest_days is not None and backtest_days < 7:
        raise ValueError(f"backtest_days must be at least 7, not {backtest_days}")
    table = as_panel(panel, columns=columns, zone=zone, times=times, without=NO_USE)
    with one_blas_thread():
        grid = draw_time(make_grid(table, never_available=never_available), seed)
    del table
    near = _nearby(grid, stations)
    far = make_ahead(ahead, grid.per_day, grid.per_week)
    site = _site(grid, stations, networks, neighbours)
    tested = grid.until(grid.end)
    spare = len(tested.ds) // grid.per_day - _USUAL_TRAINING_DAYS
    days = min(backtest_days or _usual_backtest(tested), max(7, spare // 7 * 7))
    kept = Stages() if stages is None else stages
    plan = FitPlan(grid, near, lowered, tuple(networks), days, seed, baselines, far, site)
    judged, some = plan.judged
    at_once = side_by_side(plan, jobs, memory)
    threads = max(1, jobs // at_once)
    kept.note(memory=round(fit_memory(plan) / 1e9, 3), side_by_side=at_once)
    alone = ("levels", "rates", "lost")
    tick = Turns(costs_of(plan, jobs, threads), alone, at_once if cluster is None else len(plan.stages))

    def keep(name: str, make: Callable[[], Any], pack: Callable[..., Any], unpack: Callable[..., Any]) -> Any:
        with tick.stage(name):
            return kept.run(name, tick.making(name, make), pack, unpack)

    def run(name: str, make: Callable[[], Any] | None = None) -> Any:
        of_check = name == "self_check"
        here = partial(plan.run, name, jobs=threads if of_check else 1, tick=tick.of(name))
        forms = (pack_self_check, unpack_self_check) if of_check else (pack_backtest, unpack_backtest)
        return keep(name, make or here, *forms)

    def run_all() -> dict[str, Any]:
        if cluster is None:
            return dict(zip(plan.stages, list(in_threads(run, plan.stages, at_once, tick.stop))))
        todo = [name for name in plan.stages if not kept.has(name)]
        tasks = stages_on(cluster, plan, todo, STAGES)
        tick.begin(*todo)
        made = tasks.results()
        found = {name: run(name, partial(next, made)) for name in plan.stages}
        tasks.forget()
        return found

    bar = progress_bar(100, "Demand", "%", shown=progress)
    with one_blas_thread(), bar as tick.bar:
        results = run_all()
        test, model = results["aware"]
        check: SelfCheck | None = results.pop("self_check", None)
        shown = test if some is None else test.of_places(some)
        with tick.stage("levels"):
            measures = _compare(judged, results | {"aware": (shown, model)}, wanted)
            chosen = next(entry for entry in measures if entry["chosen"])["network"]
            found = calibrate(tested, test, chosen, wanted)
        rates = partial(fit_parametric, grid, near, start=model, tick=tick.of("rates"))
        model = keep("rates", rates, pack_parametric, unpack_parametric)
        with tick.stage("lost"):
            began, busy = time.monotonic(), cpu_seconds()
            last = tick.of("lost")
            given = (grid, near, test, model, chosen, found, wanted, seed, check, last, far, site)
            fitted = _finish(*given, jobs, cluster)
            kept.log("lost", began, busy)
    if found.account["assumption"]["warn"]:
        warnings.warn(
            "stock-outs seem to depend on demand in ways the model does not know: calibrated levels differ "
            f"by {found.account['assumption']['difference']:.3f} from those of min(y, threshold). Treat "
            "upper quantiles with caution",
            UserWarning,
            stacklevel=2,
        )
    return replace(fitted, measures=measures)


def _usual_backtest(grid: Grid) -> int:
    """Return the days (by week, weeks) to test on: enough rows to see how high demand goes."""
    usual = 52 if grid.by == "week" else 28
    if grid.per_day > 1:
        return usual
    most = len(grid.ds) // 2
    return max(usual, min(-(-_TEST_ROWS // (7 * len(grid.places))) * 7, most // 7 * 7))


def _nearby(grid: Grid, stations: Mapping[str, Any] | None) -> NearbyPlaces | None:
    if stations is None:
        return None
    missing = [name for name in ("unique_id", "lat", "lng") if name not in stations]
    if missing:
        raise ValueError(f"stations has no column {', '.join(missing)}: it needs unique_id, lat and lng")
    where = {str(place): k for k, place in enumerate(stations["unique_id"])}
    index = np.array([where.get(str(place), -1) for place in grid.places])
    lat, lng = (
        np.where(index >= 0, np.asarray(stations[name], np.float64)[index], np.nan) for name in ("lat", "lng")
    )
    if np.isfinite(lat + lng).sum() < 2:
        return None
    return find_nearby(lat, lng)


def _site(
    grid: Grid,
    stations: Mapping[str, Any] | None,
    networks: Sequence[str],
    neighbours: str | Mapping[str, Any],
) -> Site | None:
    """Return where places lie, for networks that look around."""
    asking = [name for name in networks if name in AROUND]
    if not asking:
        return None
    site = make_site(grid.places, stations, neighbours)
    if site.located.sum() < 2 and ("grid" in asking or site.how == "distance"):
        raise ValueError(
            f"network {asking[-1]!r} needs stations (unique_id, lat, lng) of at least two places; a graph "
            "network does without them if neighbours is 'learned' or holds flows"
        )
    if len(grid.places) < 2:
        raise ValueError(f"network {asking[0]!r} needs a panel of at least two places")
    return site


_TITLES = {"linear": "linear", "mlp": "MLP", "lstm": "LSTM", "graph": "graph", "grid": "grid"}


def _compare(
    grid: Grid, results: dict[str, tuple[Backtest, Parametric]], levels: tuple[float, ...]
) -> list[dict[str, Any]]:
    """Compare all models on the rows of the backtest, and choose the network with the lowest loss."""
    test = results["aware"][0]
    wanted = np.array(levels)
    part = slice(test.first, None)
    known, flags = grid.known[:, part].reshape(-1), grid.censored[:, part].reshape(-1)

    def entry(title: str, source: Backtest, network: str | None) -> dict[str, Any]:
        quantiles = source.quantiles(wanted, network)
        row = measure(title, grid, test.first, test.counts, test.uniform, quantiles, wanted)
        below, mass = source.step(network, test.counts)
        uniform = test.uniform.reshape(-1)
        row["coverage"] = raw_coverage(below[known], mass[known], uniform[known], flags[known])
        return row | {"network": network}

    rows = [entry(f"censored quantile network ({_TITLES[name]})", test, name) for name in test.curves]
    best = min(rows, key=lambda row: row["pinball"])
    best["chosen"] = True
    rows.append(entry("negative binomial", test, None))
    for name, title in (("unaware", "unaware quantile network"), ("dropped", "dropped censored rows")):
        if name in results:
            source = results[name][0]
            rows.append(entry(title, source, next(iter(source.curves))))
    naive = seasonal_naive(grid, test.first, test.uniform, wanted)
    row = measure("seasonal naive", grid, test.first, test.counts, test.uniform, naive, wanted)
    exact = known & ~flags
    seen = (test.counts + test.uniform).reshape(-1)
    inside = ((seen >= naive[:, 0]) & (seen <= naive[:, -1]))[exact]
    row["coverage"] = float(inside.mean()) if len(inside) else None
    return [*rows, row | {"network": None}]


def _finish(
    grid: Grid,
    near: NearbyPlaces | None,
    test: Backtest,
    model: Parametric,
    chosen: str,
    found: Calibrated,
    levels: tuple[float, ...],
    seed: int,
    check: SelfCheck | None,
    tick: Callable[[], object],
    ahead: Ahead,
    site: Site | None,
    jobs: int,
    cluster: Cluster | None,
) -> DemandModel:
    """Fit the chosen network to the whole panel, estimate the past, and build the model."""
    grid = expected_time(model, grid)
    view = make_view(model, grid, near, seed, ahead=ahead)
    network = network_of(chosen, view, training_rows(view, seed), seed, site)
    begin = max(0, len(grid.ds) - max(ahead.lags))
    scores = view.scores(begin, len(grid.ds))
    if network.around is not None:
        scores = replace(scores, signal=view.signal(begin))
    short, past = view.short, view.past
    last_shock, last_city = past.followed, past.city.last
    del view
    if ahead.each_period:  # of the past, whole days are known
        past = look_back(model, grid, near)
    tick()
    enough = grid.exposure.sum(axis=1) >= 50
    sure = found.map.identified_up_to(past.rate.reshape(-1)).reshape(grid.y.shape) >= levels[-1]
    error = NO_ERROR if check is None else AddedError(check.error_total, check.error_places)
    most = _most_lost(grid, seed) if grid.bounded else None
    identified = sure & enough[:, None]
    lost = estimate_lost(
        model, grid, past, identified, seed, error=error, most=most, near=near, jobs=jobs, cluster=cluster
    )
    tick()
    daily_map, daily_rows, account = None, None, dict(found.account)
    if ahead.every > 1:
        mean, shape = sum_over_days(test.mean, test.shape, model.shocks, grid.per_day, test.common)
        part, whole = slice(test.first, grid.end), (len(grid.places), -1, grid.per_day)
        demand = lost.completed[:, part].reshape(whole).sum(axis=-1)
        known = np.all(grid.known[:, part].reshape(whole), axis=-1)
        daily_map, account["daily"], quantiles = calibrate_days(demand, known, mean, shape, levels, seed)
        daily_rows = {
            "unique_id": np.repeat(grid.places, demand.shape[1]),
            "ds": np.tile(grid.ds[part][:: grid.per_day], len(grid.places)),
            "demand": np.where(known, demand, np.nan).reshape(-1),
            "mean": mean.reshape(-1),
        }
        daily_rows |= {column_name(level): quantiles[:, k] for k, level in enumerate(levels)}
    return DemandModel(
        levels=levels,
        places=grid.places,
        zone=grid.zone,
        by=grid.by,
        last=grid.ds[-1],
        parametric=model,
        network=network,
        network_name=chosen,
        shock_mean=last_shock.mean_after[:, -1],
        shock_variance=last_shock.variance_after[:, -1],
        city_state=last_city,
        scores=scores,
        short=short,
        map=found.map,
        daily_map=daily_map,
        recent=recent_effects(model, grid),
        days=day_spread(model, grid, past),
        holidays=grid.holidays,
        seed=seed,
        ahead=ahead.name,
        daily_backtest=daily_rows,
        backtest=_backtest_columns(grid.until(grid.end), test, chosen, found, levels),
        calibration=account,
        past=lost,
        self_check=check,
        unused=grid.unused,
    )


def _most_lost(grid: Grid, seed: int) -> float:
    """Return the upper end of the lost rides if a vehicle stood at a place only when it surely did.

    Nobody walks to a neighbour then. Where hardly any time is sure, rates have no bound, and nor have lost
    rides: infinity.
    """
    worst = at_worst(grid)
    model = fit_parametric(worst)
    past = look_back(model, worst)
    found = estimate_lost(model, worst, past, worst.known, seed)
    most = float(found.total["lost"]["q95"])
    return most if most <= _PLAUSIBLE * grid.y.sum() else np.inf


def _backtest_columns(
    grid: Grid, test: Backtest, chosen: str, found: Calibrated, levels: tuple[float, ...]
) -> Columns:
    part = slice(test.first, None)
    periods = test.mean.shape[1]
    raw = test.quantiles(np.array(levels), chosen)
    quantiles = test.quantiles(found.used, chosen)
    columns: Columns = {
        "unique_id": np.repeat(grid.places, periods),
        "ds": np.tile(grid.ds[part], len(grid.places)),
        "y": grid.y[:, part].reshape(-1),
        "censored": grid.censored[:, part].reshape(-1),
        "exposure": np.where(grid.known, grid.exposure, np.nan)[:, part].reshape(-1),
        "threshold": grid.threshold[:, part].reshape(-1),
        "mean": test.mean.reshape(-1),
    }
    columns |= {column_name(level, "raw"): raw[:, k] for k, level in enumerate(levels)}
    columns |= {column_name(level): quantiles[:, k] for k, level in enumerate(levels)}
    return columns | {"pit": found.pit, "pit_censored": found.censored}
