"""From trips to decisions in one call, and each step as a call of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from unmet.pipeline._account import account_of
from unmet.pipeline._cluster import beside_file, on_cluster
from unmet.pipeline._given_panel import GivenPanel, given_panel_step
from unmet.pipeline._inputs import PanelInputs, built_panel
from unmet.pipeline._options import (
    COST_IDLE,
    COST_LOST,
    MAX_MOVE,
    Paths,
    check_exist,
    check_plan,
    jobs_of,
    networks_of,
    paths_of,
    seconds_of,
)
from unmet.pipeline._steps import fit_step, forecast_step, horizon_of, panel_step, plan_step, report_step
from unmet.pipeline._watching import Watching
from unmet.results import Run
from unmet.runs import Steps, stale_steps
from unmet.tables import Pairs


def run(
    *,
    output: str | os.PathLike[str],
    trips: Paths | None = None,
    panel: Any = None,
    status: Paths | None = None,
    stations: Paths | None = None,
    zone: str | None = None,
    by: str = "hour",
    times: str | None = None,
    noun: str | None = None,
    hubs: int | str | os.PathLike[str] | None = None,
    cells: int | None = None,
    keep: Pairs | None = None,
    columns: Pairs | None = None,
    status_columns: Pairs | None = None,
    encoding: str | None = None,
    day_first: bool | None = None,
    min_duration: str | float = 60.0,
    area: str | os.PathLike[str] | Sequence[float] | None = None,
    holidays: str | None = None,
    weather: str | os.PathLike[str] | None = None,
    weather_keep: Pairs | None = None,
    max_gap: str | None = None,
    max_reject_share: float = 0.01,
    memory: str | None = None,
    covariates: str | os.PathLike[str] | None = None,
    horizon: int | None = None,
    network: str | Sequence[str] | None = None,
    self_check: bool = True,
    fleet: int | None = None,
    cost_lost: float = COST_LOST,
    cost_idle: float = COST_IDLE,
    free: bool = False,
    max_move: float = MAX_MOVE,
    title: str | None = None,
    seed: int = 0,
    jobs: int = -1,
    replace: bool = False,
    cache: bool = True,
    progress: bool | None = None,
    backend: str | None = None,
    cluster: Any = None,
) -> Run:
    """Go from trips, or a panel of your own, to latent demand, lost rides, a forecast, a plan and a report.

    Does what the command ``unmet run`` does, in the same folder layout. Steps whose inputs, settings and code
    have not changed are kept, so a call that was interrupted goes on where it stopped.

    Parameters
    ----------
    output : folder for all results; made if needed.
    trips : trip files or folders, any known layout.
    panel : instead of trips: a panel file, or a table of your own, a frame or a CSV or Parquet file in long
        format (see `unmet.forecasting.as_panel`). Of the options that read trips it takes `stations`,
        `zone`, `times`, `columns` and `memory`. There is no plan if the table has no stock.
    status : status feed: GBFS files, a folder of them, or a CSV of events. Without it, stock is inferred.
    stations : station_information or a table of stations.
    zone : local time zone, for instance "America/New_York".
    by : length of a period, "hour" or "day".
    times : how time stamps are written, "local" or "utc". None: local, or what the panel says.
    noun : what a panel counts, in the plural, such as "sales": the word of the page and the summary.
    hubs : group stations into this many hubs, or by a file of place,hub.
    cells : use H3 cells at this resolution instead of stations.
    keep : keep only trips with these values, such as {"user": "member"}.
    columns : columns of an unknown layout, such as {"start": "Departure", "station": "From"}; of a panel,
        such as {"y": "sold", "exposure": "in_stock"}.
    status_columns : columns of an unknown status file: {"place": "Stop", "at": "When", "available": "Bikes"}.
    encoding : of text files, such as "cp949". None: told by their bytes.
    day_first : whether dates such as 3/4/2019 have the day first. None: decided by all files of a layout.
    min_duration : set aside shorter rides that end where they began, in seconds or as "1 minute".
    area : keep only what lies in this area: (latitude, longitude, km), or a GeoJSON file with a polygon.
    holidays : add public holidays of a country or a part of one, such as "US-NJ".
    weather, weather_keep : add weather by local day or hour; keep only rows with these values.
    max_gap : treat stock as unknown after this long without a record, such as "2 hours".
    max_reject_share : stop if a larger share of the rows is rejected.
    memory : such as "4GB"; limit of the database, and parts of the fit run side by side as far as it allows.
        The fit cannot go below .5 GB and 300 bytes for each place and period (7 GB for a year of New York);
        it warns where that is more. None: 1 GB for the database, and for parts of the fit beside the first.
    covariates : file of what is known ahead, such as a weather forecast, by local day or hour; holidays need
        none.
    horizon : periods to forecast. None: a week of hours, 28 days, or 13 weeks.
    network : "linear", "mlp", "lstm", "graph", "grid", or several to choose among on validation. None: linear
        and mlp. "graph" and "grid" need `stations`.
    self_check : also hide rides by virtual stock-outs, estimate them, and widen intervals that miss them.
    fleet : vehicles to share out. None: as many as usually stand at the places.
    free : ignore the size of the fleet; add vehicles while each saves more than it costs.
    cost_lost, cost_idle : with `free`, the cost of a lost ride and of an idle vehicle a day.
    max_move : plan no move over more km than this.
    title : heading of the report.
    seed : seed of every random draw.
    jobs : processes that read and threads that fit; -1: one per core.
    replace : start over in a folder that holds another run. Files may be added to a run without it.
    cache : keep what was read in the folder, so that only added files are read.
    progress : None: show progress bars on a terminal; False: never.
    backend : library of the frames: "pandas", "polars" or "arrow". None: the first that is installed.
    cluster : address of a Dask scheduler whose workers read and fit, a Dask `Client`, or "local" for `jobs`
        worker processes here; needs ``unmet[cluster]``. They must see `output` and the files that are read
        under the same paths. The results are the same bytes.

    Returns
    -------
    Run
        With frames such as ``lost`` and ``plan``, ``model``, ``summary()`` and ``page``.

    Examples
    --------
    >>> run = unmet.run(  # doctest: +SKIP
    ...     trips="trips.csv.gz", status="status.csv.gz", stations="station_information.json",
    ...     zone="America/New_York", output="out",
    ... )
    >>> run.lost.head()  # doctest: +SKIP
    """
    if panel is not None:
        return _run_panel(locals())
    if not trips:
        raise ValueError("trips must name at least one file or folder; or give panel=")
    if noun is not None:
        raise ValueError("noun= goes with panel=; trips are rides")
    inputs = PanelInputs.among({**locals(), "times": times or "local"})
    if by not in ("hour", "day"):
        raise ValueError(f"by must be hour or day for a run, got {by!r}")
    check_plan(fleet, cost_lost, cost_idle, free, max_move)
    known = None if covariates is None else Path(covariates)
    check_exist([*inputs.files, *([] if known is None else [known])])
    networks, workers = networks_of(network), jobs_of(jobs)
    found = Run(output, backend=backend)  # a missing backend is told before the work, not after it
    told: list[str] = []
    with Steps(output, source=inputs.source, replace=replace) as steps:
        with on_cluster(cluster, steps, workers) as connected:
            with Watching(shown=progress) as watching:
                built = panel_step(steps, inputs, watching, cache=cache, told=told, cluster=connected)
            done = {"panel": built}
            done["fit"] = fit_step(
                steps,
                networks=networks,
                seed=seed,
                jobs=workers,
                self_check=self_check,
                progress=progress,
                memory=memory,
                cluster=connected,
            )
        done["forecast"] = forecast_step(steps, horizon=horizon_of(horizon, by), covariates=known)
        done["plan"] = plan_step(
            steps, fleet=fleet, cost_lost=cost_lost, cost_idle=cost_idle, free=free, max_move=max_move
        )
        done["report"] = report_step(steps, title=title)
    found.kept = tuple(name for name, now in done.items() if not now)
    found.told = tuple(told)
    return found


_OF_BOTH = ("stations", "zone", "times", "columns", "max_reject_share", "memory")
_OF_TRIPS = tuple(name for name in PanelInputs.__dataclass_fields__ if name not in _OF_BOTH)


def _run_panel(options: dict[str, Any]) -> Run:
    """Do what `run` does, from a panel; `options` are the arguments of `run`."""
    usual = signature(run).parameters
    options["min_duration"] = seconds_of(options["min_duration"], "min_duration")
    for name in _OF_TRIPS:
        if name in usual and options[name] not in (None, usual[name].default):
            raise ValueError(f"{name}= goes with trips=, not with panel=: leave it out")
    output, known = options["output"], options["covariates"]
    planning = {name: options[name] for name in ("fleet", "cost_lost", "cost_idle", "free", "max_move")}
    check_plan(**planning)
    names = ("columns", "zone", "times", "noun", "stations", "network", "self_check", "seed", "jobs")
    more = ("max_reject_share", "memory", "replace", "progress", "backend", "cluster")
    found = fit(options["panel"], output=output, **{name: options[name] for name in (*names, *more)})
    forecast(found, horizon=options["horizon"], covariates=known)
    why = (found.account or {}).get("panel", {}).get("no_plan")
    told = list((found.account or {}).get("panel", {}).get("notes", ()))
    if why is None:
        plan(found, **planning)
    else:
        told.append(f"There is no plan: {why}.")
    report(found, title=options["title"])
    found.told = tuple(told)
    return found


def panel(
    *,
    trips: Paths,
    output: str | os.PathLike[str],
    progress: bool | None = None,
    cluster: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Build a panel file alone; `options` are those of `run` that decide a panel, and `cluster` as there.

    Returns the account of what was read. Read the file with `unmet.mobility.read_panel`.
    """
    from unmet.mobility import write_panel

    unknown = set(options) - set(PanelInputs.__dataclass_fields__)
    if unknown:
        raise TypeError(f"panel() has no option {min(unknown)!r}")
    inputs = PanelInputs.among({"trips": trips, **options})
    check_exist(inputs.files)
    with (
        beside_file(cluster, output) as (connected, store),
        Watching(shown=progress) as watching,
        built_panel(inputs, watching, store=store, cluster=connected) as (con, reports, built, _),
    ):
        write_panel(con, output)
        return {**account_of(reports, built), "output": str(output)}


