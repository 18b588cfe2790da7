"""Everything the service reads from a run folder. No other module of the service opens a file of the run."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from unmet.serve._by_place import ByPlace, by_place
from unmet.serve._curves import Curves, Window, read_curves
from unmet.serve._encode import number
from unmet.tables import read_columns

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

    folder: Path
    zone: ZoneInfo
    by: str
    forecast: ByPlace
    panel: ByPlace | None
    lost: ByPlace | None
    lost_total: Any
    stations: dict[str, dict[str, Any]]
    first_day: Window
    curves: Curves | None

    def load_model(self) -> Any:
        """Return the saved demand model, or None if the run has none."""
        if not (self.folder / "model" / "model.json").is_file():
            return None
        from unmet.forecasting import load_demand

        return load_demand(self.folder / "model")

    def read_panel(self) -> Any:
        """Read the whole panel again, as planning needs it. Raises ValueError or OSError if it is gone."""
        from unmet.mobility import read_panel

        return read_panel(self.folder / "panel.parquet")


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Refuse at once a folder that is missing or holds no forecast."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; give the folder that `unmet run … -o` wrote")
    if not (folder / "forecast.parquet").is_file():
        raise ValueError(f"{folder} has no forecast: run `unmet run … -o {folder}` first")
    return folder


def read_source(folder: str | os.PathLike[str]) -> Source:
    """Read a run folder into memory."""
    folder = check_folder(folder)
    forecast = _read_table(folder / "forecast.parquet", FORECAST)
    if forecast is None or not forecast.rows:
        raise ValueError(f"{folder} has an empty forecast: run `unmet run … -o {folder}` again")
    zone = _zone(forecast.notes.get("zone", "UTC"), folder)
    by = forecast.notes.get("by", "hour")
    first_day = Window.first(forecast.columns["ds"].min(), zone, by)
    curves = folder / "curves.json"
    return Source(
        folder=folder,
        zone=zone,
        by=by,
        forecast=forecast,
        panel=_read_table(folder / "panel.parquet", OBSERVED),
        lost=_read_table(folder / "lost.parquet", ESTIMATED),
        lost_total=_read_json(folder / "lost_total.json"),
        stations=_read_stations(folder / "stations.parquet"),
        first_day=first_day,
        curves=read_curves(_read_json(curves), _read_plan(folder / "plan.csv"), curves, first_day),
    )


def render_report(folder: str | os.PathLike[str], panel: str, script: str, style: str) -> str | None:
    """Return the report of a run with a what-if panel added, or None if the run has no report yet."""
    folder = Path(folder)
    if not (folder / "lost.parquet").is_file() or not (folder / "lost_total.json").is_file():
        return None
    from unmet.report import Live, read_run, render_page

    return render_page(read_run(folder), live=Live(panel, script=script, style=style))


def outdated_steps(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the steps whose inputs changed after they ran."""
    if not (Path(folder) / "run.json").is_file():
        return ()
    from unmet.runs import stale_steps

    return tuple(stale_steps(folder))


def _read_table(path: Path, keep: tuple[str, ...]) -> ByPlace | None:
    if not path.is_file():
        return None
    columns, notes = read_columns(path)
    try:
        return by_place(columns, notes, keep)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; write it again with `unmet run`") from None


def _read_json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        raise ValueError(f"{path} is not JSON; write it again with `unmet run`") from None


def _read_plan(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of the plan by unique_id, as text."""
    if not path.is_file():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = [{key: _unquoted(cell) for key, cell in row.items()} for row in csv.DictReader(file) if row]
    if any("unique_id" not in row for row in rows):
        raise ValueError(f"{path} has no column unique_id; write it again with `unmet plan`")
    return {row["unique_id"]: row for row in rows}


def _unquoted(cell: str | None) -> str:
    """Undo the apostrophe that keeps a spreadsheet from running a cell."""
    if cell is None:
        return ""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in tuple("=+-@\t\r") else cell


def _read_stations(path: Path) -> dict[str, dict[str, Any]]:
    """Return name, coordinates and docks by place."""
    if not path.is_file():
        return {}
    columns, _ = read_columns(path)
    numeric = [key for key in ("lat", "lng", "capacity") if key in columns]
    names = columns.get("name", [None] * len(columns["unique_id"]))
    return {
        str(place): {
            "name": None if name is None else str(name),
            **{key: number(columns[key][row]) for key in numeric},
        }
        for row, (place, name) in enumerate(zip(columns["unique_id"], names))
    }


def _zone(name: str, folder: Path) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f"{folder / 'forecast.parquet'} names an unknown time zone: {name!r}") from None
