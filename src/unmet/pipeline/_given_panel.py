"""A panel that somebody gives, a file or a frame: put into the folder of a run, its places listed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from unmet.forecasting import as_panel
from unmet.mobility import Panel
from unmet.results import FILES, check_noun, check_panel, outputs_of, write_file
from unmet.runs import Steps, atomic_write
from unmet.tables import Columns, Pairs, columns_of, plain, read_columns, write_columns


@dataclass(frozen=True)
class GivenPanel:
    """A panel that somebody gives: a file of `unmet panel`, or a table of their own.

    Attributes
    ----------
    path : its file; None for a frame.
    table : its checked columns, and what is known of them.
    settings : how the table was read: columns, zone, times, noun.
    """

    path: Path | None
    table: Panel
    settings: dict[str, Any]

    @classmethod
    def of(
        cls, panel: Any, columns: Pairs | None, zone: str | None, times: str | None, noun: str | None
    ) -> GivenPanel:
        """Read and check a panel as people give it."""
        path = Path(panel) if isinstance(panel, str | os.PathLike) else None
        named = columns_of(columns)
        table = as_panel(panel if path is None else path, columns=named, zone=zone, times=times)
        if noun is None and table.about.get("kind") == "series":
            noun = "units"
        if noun is not None:
            table = Panel(table.columns, {**table.about, "noun": check_noun(noun)})
        check_panel(table, str(path or "panel"))
        given = {"columns": named, "zone": zone, "times": times, "noun": noun}
        return cls(path, table, {name: value for name, value in given.items() if value is not None})

    @property
    def source(self) -> dict[str, Any]:
        """What the run is about: the file, or the content of the frame."""
        if self.path is not None:
            return {"panel": [self.path]}
        found = sha256()
        for name, values in sorted(self.table.columns.items()):
            found.update(name.encode())
            found.update(repr(values.tolist()).encode() if values.dtype == object else values.tobytes())
        return {"panel": f"frame {found.hexdigest()[:16]}"}


def given_panel_step(
    steps: Steps, given: GivenPanel, stations: Sequence[Path], max_reject_share: float
) -> bool:
    """Put a checked panel into the run: panel.parquet, stations.parquet, panel.json."""
    folder, panel = steps.folder, given.table

    def make() -> None:
        places = panel_places(panel, stations, max_reject_share)
        if given.path is None or given.path.suffix.lower() != ".parquet" or given.settings:
            write_columns(folder / "panel.parquet", panel.columns, about=panel.about)
        else:
            with open(given.path, "rb") as file, atomic_write(folder / "panel.parquet") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)
        kind = panel.about.get("kind", "station")
        write_file(folder, FILES["stations.parquet"], places, about={"kind": kind})
        write_file(folder, FILES["panel.json"], {"panel": _account(panel)})

    settings = dict(given.settings)
    if stations:
        settings["max_reject_share"] = max_reject_share
    if given.path is None:
        settings["content"] = given.source["panel"]
    inputs = [*([] if given.path is None else [given.path]), *stations]
    outputs = outputs_of("panel", without="lowered.parquet")
    return steps.run("panel", make, inputs=inputs, settings=settings, outputs=outputs)


def why_no_plan(panel: Panel) -> str | None:
    """Return why no stock can be planned from a panel; None if it can."""
    missing = [name for name in ("returns", "stock_start") if name not in panel.columns]
    if missing or panel.about.get("kind") == "series":
        return "the panel does not say what was in stock and what came back"
    by = panel.about.get("by", "hour")
    return None if by in ("hour", "day") else f"plans are made by hour or day, not by {by}"


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


def _account(panel: Panel) -> dict[str, Any]:
    rows = len(panel)
    found: dict[str, Any] = {
        "rows": rows,
        "pickups": int(np.nansum(panel["y"].astype(float))),
        "kind": panel.about.get("kind", "station"),
    }
    if "inferred" in panel.columns:
        inferred = int(np.nan_to_num(panel["inferred"].astype(float)).sum())
        found["rows_inferred"] = inferred
        found["feed"] = "as the given panel says" if inferred < rows else None
    elif found["kind"] != "series":
        found |= {"rows_inferred": 0, "feed": "as the given panel says"}
    else:
        found["feed"] = None
    if "inferred_from" in panel.about:
        found["inferred_from"] = panel.about["inferred_from"]
    if "exposure" in panel.about:
        found["exposure"] = panel.about["exposure"]
    if "notes" in panel.about:
        found["notes"] = panel.about["notes"].split("\n")
    if (why := why_no_plan(panel)) is not None:
        found["no_plan"] = why
    return found
