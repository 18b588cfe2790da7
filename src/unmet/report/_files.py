"""The files of a run folder, read with errors that say what to do."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from unmet.runs import Columns, read_columns

_SPREADSHEET_SIGNS = ("=", "+", "-", "@", "\t", "\r")
_MADE_BY = {
    "lost.parquet": "fit",
    "lost_total.json": "fit",
    "stations.parquet": "panel",
    "forecast.parquet": "forecast",
}


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
    return columns, about


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
