"""The steps from trips to decisions: panel, fit, forecast, plan, report.

Each reads files of the steps before it and is kept by `unmet.runs.Steps` until one of them changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.calendar import step_of
from unmet.pipeline._account import account_of
from unmet.pipeline._inputs import PanelInputs, built_panel
from unmet.pipeline._options import bytes_of
from unmet.pipeline._watching import Watching
from unmet.results import FILES, Run, outputs_of, write_file, write_map
from unmet.runs import Cluster, Steps
from unmet.tables import parquet_about

if TYPE_CHECKING:
    from unmet.forecasting import SelfCheck

_PLAN_INPUTS = ("model", "panel.parquet", "stations.parquet", "lost.parquet", "lost_total.json")
# The page is made from every file but these.
_NOT_ON_THE_PAGE = (
    *("panel.parquet", "lowered.parquet", "model", "covariates.parquet"),
    *("hubs.geojson", "report.html"),
)
_MOST_NOTES = 10
READ_STORE = ".unmet-read"  # rows of the files that were read; may be deleted at any time
_PACKAGES = ("unmet", "numpy", "scipy", "scikit-learn", "jax", "equinox", "optax", "duckdb")


def panel_step(
    steps: Steps,
    inputs: PanelInputs,
    watching: Watching,
    *,
    cache: bool = True,
    told: list[str] | None = None,
    cluster: Cluster | None = None,
) -> bool:
    """Build the panel from trips and feeds, with the table of places and the account of what was read.

    With `cache`, rows that were read are kept in the folder, so that only added files are read next time;
    what that meant for this reading is appended to `told`, after the notes of the readers.
    """
    folder = steps.folder

    def make() -> None:
        from unmet.mobility import lowered_columns, place_table, write_panel
        from unmet.mobility.sources import ReadStore

        store = None
        if cluster is not None and cluster.folder is not None and not cache:
            store = ReadStore(cluster.folder / "read", cluster=cluster)
        elif cache:
            store = ReadStore(steps.home / READ_STORE, cluster=cluster)
        with built_panel(inputs, watching, store=store, lowered=True, cluster=cluster) as found:
            con, reports, built, _ = found
            account = {**account_of(reports, built), "output": "panel.parquet"}
            write_panel(con, folder / "panel.parquet")
            places = place_table(con, inputs.kind)
            write_file(folder, FILES["stations.parquet"], places, about={"kind": inputs.kind})
            about = {"reserve": str(built.reserve), "zone": built.zone, "by": built.by}
            write_file(folder, FILES["lowered.parquet"], lowered_columns(con), about)
        if told is not None:
            notes = [note for report in reports.values() for note in report.notes]
            told.extend(f"Note: {note}" for note in notes[-_MOST_NOTES:])
        before = _kind_of_feed(folder)
        write_file(folder, FILES["panel.json"], account)
        if store is not None and (store.lines_kept or store.changed):
            if before not in (None, built.feed) and built.feed is not None:
                store.changed.append(f"the feed is now one of {built.feed}, not of {before}")
            steps.log(lines_read=store.lines_read, lines_kept=store.lines_kept, changed=store.changed)
            if told is not None:
                told.extend(f"Read again: {words}." for words in store.changed[:3])
                lines = store.lines_read + store.lines_kept
                told.append(f"Read {store.lines_read:,} of {lines:,} lines; the others were read before.")

    return steps.run(
        "panel", make, inputs=inputs.files, settings=inputs.settings, outputs=outputs_of("panel")
    )


def _kind_of_feed(folder: Path) -> str | None:
    """Return the kind of feed that the last panel in the folder was made from."""
    try:
        found = json.loads((folder / "panel.json").read_bytes())["panel"]["feed"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def fit_step(
    steps: Steps,
    *,
    networks: tuple[str, ...],
    seed: int,
    jobs: int,
    self_check: bool,
    progress: bool | None,
    memory: str | None = None,
    cluster: Cluster | None = None,
) -> bool:
    """Fit demand to the panel: model, backtest, calibration, comparison of models, self-check, lost rides.

    Each stage of the fit is kept until all are done, so that a kill loses only the one under way.
    """
    folder, run = steps.folder, Run(steps.folder)
    allowed = None if memory is None else bytes_of(memory)
    (panel,) = run.need("panel")
    stations = [folder / "stations.parquet"] if run.has("stations") else []
    lowered = [folder / "lowered.parquet"] if self_check and run.has("lowered") else []

    def make() -> None:
        from unmet.forecasting import fit_demand

        places = run.columns("stations") if stations else None
        model = fit_demand(
            panel,
            stations=places,
            networks=networks,
            seed=seed,
            never_available="keep",
            lowered=lowered[0] if lowered else None,
            jobs=jobs,
            memory=allowed,
            stages=steps.stages(),
            progress=progress,
            cluster=cluster,
        )
        model.save(folder / "model")
        totals = model.lost_total()
        about = {"zone": model.zone, "by": model.by}
        about |= {name: text for name, text in parquet_about(panel).items() if name == "noun"}
        write_file(folder, FILES["backtest.parquet"], model.backtest or {}, about)
        write_file(folder, FILES["lost.parquet"], model.lost(), about)
        write_file(folder, FILES["lost_total.json"], totals)
        write_file(folder, FILES["calibration.json"], model.calibration)
        write_file(folder, FILES["self_check.json"], _self_check(model.self_check, asked=self_check))
        write_file(folder, FILES["measures.json"], model.measures)
        write_map(folder, places, totals)

    done = steps.run(
        "fit",
        make,
        inputs=[panel, *stations, *lowered],
        settings={"networks": list(networks), "seed": seed, "self_check": self_check},
        outputs=outputs_of("fit"),
    )
    steps.forget_stages("fit")
    steps.note(versions=_versions(), measures=run.summary(fit_only=True).measures())
    return done


def _self_check(found: SelfCheck | None, *, asked: bool) -> dict[str, Any]:
    """Return the content of self_check.json; without a check, why there is none."""
    if found is not None:
        return found.as_dict()
    why = "a panel does not tell the stock of every moment" if asked else "it was switched off"
    return {"done": False, "why": why}


def forecast_step(steps: Steps, *, horizon: int, covariates: Path | None = None) -> bool:
    """Forecast demand for the next `horizon` periods, with a file of what is known of them."""
    run = Run(steps.folder)

    def make() -> None:
        model = run.model
        about = {"zone": model.zone, "by": model.by}
        ahead = None if covariates is None else _read_ahead(covariates, model)
        periods = horizon if ahead is None else max(horizon, len(ahead["ds"]))
        known = model.known_ahead(periods, covariates=ahead)
        found = model.forecast(horizon, covariates=known)
        write_file(run.folder, FILES["covariates.parquet"], known, about)
        write_file(run.folder, FILES["forecast.parquet"], found, about)

    return steps.run(
        "forecast",
        make,
        inputs=[*run.need("model"), *([] if covariates is None else [covariates])],
        settings={"horizon": horizon},
        outputs=outputs_of("forecast"),
    )


def _read_ahead(path: Path, model: Any) -> dict[str, Any]:
    """Return the columns of a file of covariates that the model uses."""
    from unmet.mobility import read_covariates

    found = read_covariates(path, model.known_ahead(step_of(model.by).per_year)["ds"], model.zone)
    used = {name: values for name, values in found.items() if name in ("ds", *model.covariates)}
    if len(used) < 2:
        raise ValueError(
            f"covariates file {path} has none of the panel's covariates "
            f"({', '.join(model.covariates) or 'it has none'}); it has {', '.join(list(found)[1:])}"
        )
    return used


def horizon_of(given: int | None, by: str) -> int:
    """Return the periods to forecast: by default a week of hours, four weeks of days, 13 weeks of weeks."""
    if given is not None:
        return given
    step = step_of(by)
    return step.per_week if step.per_day > 1 else 28 if by == "day" else 13


def plan_step(
    steps: Steps, *, fleet: int | None, cost_lost: float, cost_idle: float, free: bool, max_move: float
) -> bool:
    """Plan stock, moves and fleet for the first whole day ahead.

    Without `fleet` the usual number of vehicles is shared out anew. With `free` the size of the fleet is
    ignored: vehicles are added while each saves more than it costs.
    """
    run = Run(steps.folder)
    settings: dict[str, Any] = {
        "fleet": fleet,
        "cost_lost": cost_lost,
        "cost_idle": cost_idle,
        "free": free,
        "max_move": max_move,
    }

    def make() -> None:
        from unmet.pipeline._plan import write_plan

        write_plan(run, **settings)

    known = ["covariates.parquet"] if run.has("covariates.parquet") else []
    inputs = run.need(*_PLAN_INPUTS, *known)
    return steps.run("plan", make, inputs=inputs, settings=settings, outputs=outputs_of("plan"))


def report_step(steps: Steps, *, title: str | None) -> bool:
    """Write the page about everything that the folder holds."""
    run = Run(steps.folder)

    def make() -> None:
        from unmet.report import write_report

        write_report(run, title=title)

    return steps.run(
        "report",
        make,
        inputs=[run.folder / name for name in FILES if name not in _NOT_ON_THE_PAGE and run.has(name)],
        settings={"title": title},
        outputs=outputs_of("report"),
    )


def _versions() -> dict[str, Any]:
    """Versions of Python and of what decides the numbers."""
    import platform
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
