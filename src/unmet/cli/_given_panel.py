"""A panel file that somebody gives: checked, copied into the folder of a run, its places listed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.cli._run_files import write_json
from unmet.mobility import connect, read_panel, read_stations
from unmet.runs import Steps, atomic_write
from unmet.tables import plain, read_columns, write_columns

if TYPE_CHECKING:
    from unmet.mobility import Panel

_NEEDED = ("unique_id", "ds", "y", "censored", "exposure")
_NUMBERS = (
    *("y", "exposure", "threshold", "supply", "returns", "deliveries", "removals"),
    *("stock_start", "stock_end", "capacity", "observed"),
)
_REMEDY = "build it with `unmet panel`"


def checked_panel(path: Path, *, more: Sequence[str] = ()) -> Panel:
    """A panel whose columns, `more` among them, are there and hold what they should."""
    if path.suffix.lower() == ".csv" and path.is_file():
        raise ValueError(
            f"{path}: a panel is fitted from Parquet; write it with `unmet panel … -o panel.parquet`"
        )
    panel = read_panel(path)
    missing = [name for name in (*_NEEDED, *more) if name not in panel.columns]
    if missing:
        raise ValueError(f"{path} has no column {', '.join(missing)}: {_REMEDY}, which writes all of them")
    for name, values in panel.columns.items():
        kind = values.dtype.kind
        if name == "ds" and kind != "M":
            raise _wrong(path, name, values, "times")
        if name in _NUMBERS and kind not in "biuf":
            raise _wrong(path, name, values, "numbers")
        if name == "censored" and kind not in "b" and not np.isin(values, (0, 1)).all():
            raise _wrong(path, name, values, "true or false")
    if not len(panel):
        raise ValueError(f"{path} has no rows: {_REMEDY} from files that hold rides")
    pickups = panel["y"].astype(float)
    wrong = (pickups < 0) | (pickups != np.floor(pickups))
    if wrong[np.isfinite(pickups)].any():
        shown = pickups[wrong & np.isfinite(pickups)][0]
        raise ValueError(
            f"{path}: column y must hold whole numbers of at least 0, but has {shown:g}; {_REMEDY}"
        )
    for name in set(_NUMBERS) & set(panel.columns):
        values = panel[name].astype(float)
        most = 1.0 if name in ("exposure", "observed") else np.inf
        strange = (values < 0) | (values > most) | (np.isinf(values) & (name != "threshold"))
        if strange.any():
            wanted = "shares from 0 to 1" if most == 1 else "numbers of at least 0"
            raise ValueError(
                f"{path}: column {name} must hold {wanted}, but has {values[strange][0]:g}; {_REMEDY}"
            )
    for name in ("unique_id", "ds"):
        values = panel[name]
        empty = np.isnat(values) if name == "ds" else np.array([one is None for one in values])
        if empty.any():
            raise ValueError(f"{path}: {empty.sum():,} rows have no {name}; take them out, or {_REMEDY}")
    return panel


def _wrong(path: Path, name: str, values: Any, wanted: str) -> ValueError:
    shown = repr(str(values[0])[:40]) if len(values) else "nothing"
    return ValueError(f"{path}: column {name} must hold {wanted}, but it begins with {shown}; {_REMEDY}")


def take_panel(steps: Steps, path: Path, panel: Panel, stations: Sequence[Path] | None) -> bool:
    """A panel file → panel.parquet, stations.parquet and panel.json of a run."""
    folder = steps.folder

    def make() -> None:
        places = panel_places(panel, stations)
        with open(path, "rb") as given, atomic_write(folder / "panel.parquet") as file:
            shutil.copyfileobj(given, file, 1 << 20)
        write_columns(folder / "stations.parquet", places, about={"kind": panel.about.get("kind", "station")})
        write_json(folder / "panel.json", {"panel": _account(panel)})

    return steps.run(
        "panel",
        make,
        inputs=[path, *(stations or ())],
        outputs=["panel.parquet", "stations.parquet", "panel.json"],
    )


def panel_places(panel: Panel, stations: Sequence[Path] | None) -> dict[str, np.ndarray]:
    """Name, coordinates and docks by place; without `stations` the name is the id, coordinates unknown."""
    places, index = np.unique(panel["unique_id"].astype(str), return_inverse=True)
    docks = np.full(len(places), -np.inf)
    if "capacity" in panel.columns:
        seen = panel["capacity"].astype(float)
        np.maximum.at(docks, index, np.where(np.isfinite(seen), seen, -np.inf))
    found: dict[str, np.ndarray] = {
        "unique_id": places.astype(object),
        "name": places.astype(object),
        "lat": np.full(len(places), np.nan),
        "lng": np.full(len(places), np.nan),
        "capacity": np.where(np.isfinite(docks), docks, np.nan),
    }
    if stations:
        table = _read_stations(stations)
        row_of = {str(place): row for row, place in enumerate(table["unique_id"])}
        known = [(at, row_of[place]) for at, place in enumerate(places) if place in row_of]
        if not known:
            raise ValueError(
                f"--stations knows none of the places of the panel, such as {str(places[0])!r}; "
                "give the stations that the panel was built with"
            )
        for at, row in known:
            for name in ("name", "lat", "lng", "capacity"):
                value = table[name][row]
                if value is not None and value == value:  # neither null nor NaN
                    found[name][at] = value
    return found


def _read_stations(paths: Sequence[Path]) -> dict[str, np.ndarray]:
    """Stations of an operator's files, or those that another run wrote."""
    if len(paths) == 1 and paths[0].suffix.lower() == ".parquet":
        columns, _ = read_columns(paths[0])
        if {"unique_id", "name", "lat", "lng", "capacity"} <= set(columns):
            return columns
    with connect(inputs=paths) as con:
        read_stations(con, list(paths))
        found = con.execute(
            "SELECT place AS unique_id, name, lat, lng, capacity::DOUBLE capacity FROM stations"
        )
        return {name: plain(values) for name, values in found.fetchnumpy().items()}


def _account(panel: Panel) -> dict[str, Any]:
    rows = len(panel)
    inferred = int(np.asarray(panel["inferred"], bool).sum()) if "inferred" in panel.columns else 0
    feed = "as the given panel says" if inferred < rows else None
    kind = panel.about.get("kind", "station")
    return {"rows": rows, "rows_inferred": inferred, "kind": kind, "feed": feed}