def fit(
    panel: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    columns: Pairs | None = None,
    zone: str | None = None,
    times: str | None = None,
    noun: str | None = None,
    stations: Paths | None = None,
    network: str | Sequence[str] | None = None,
    self_check: bool = True,
    seed: int = 0,
    max_reject_share: float = 0.01,
    memory: str | None = None,
    jobs: int = -1,
    replace: bool = False,
    progress: bool | None = None,
    backend: str | None = None,
    cluster: Any = None,
) -> Run:
    """Fit latent demand to a panel, or again to the panel of a run folder.

    Parameters
    ----------
    panel : panel file, a table of your own (a frame, or a CSV or Parquet file, in long format; see
        `unmet.forecasting.as_panel`), or the folder of a run.
    output : folder for all results; goes with a panel.
    columns, zone, times : names in a table of your own, and how its times are to be read.
    noun : what the panel counts, in the plural, such as "sales": the word of the page and the summary.
    stations : names and coordinates of the places; goes with a panel file. Without it, places are named by
        their ids and riders who walk to a neighbour are not told apart.
    self_check : see `run`; a panel file alone does not tell the stock of every moment, so it has none.
    max_reject_share : stop if a larger share of the stations cannot be read.
    memory, cluster : see `run`.
    """
    places = paths_of(stations)
    if not places and max_reject_share != 0.01:
        raise ValueError("max_reject_share is about the rows of stations=: give them, or leave it out")
    given = None
    if isinstance(panel, str | os.PathLike) and Path(panel).is_dir():
        if output is not None and Path(output) != Path(panel):
            raise ValueError("output must be left out where panel is the folder of a run")
        asked = {"stations": places, "replace": replace, "columns": columns, "zone": zone} | {
            "times": times,
            "noun": noun,
        }
        for wrong in (name for name, value in asked.items() if value):
            raise ValueError(f"{wrong}= goes with a panel file; the panel of a run folder is fitted as it is")
        folder = Path(panel)
        source = Run(folder).record["source"]
    elif output is None:
        raise ValueError("output must name the folder for model, backtest and lost rides")
    else:
        folder, given = Path(output), GivenPanel.of(panel, columns, zone, times, noun)
        source = given.source
    check_exist(places)
    networks, workers = networks_of(network), jobs_of(jobs)
    found = Run(folder, backend=backend)
    new = not folder.exists()
    try:
        with Steps(folder, source=source, replace=replace) as steps:
            if given is not None:
                given_panel_step(steps, given, places, max_reject_share)
            with on_cluster(cluster, steps, workers) as connected:
                fit_step(
                    steps,
                    networks=networks,
                    seed=seed,
                    jobs=workers,
                    self_check=self_check,
                    progress=progress,
                    memory=memory,
                    cluster=connected,
                )
    except ValueError:
        if new:  # the panel cannot be fitted, so its copy is of no use
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return found


