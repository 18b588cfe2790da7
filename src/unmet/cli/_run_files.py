"""Files of a run folder that are not tables of columns: CSV for people, JSON, GeoJSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unmet.runs import write_bytes

# A spreadsheet takes a cell that begins with one of these for a formula.
_SIGNS = ("=", "+", "-", "@", "\t", "\r")


# What makes a file that a step needs, where that is not `unmet fit`.
_MADE_BY = {
    "panel.parquet": "`unmet run … -o {folder}` or `unmet fit PANEL -o {folder}`",
    "stations.parquet": "`unmet run … -o {folder}` or `unmet fit PANEL -o {folder}`",
}


def need(folder: Path, *names: str) -> list[Path]:
    """Paths of files that a step reads; one that is missing is told with what makes it."""
    for name in names:
        if not (folder / name).exists():
            made_by = _MADE_BY.get(name, "`unmet fit {folder}`").format(folder=folder)
            raise ValueError(f"{folder / name} is missing; make it with {made_by}")
    return [folder / name for name in names]


def read_json(path: Path) -> Any:
    """A JSON file of a run; if it is none, the error says which step writes it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        step = {"panel.json": "run", "curves.json": "plan"}.get(path.name, "fit")
        raise ValueError(f"{path} is damaged: it is not JSON; make it again with `unmet {step}`") from None


def plain_json(value: Any) -> Any:
    """NumPy values as Python's; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain_json(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def write_json(path: Path, value: Any) -> None:
    """JSON without NaN, the same bytes for the same values."""
    text = json.dumps(plain_json(value), ensure_ascii=False, indent=1, allow_nan=False)
    write_bytes(path, text.encode() + b"\n")


def write_csv(path: Path, columns: Mapping[str, Any]) -> None:
    """A CSV file that a spreadsheet opens without running anything in it."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(value) for value in values] for values in columns.values())))
    write_bytes(path, file.getvalue().encode())


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_SIGNS) else value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{float(value):.6g}"
    return value


def table_of(places: Any, plan: Any) -> dict[str, Any]:
    """Expected lost rides by starting stock, up to each place's docks."""
    docks = plan.table["capacity"].astype(int)
    return {
        "places": {
            str(place): [round(float(value), 6) for value in curve[: dock + 1]]
            for place, curve, dock in zip(places, plan.curves, docks)
        }
    }


def write_geojson(path: Path, stations: Mapping[str, np.ndarray] | None, total: Mapping[str, Any]) -> None:
    """Places as points, with what was seen, wanted and lost there; those without coordinates are left out."""
    features = []
    of_places = total.get("places", {})
    for index, place in enumerate([] if stations is None else stations["unique_id"]):
        lat, lng = float(stations["lat"][index]), float(stations["lng"][index])  # type: ignore[index]
        if np.isfinite(lat) and np.isfinite(lng):
            name = stations["name"][index]  # type: ignore[index]
            features.append(
                {
                    "type": "Feature",
                    "id": place,
                    "geometry": {"type": "Point", "coordinates": [round(lng, 6), round(lat, 6)]},
                    "properties": {"name": name, **of_places.get(place, {})},
                }
            )
    write_json(path, {"type": "FeatureCollection", "features": features})
