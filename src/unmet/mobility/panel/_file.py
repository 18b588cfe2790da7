"""Write and read panel files, with the zone and the meaning of columns in their metadata."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.panel._columns import PANEL_COLUMNS
from unmet.mobility.panel._places import exists
from unmet.runs import atomic_write
from unmet.tables import literal, parquet_notes, private_folder, read_parquet, spreadsheet_columns

_MEANING = {column.name: column.meaning for column in PANEL_COLUMNS}


@dataclass(frozen=True)
class Panel:
    """Columns of a panel as NumPy arrays, and the metadata of its file (zone, by, kind, …)."""

    columns: dict[str, np.ndarray]
    about: dict[str, str]

    def __len__(self) -> int:
        return len(self.columns["ds"])

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def frame(self, library: str = "pandas") -> Any:
        """Return the columns as a data frame of ``"pandas"`` or ``"polars"``."""
        if library not in ("pandas", "polars"):
            raise ValueError(f"library must be 'pandas' or 'polars', got {library!r}")
        module: Any = __import__(library)
        return module.DataFrame(dict(self.columns))


def describe_panel(con: Connection, about: Mapping[str, str]) -> None:
    """Store the metadata that :func:`write_panel` writes into the file."""
    con.execute("CREATE OR REPLACE TABLE panel_about (key VARCHAR, value VARCHAR)")
    con.executemany("INSERT INTO panel_about VALUES (?, ?)", [list(pair) for pair in about.items()])


def write_panel(con: Connection, path: str | os.PathLike[str]) -> Path:
    """Write table ``panel`` to a Parquet or CSV file, by its extension, ordered by place and time.

    The file appears at `path` only when it is complete. The metadata of Parquet files has ``unmet.zone``,
    ``unmet.by`` and the meaning of each column. The same panel gives the same bytes.
    """
    target = Path(path)
    if not exists(con, "panel"):
        raise ValueError("there is no panel to write; call build_panel first")
    if target.suffix.lower() not in (".parquet", ".csv"):
        raise ValueError(f"path must end in .parquet or .csv, got {target.name!r}")
    if target.is_dir():
        raise ValueError(f"path must be a file, but {target} is a folder")
    if not target.parent.is_dir():
        raise ValueError(f"folder {target.parent} does not exist; create it first")
    about = dict(con.execute("SELECT key, value FROM panel_about").fetchall())
    kinds = {row[0]: row[1] for row in con.execute("DESCRIBE panel").fetchall()}
    selected = "*"
    with tempfile.TemporaryDirectory(prefix="unmet-", dir=private_folder(con)) as folder:
        staged = Path(folder) / "panel"
        if target.suffix.lower() == ".csv":
            options, selected = "FORMAT csv, HEADER true", spreadsheet_columns(kinds)
        else:
            notes = {f"unmet.{key}": value for key, value in about.items()}
            notes |= {f"unmet.column.{name}": _MEANING[name] for name in kinds if name in _MEANING}
            options = f"{parquet_notes(notes)}, COMPRESSION_LEVEL 1"
        order = "" if _in_order(con) else " ORDER BY unique_id, ds"
        con.execute(f"COPY (SELECT {selected} FROM panel{order}) TO {literal(str(staged))} ({options})")
        with open(staged, "rb") as source, atomic_write(target) as file:
            shutil.copyfileobj(source, file, 1 << 20)
    return target


def _in_order(con: Connection) -> bool:
    """Return whether rows are in order, as `build_panel` leaves them; checking is cheaper than sorting."""
    row = con.execute("""
        SELECT count(*)
        FROM (SELECT unique_id, ds, lag(unique_id) OVER () AS before, lag(ds) OVER () AS earlier FROM panel)
        WHERE before > unique_id OR (before = unique_id AND earlier > ds)""").fetchone()
    return row == (0,)


def read_panel(
    path: str | os.PathLike[str], *, only: Sequence[str] | None = None, without: Sequence[str] = ()
) -> Panel:
    """Read a Parquet file written by :func:`write_panel`: all columns, `only` some, or all `without` some."""
    path = Path(path)
    columns, about = read_parquet(path, "panel file", ("unique_id", "ds"), only, without)
    if "zone" not in about:
        raise ValueError(f"{path} is not a panel file: it has no time zone; write it with `unmet panel`")
    return Panel(columns, about)
