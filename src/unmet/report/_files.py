"""The files of a run folder, read with errors that say what to do."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from unmet.tables import Columns, read_columns

_SPREADSHEET_SIGNS = ("=", "+", "-", "@", "\t", "\r")
_MADE_BY = {
    "lost.parquet": "fit",
    "lost_total.json": "fit",
    "stations.parquet": "run",
    "backtest.parquet": "fit",
    "calibration.json": "fit",
    "measures.json": "fit",
    "panel.json": "run",
    "forecast.parquet": "forecast",
    **dict.fromkeys(("plan.csv", "moves.csv", "fleet.csv", "curves.json"), "plan"),
}
_TEXTS = ("unique_id", "name")


def need_table(path: Path, names: tuple[str, ...]) -> tuple[Columns, dict[str, str]]:
    """A table that the report cannot do without, with at least these columns and one row."""
    if not path.is_file():
        step = _MADE_BY.get(path.name, "run")
        raise ValueError(f"{path} is missing; make it with `unmet {step}`")
    columns, about = read_columns(path)
    absent = [name for name in names if name not in columns]
    if absent:
        raise ValueError(
            f"{path} lacks the columns {', '.join(absent)}; it is not from this version, run again"
        )
    if not len(columns[names[0]]):
        raise ValueError(f"{path} has no rows; nothing to report")
    for name in names:
        _check_kind(path, name, columns[name])
    return columns, about


def _check_kind(path: Path, name: str, values: np.ndarray) -> None:
    """Moments in ``ds``, texts in ids and names, numbers or yes and no in all other columns."""
    if name in _TEXTS:
        return
    wanted, kinds = ("moments", "M") if name == "ds" else ("numbers", "biuf")
    if values.dtype.kind not in kinds:
        held = "text" if values.dtype.kind in "OSU" else str(values.dtype)
        raise ValueError(f"{path}: column {name} holds {held} where {wanted} should be; {made_again(path)}")


def made_again(path: Path) -> str:
    """The remedy for a file that is not what it should be."""
    step = _MADE_BY.get(path.name)
    return f"make it again with `unmet {step}`" if step else "run again"


def maybe_table(path: Path, names: tuple[str, ...]) -> Columns | None:
    """A table that a run may lack."""
    return need_table(path, names)[0] if path.is_file() else None


def read_json(path: Path, needed: bool = False) -> Any:
    """A JSON file, or None if the run has none."""
    if not path.is_file():
        if needed:
            raise ValueError(f"{path} is missing; make it with `unmet {_MADE_BY.get(path.name, 'run')}`")
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({str(error)[:80]}); run the step again") from None


def read_object(path: Path, *parts: str, needed: bool = False) -> dict[str, Any]:
    """A JSON object with at least these parts; an absent file, or null in it, is an empty one."""
    found = read_json(path, needed)
    if found is None and not needed:
        return {}
    absent = [part for part in parts if not isinstance(found, dict) or part not in found]
    if absent or not isinstance(found, dict):
        raise ValueError(f"{path} lacks {', '.join(absent) or 'its parts'}; {made_again(path)}")
    return found


def read_rows(path: Path, numbers: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Rows of a CSV file; the named columns as numbers (None where empty), ``identified`` as a boolean."""
    if not path.is_file():
        return ()
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        absent = [name for name in numbers if name not in (reader.fieldnames or ())]
        if absent:
            raise ValueError(f"{path} lacks the columns {', '.join(absent)}; make it with `unmet plan`")
        return tuple(
            {
                name: _cell(path, reader.line_num, name, text, name in numbers)
                for name, text in row.items()
                if name
            }
            for row in reader
        )


def _cell(path: Path, line: int, name: str, text: str | None, is_number: bool) -> Any:
    if is_number:
        if text is None or text.strip() == "":
            return None
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"{path}, line {line}: {name} is not a number: {text[:40]!r}") from None
    text = text or ""
    if name == "identified":
        return text.strip().lower() in ("true", "1", "yes")
    # The apostrophe keeps spreadsheets from reading a formula; it is no part of the text.
    return text[1:] if text[:1] == "'" and text[1:2] in _SPREADSHEET_SIGNS else text
