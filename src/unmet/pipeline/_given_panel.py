"""A panel file that somebody gives: copied into the folder of a run, its places listed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmet.results import FILES, outputs_of, write_file
from unmet.runs import Steps, atomic_write
from unmet.tables import Columns, plain, read_columns


def given_panel_step(
    steps: Steps, path: Path, panel: Any, stations: Sequence[Path], max_reject_share: float
) -> bool:
    """Copy a checked panel file into the run: panel.parquet, stations.parquet, panel.json."""
    folder = steps.folder

    def make() -> None:
        places = panel_places(panel, stations, max_reject_share)
        with open(path, "rb") as given, atomic_write(folder / "panel.parquet") as file:
            shutil.copyfileobj(given, file, 1 << 20)
        kind = panel.about.get("kind", "station")
        write_file(folder, FILES["stations.parquet"], places, about={"kind": kind})
        write_file(folder, FILES["panel.json"], {"panel": _account(panel)})

    settings = {"max_reject_share": max_reject_share} if stations else {}
    outputs = outputs_of("panel", without="lowered.parquet")
    return steps.run("panel", make, inputs=[path, *stations], settings=settings, outputs=outputs)


def panel_places(panel: Any, stations: Sequence[Path] = (), max_reject_share: float = 0.01) -> Columns:
    """Return name, coordinates and docks by place.

    Without `stations` a place is named by its id, and its coordinates are unknown.
    """
    places, index = np.unique(panel["unique_id"].astype(str), return_inverse=True)
    docks = np.full(len(places), -np.inf)
    if "capacity" in panel.columns:
        seen = panel["capacity"].astype(float)
        np.maximum.at(docks, index, np.where(np.isfinite(seen), seen, -np.inf))
    found: Columns = {
        "unique_id": places.astype(object),
        "name": places.astype(object),
        "lat": np.full(len(places), np.nan),
        "lng": np.full(len(places), np.nan),
        "capacity": np.where(np.isfinite(docks), docks, np.nan),
    }
    if stations:
        table = _read_stations(stations, max_reject_share)
        row_of = {str(place): row for row, place in enumerate(table["unique_id"])}
        known = [(at, row_of[place]) for at, place in enumerate(places) if place in row_of]
        if not known:
            raise ValueError(
                f"stations= knows none of the places of the panel, such as {str(places[0])!r}; "
                "give the stations that the panel was built with"
            )
        for at, row in known:
            for name in ("name", "lat", "lng", "capacity"):
                value = table[name][row]
                if value is not None and value == value:  # neither null nor NaN
                    found[name][at] = value
    return found


def _read_stations(paths: Sequence[Path], max_reject_share: float) -> Columns:
    """Stations of an operator's files, or those that another run wrote."""
    from unmet.mobility import connect, read_stations

    if len(paths) == 1 and paths[0].suffix.lower() == ".parquet":
        columns, _ = read_columns(paths[0])
        if {"unique_id", "name", "lat", "lng", "capacity"} <= set(columns):
            return columns
    with connect(inputs=paths) as con:
        read_stations(con, list(paths), max_reject_share=max_reject_share)
        found = con.execute(
            "SELECT place AS unique_id, name, lat, lng, capacity::DOUBLE capacity FROM stations"
        )
        return {name: plain(values) for name, values in found.fetchnumpy().items()}


def _account(panel: Any) -> dict[str, Any]:
    rows = len(panel)
    inferred = int(np.asarray(panel["inferred"], bool).sum()) if "inferred" in panel.columns else 0
    return {
        "rows": rows,
        "rows_inferred": inferred,
        "pickups": int(np.nansum(panel["y"].astype(float))),
        "kind": panel.about.get("kind", "station"),
        "feed": "as the given panel says" if inferred < rows else None,
    }
