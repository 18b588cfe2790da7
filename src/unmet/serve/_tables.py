"""Tables of a run folder in memory, with the rows of each place found at once."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmet.tables import Columns, read_columns


@dataclass(frozen=True)
class Table:
    """Columns ordered by place and time; `rows` says where each place begins and ends."""

    columns: Columns
    about: dict[str, str]
    rows: dict[str, slice]

    def of(self, place: str, start: np.datetime64 | None, end: np.datetime64 | None) -> Columns:
        """Rows of a place from `start` up to but without `end`."""
        own = self.rows[place]
        times = self.columns["ds"][own]
        first = own.start + (0 if start is None else int(np.searchsorted(times, start)))
        last = own.stop if end is None else own.start + int(np.searchsorted(times, end))
        return {name: values[first : max(first, last)] for name, values in self.columns.items()}


def read_table(path: Path, keep: tuple[str, ...]) -> Table | None:
    """A table of the folder, only the columns that are needed; None if the file is not there."""
    if not path.is_file():
        return None
    columns, about = read_columns(path)
    for name in ("unique_id", "ds"):
        if name not in columns:
            raise ValueError(f"{path} has no column {name}: it is not a table of a run")
    ids, times = columns["unique_id"], columns["ds"].astype("datetime64[us]")
    edges, within = _edges(ids)
    if (
        len(set(ids[edges].tolist())) != len(edges)
        or (np.diff(times)[within] < np.timedelta64(0, "us")).any()
    ):
        order = np.lexsort((times, ids.astype(str)))  # a panel that somebody gave may have any order
        columns = {name: values[order] for name, values in columns.items()}
        ids, times = ids[order], times[order]
        edges, within = _edges(ids)
    rows = {str(ids[a]): slice(int(a), int(b)) for a, b in zip(edges, [*edges[1:], len(ids)])}
    if len(rows) != len(edges) or (np.diff(times)[within] <= np.timedelta64(0, "us")).any():
        raise ValueError(f"{path} has two rows for one place and period: write it again with `unmet run`")
    kept = {name: columns[name] for name in keep if name in columns}
    return Table({"ds": times, **kept}, about, rows)


def _edges(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each stretch of one place begins, and which rows have their successor in the same stretch."""
    edges = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if len(ids) else np.zeros(0, int)
    within = np.ones(max(len(ids) - 1, 0), dtype=bool)
    within[edges[1:] - 1] = False
    return edges, within


def read_json(path: Path) -> Any:
    """A JSON file of the folder; None if it is not there."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        raise ValueError(f"{path} is not JSON: write it again with `unmet run`") from None


def read_csv(path: Path) -> dict[str, dict[str, str]]:
    """Rows of a CSV file by unique_id, as text; neutralised cells get their own text back."""
    if not path.is_file():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = [{key: _own_text(cell) for key, cell in row.items()} for row in csv.DictReader(file) if row]
    if any("unique_id" not in row for row in rows):
        raise ValueError(f"{path} has no column unique_id: write it again with `unmet plan`")
    return {row["unique_id"]: row for row in rows}


def _own_text(cell: str | None) -> str:
    if cell is None:
        return ""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in tuple("=+-@\t\r") and cell[1:2] else cell
