"""The steps from trips to decisions; each reads the files of those before it and is done once.

panel → fit → forecast → plan → report, all in one folder kept by `unmet.runs.Steps`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmet.cli._panel_work import PanelInputs, built_panel
from unmet.cli._run_files import need, read_json, write_geojson, write_json
from unmet.cli._run_summary import measures_of, versions
from unmet.runs import Steps
from unmet.tables import read_columns, write_columns

PLAN_INPUTS = ("model", "panel.parquet", "stations.parquet", "lost.parquet", "lost_total.json")


def do_panel(steps: Steps, inputs: PanelInputs, watching: Any) -> bool:
    """Trips and feeds → panel.parquet, stations.parquet and the account of what was read, panel.json."""
    folder = steps.folder

    def make() -> None:
        from unmet.cli._panel_summary import as_data
        from unmet.mobility import place_table, write_panel

        with built_panel(inputs, watching) as (con, reports, built, _):
            account = as_data(reports, built, Path("panel.parquet"), None)
            write_panel(con, folder / "panel.parquet")
            write_columns(
                folder / "stations.parquet", place_table(con, inputs.kind), about={"kind": inputs.kind}
            )
        write_json(folder / "panel.json", account)

    return steps.run(
        "panel",
        make,
        inputs=inputs.files,
        settings=inputs.settings,
        outputs=["panel.parquet", "stations.parquet", "panel.json"],
    )


def do_fit(steps: Steps, *, networks: tuple[str, ...], seed: int, jobs: int, shown: bool | None) -> bool:
    """Panel → model, backtest, calibration, comparison of models, lost rides."""
    folder = steps.folder
    need(folder, "panel.parquet")
    stations = folder / "stations.parquet"

    def make() -> None:
        from unmet.forecasting import fit_demand

        where = read_columns(stations)[0] if stations.is_file() else None
        model = fit_demand(
            folder / "panel.parquet",
            stations=where,
            networks=networks,
            seed=seed,
            never_available="keep",
            jobs=jobs,
            progress=shown,
        )
        about = {"zone": model.zone, "by": model.by}
        model.save(folder / "model")
        write_columns(folder / "backtest.parquet", model.backtest or {}, about=about)
        write_columns(folder / "lost.parquet", model.lost(), about=about)
        write_json(folder / "lost_total.json", model.lost_total())
        write_json(folder / "calibration.json", model.calibration)
        write_json(folder / "measures.json", model.measures)
        write_geojson(folder / "hubs.geojson", where, model.lost_total())

    outputs = ["model", "backtest.parquet", "lost.parquet", "lost_total.json", "calibration.json"]
    done = steps.run(
        "fit",
        make,
        inputs=[folder / "panel.parquet", *([stations] if stations.is_file() else [])],
        settings={"networks": list(networks), "seed": seed},
        outputs=[*outputs, "measures.json", "hubs.geojson"],
    )
    steps.note(versions=versions(), measures=measures_of(folder))
    return done


def horizon_of(given: int | None, by: str) -> int:
    """Periods to forecast: a week of hours or four weeks of days unless somebody says otherwise."""
    return (168 if by == "hour" else 28) if given is None else given


def do_forecast(steps: Steps, *, horizon: int) -> bool:
    """Model → forecast.parquet for the next `horizon` periods."""
    folder = steps.folder

    def make() -> None:
        from unmet.forecasting import load_demand

        model = load_demand(folder / "model")
        about = {"zone": model.zone, "by": model.by}
        write_columns(folder / "forecast.parquet", model.forecast(horizon), about=about)

    return steps.run(
        "forecast",
        make,
        inputs=need(folder, "model"),
        settings={"horizon": horizon},
        outputs=["forecast.parquet"],
    )


def do_plan(steps: Steps, *, fleet: int | None, cost_lost: float, cost_idle: float, free: bool) -> bool:
    """Model and panel → plan.csv, moves.csv, fleet.csv, curves.json for the first whole day ahead.

    Without `fleet` the vehicles that usually stand at the places are shared out anew; with `free` each place
    gets what pays, at the given costs, however many vehicles that takes.
    """
    folder = steps.folder

    def make() -> None:
        from unmet.cli._given_panel import checked_panel
        from unmet.cli._plan_files import write_plan

        # Files that people touch; what is wrong with them is told before anything is computed.
        checked_panel(folder / "panel.parquet", more=("returns", "stock_start"))
        read_json(folder / "lost_total.json")
        write_plan(folder, fleet=fleet, cost_lost=cost_lost, cost_idle=cost_idle, free=free)

    return steps.run(
        "plan",
        make,
        inputs=need(folder, *PLAN_INPUTS),
        settings={"fleet": fleet, "cost_lost": cost_lost, "cost_idle": cost_idle, "free": free},
        outputs=["plan.csv", "moves.csv", "fleet.csv", "curves.json"],
    )


def do_report(steps: Steps, *, title: str | None) -> bool:
    """Everything → report.html."""
    folder = steps.folder
    names = (
        *("panel.json", "truth.json", "stations.parquet", "lost.parquet", "lost_total.json"),
        *("backtest.parquet", "calibration.json"),
        *("measures.json", "forecast.parquet", "plan.csv", "moves.csv", "fleet.csv", "curves.json"),
    )

    def make() -> None:
        from unmet.report import write_report

        write_report(folder, title=title)

    return steps.run(
        "report",
        make,
        inputs=[folder / name for name in names if (folder / name).exists()],
        settings={"title": title},
        outputs=["report.html"],
    )
