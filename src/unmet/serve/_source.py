"""Everything the service reads from a run. No other module of the service asks the run folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from unmet.calendar import check_zone
from unmet.results import Run, open_run
from unmet.serve._by_place import ByPlace, by_place
from unmet.serve._curves import Curves, Window, make_curves
from unmet.serve._encode import number

QUANTILES = ("q05", "q10", "q25", "q50", "q75", "q90", "q95")
FORECAST = ("mean", *QUANTILES, "identified_up_to")
OBSERVED = ("y", "censored", "exposure", "threshold", "returns", "stock_start", "capacity", "inferred")
ESTIMATED = (
    *("demand_mean", "demand_q05", "demand_q50", "demand_q95"),
    *("lost_mean", "lost_q05", "lost_q95", "identified"),
)


@dataclass(frozen=True)
class Source:
    """A run in memory, as its folder was when the service started."""

    run: Run
    zone: str
    by: str
    forecast: ByPlace
    panel: ByPlace | None
    lost: ByPlace | None
    lost_total: Any
    stations: dict[str, dict[str, Any]]
    first_day: Window
    curves: Curves | None
    covariates: dict[str, Any] | None = None

    def load_model(self) -> Any:
        """Return the saved demand model, or None if the run has none."""
        try:
            self.run.need("model")
        except ValueError:
            return None
        return self.run.model

    def read_panel(self) -> Any:
        """Read the whole panel again, as planning needs it. Raises ValueError or OSError if it is gone."""
        return self.run.read_panel()

    def render_report(self, panel: str, script: str, style: str) -> str | None:
        """Return the report with a what-if panel added, or None if the run has not come that far."""
        if self.lost is None or self.lost_total is None:
            return None
        from unmet.report import Live, read_run, render_page

        return render_page(read_run(self.run), live=Live(panel, script=script, style=style))


def check_folder(folder: str | os.PathLike[str]) -> Run:
    """Open a run, and refuse at once a folder that is missing or has no forecast."""
    run = open_run(folder)
    run.need("forecast")
    why = ((run.account or {}).get("panel") or {}).get("no_plan")
    if why is not None:
        raise ValueError(f"{run.folder} cannot be served: {why}; open its report.html instead")
    return run


def read_source(folder: str | os.PathLike[str]) -> Source:
    """Read a run into memory."""
    run = check_folder(folder)
    forecast = _table(run, "forecast", FORECAST)
    assert forecast is not None
    zone = _zone(run)
    first_day = Window.first(forecast.columns["ds"].min(), zone, run.by)
    return Source(
        run=run,
        zone=zone,
        by=run.by,
        forecast=forecast,
        panel=_table(run, "panel", OBSERVED),
        lost=_table(run, "lost", ESTIMATED),
        lost_total=run.totals if run.has("lost_total") else None,
        stations=_stations(run),
        first_day=first_day,
        curves=_curves(run, first_day),
        covariates=run.columns("covariates") if run.has("covariates") else None,
    )


def outdated_steps(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the steps whose inputs changed after they ran."""
    from unmet.runs import stale_steps

    return tuple(stale_steps(folder)) if open_run(folder).steps else ()


def _table(run: Run, name: str, keep: tuple[str, ...]) -> ByPlace | None:
    if not run.has(name):
        return None
    try:
        return by_place(run.columns(name), keep)
    except ValueError as error:
        raise ValueError(f"the {name} of {run.folder}: {error}; make it again with `unmet run`") from None


def _curves(run: Run, window: Window) -> Curves | None:
    found = (run.curves or {}).get("places")
    if not found:
        return None
    try:
        return make_curves(found, {row["unique_id"]: row for row in run.rows("plan")}, window)
    except ValueError as error:
        raise ValueError(f"the plan of {run.folder}: {error}; run `unmet plan` again") from None


def _stations(run: Run) -> dict[str, dict[str, Any]]:
    """Return name, coordinates and docks by place."""
    return {
        row["unique_id"]: {
            "name": row["name"],
            **{key: number(row.get(key)) for key in ("lat", "lng", "capacity")},
        }
        for row in run.rows("stations")
    }


def _zone(run: Run) -> str:
    try:
        return check_zone(run.zone)
    except ValueError:
        raise ValueError(f"{run.folder} names an unknown time zone: {run.zone!r}") from None
