"""Write the files of a run folder: tables by their schema, CSV that no spreadsheet runs, strict JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unmet.results._schema import MAP, File
from unmet.runs import write_bytes
from unmet.tables import spreadsheet_text, write_columns


def write_file(folder: Path, file: File, content: Any, about: Mapping[str, str] | None = None) -> Path:
    """Write one file of a run folder, whole or not at all.

    Parameters
    ----------
    content : columns for a table, any value that JSON can hold for a JSON file.
    about : notes for the metadata of a Parquet file.
    """
    path = folder / file.name
    if path.suffix in (".json", ".geojson"):
        write_json(path, content)
        return path
    known = {column.name for column in file.columns}
    strange = [name for name in content if name not in known and not file.open]
    missing = [name for name in file.needed_columns if name not in content]
    if strange or missing:
        raise ValueError(f"columns of {file.name} must be those of the schema; see {strange or missing}")
    if path.suffix == ".csv":
        write_csv(path, content)
    else:
        write_columns(path, content, about=about)
    return path


def write_json(path: Path, value: Any) -> None:
    """Write JSON without NaN; the same values give the same bytes."""
    text = json.dumps(plain_json(value), ensure_ascii=False, indent=1, allow_nan=False)
    write_bytes(path, text.encode() + b"\n")


def plain_json(value: Any) -> Any:
    """Return NumPy values as Python's; what is not finite becomes null."""
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


def write_csv(path: Path, columns: Mapping[str, Any]) -> None:
    """Write a CSV file that a spreadsheet opens without running anything in it."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(value) for value in values] for values in columns.values())))
    write_bytes(path, file.getvalue().encode())


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return spreadsheet_text(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{float(value):.6g}"
    return value


def write_map(folder: Path, stations: Mapping[str, np.ndarray] | None, totals: Mapping[str, Any]) -> None:
    """Write places as GeoJSON points with what was seen, wanted and lost; without coordinates, no point."""
    features = []
    of_places = totals.get("places", {})
    if stations is not None:
        columns = (stations[name] for name in ("unique_id", "name", "lat", "lng"))
        for place, name, lat, lng in zip(*columns):
            if np.isfinite(lat) and np.isfinite(lng):
                features.append(
                    {
                        "type": "Feature",
                        "id": place,
                        "geometry": {
                            "type": "Point",
                            "coordinates": [round(float(lng), 6), round(float(lat), 6)],
                        },
                        "properties": {"name": name, **of_places.get(place, {})},
                    }
                )
    write_file(folder, MAP, {"type": "FeatureCollection", "features": features})