def forecast(
    run: Run | str | os.PathLike[str],
    *,
    horizon: int | None = None,
    covariates: str | os.PathLike[str] | None = None,
) -> Run:
    """Forecast demand with the model of a run; plans of the run then use the same `covariates`."""
    found = _run_of(run)
    known = None if covariates is None else Path(covariates)
    check_exist([] if known is None else [known])
    source = found.record["source"]
    found.need("model")
    with Steps(found.folder, source=source) as steps:
        periods = horizon_of(horizon, found.model.by if horizon is None else "")
        forecast_step(steps, horizon=periods, covariates=known)
    return found


def plan(
    run: Run | str | os.PathLike[str],
    *,
    fleet: int | None = None,
    cost_lost: float = COST_LOST,
    cost_idle: float = COST_IDLE,
    free: bool = False,
    max_move: float = MAX_MOVE,
) -> Run:
    """Plan the stock of every place for the first whole day ahead of a run; `max_move` in km limits moves."""
    check_plan(fleet, cost_lost, cost_idle, free, max_move)
    found = _run_of(run)
    why = (found.account or {}).get("panel", {}).get("no_plan")
    if why is not None:
        raise ValueError(f"{found.folder} cannot have a plan: {why}")
    with Steps(found.folder, source=found.record["source"]) as steps:
        plan_step(steps, fleet=fleet, cost_lost=cost_lost, cost_idle=cost_idle, free=free, max_move=max_move)
    return found


def report(run: Run | str | os.PathLike[str], *, title: str | None = None) -> Run:
    """Write the page of a run; its path is then ``run.page``.

    Without a `title` the page keeps the one that it has.
    """
    found = _run_of(run)
    if title is None:
        title = found.settings.get("report", {}).get("title")
    old = [step for step in stale_steps(found.folder) if step in ("forecast", "plan")]
    if old:
        again = " and ".join(f"`unmet {step} {found.folder}`" for step in old)
        raise ValueError(f"{found.folder} holds the {' and '.join(old)} of an earlier fit; do {again} first")
    with Steps(found.folder, source=found.record["source"]) as steps:
        report_step(steps, title=title)
    return found


def _run_of(run: Run | str | os.PathLike[str]) -> Run:
    return run if isinstance(run, Run) else Run(run)
