"""The steps from trips to decisions: panel, fit, forecast, plan, report.

Each reads files of the steps before it and is kept by `unmet.runs.Steps` until one of them changes.
"""

from __future__ import annotations

from typing import Any

from unmet.pipeline._account import account_of
from unmet.pipeline._inputs import PanelInputs, built_panel
from unmet.pipeline._watching import Watching
from unmet.results import FILES, Run, outputs_of, write_file, write_map
from unmet.runs import Steps

_PLAN_INPUTS = ("model", "panel.parquet", "stations.parquet", "lost.parquet", "lost_total.json")
# The page is made from every file but these.
_NOT_ON_THE_PAGE = ("panel.parquet", "model", "hubs.geojson", "report.html")
_PACKAGES = ("unmet", "numpy", "scipy", "scikit-learn", "jax", "equinox", "optax", "duckdb")


def panel_step(steps: Steps, inputs: PanelInputs, watching: Watching) -> bool:
    """Build the panel from trips and feeds, with the table of places and the account of what was read."""
    folder = steps.folder

    def make() -> None:
        from unmet.mobility import place_table, write_panel

        with built_panel(inputs, watching) as (con, reports, built, _):
            account = {**account_of(reports, built), "output": "panel.parquet"}
            write_panel(con, folder / "panel.parquet")
            places = place_table(con, inputs.kind)
            write_file(folder, FILES["stations.parquet"], places, about={"kind": inputs.kind})
        write_file(folder, FILES["panel.json"], account)

    return steps.run(
        "panel", make, inputs=inputs.files, settings=inputs.settings, outputs=outputs_of("panel")
    )


def fit_step(steps: Steps, *, networks: tuple[str, ...], seed: int, jobs: int, progress: bool | None) -> bool:
    """Fit demand to the panel: model, backtest, calibration, comparison of models, lost rides."""
    folder, run = steps.folder, Run(steps.folder)
    (panel,) = run.need("panel")
    stations = [folder / "stations.parquet"] if run.has("stations") else []

    def make() -> None:
        from unmet.forecasting import fit_demand

        places = run.columns("stations") if stations else None
        model = fit_demand(
            panel,
            stations=places,
            networks=networks,
            seed=seed,
            never_available="keep",
            jobs=jobs,
            progress=progress,
        )
        model.save(folder / "model")
        totals = model.lost_total()
        about = {"zone": model.zone, "by": model.by}
        write_file(folder, FILES["backtest.parquet"], model.backtest or {}, about)
        write_file(folder, FILES["lost.parquet"], model.lost(), about)
        write_file(folder, FILES["lost_total.json"], totals)
        write_file(folder, FILES["calibration.json"], model.calibration)
        write_file(folder, FILES["measures.json"], model.measures)
        write_map(folder, places, totals)

    done = steps.run(
        "fit",
        make,
        inputs=[panel, *stations],
        settings={"networks": list(networks), "seed": seed},
        outputs=outputs_of("fit"),
    )
    steps.note(versions=_versions(), measures=run.summary(fit_only=True).measures())
    return done


def forecast_step(steps: Steps, *, horizon: int) -> bool:
    """Forecast demand for the next `horizon` periods."""
    run = Run(steps.folder)

    def make() -> None:
        model = run.model
        about = {"zone": model.zone, "by": model.by}
        write_file(run.folder, FILES["forecast.parquet"], model.forecast(horizon), about)

    return steps.run(
        "forecast",
        make,
        inputs=run.need("model"),
        settings={"horizon": horizon},
        outputs=outputs_of("forecast"),
    )


def horizon_of(given: int | None, by: str) -> int:
    """Return the periods to forecast: by default a week of hours, or four weeks of days."""
    return (168 if by == "hour" else 28) if given is None else given


def plan_step(steps: Steps, *, fleet: int | None, cost_lost: float, cost_idle: float, free: bool) -> bool:
    """Plan stock, moves and fleet for the first whole day ahead.

    Without `fleet` the usual number of vehicles is shared out anew. With `free` the size of the fleet is
    ignored: vehicles are added while each saves more than it costs.
    """
    run = Run(steps.folder)
    settings = {"fleet": fleet, "cost_lost": cost_lost, "cost_idle": cost_idle, "free": free}

    def make() -> None:
        from unmet.pipeline._plan import write_plan

        write_plan(run, fleet=fleet, cost_lost=cost_lost, cost_idle=cost_idle, free=free)

    return steps.run(
        "plan", make, inputs=run.need(*_PLAN_INPUTS), settings=settings, outputs=outputs_of("plan")
    )


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
