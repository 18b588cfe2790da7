"""A table as people have it, a frame or a file, as NumPy columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmet.runs import naming_extras
from unmet.tables._columns import Columns, plain, read_parquet
from unmet.tables._connection import scratch
from unmet.tables._spreadsheet import own_text
from unmet.tables._sql import identifier, literal, literal_path

_ENDINGS = (".parquet", ".csv", ".csv.gz")


@dataclass(frozen=True)
class AnyTable:
    """Columns of a table: nulls are NaN in numbers, NaT in times and None in others.

    Attributes
    ----------
    columns : by name; times are naive.
    zones : time zone of the columns whose times had one; these are now UTC.
    source : what to call the table in an error.
    """

    columns: Columns
    zones: dict[str, str]
    source: str


def read_any(data: Any, *, texts: Sequence[str] = ()) -> AnyTable:
    """Read a frame (pandas, Polars, Arrow), a mapping of columns, or a CSV or Parquet file.

    Parameters
    ----------
    texts : columns of a CSV file to leave as they are written: an id 007 is not the number 7.
    """
    if isinstance(data, str | os.PathLike):
        return _read_file(Path(data), texts)
    if isinstance(data, Mapping):
        return AnyTable({str(name): np.asarray(values) for name, values in data.items()}, {}, "panel")
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise ValueError(
            "panel must be a frame of pandas, Polars or Arrow, a mapping of columns, or the path of a CSV or "
            f"Parquet file, not {type(data).__name__}"
        ) from None
    columns, zones = {}, {}
    for name in frame.columns:
        columns[str(name)], zone = _column(frame[name])
        if zone is not None:
            zones[str(name)] = zone
    return AnyTable(columns, zones, "panel")


def _column(series: Any) -> tuple[np.ndarray, str | None]:
    import narwhals as nw

    kind = series.dtype
    if kind == nw.Date:
        return series.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]"), None
    if kind == nw.Datetime:
        zone = kind.time_zone
        if zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.to_numpy().astype("datetime64[us]"), zone
    if kind == nw.Boolean or kind.is_numeric():
        if not series.is_null().any():
            return np.asarray(series.to_numpy()), None
        return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64), None
    return np.array([None if one != one else one for one in series.to_list()], object), None


def _read_file(path: Path, texts: Sequence[str]) -> AnyTable:
    if not path.name.lower().endswith(_ENDINGS):
        raise ValueError(f"{path} must be a CSV or Parquet file, ending in {', '.join(_ENDINGS)}")
    if path.name.lower().endswith(".parquet"):
        return AnyTable(read_parquet(path, "Parquet file")[0], {}, str(path))
    if not path.is_file():
        raise ValueError(f"{path} does not exist; check the path")
    with naming_extras():
        import duckdb

    name = f"{literal_path(path)}, header = true, sample_size = -1"
    with scratch(path) as con:
        try:
            found = {row[0]: row[1] for row in con.execute(f"DESCRIBE FROM read_csv({name})").fetchall()}
            kept = ", ".join(f"{literal(one)}: 'VARCHAR'" for one in found if one in texts)
            read = f"read_csv({name}{f', types = {{{kept}}}' if kept else ''})"
            zoned = [one for one, kind in found.items() if kind == "TIMESTAMP WITH TIME ZONE"]
            picked = [f"{identifier(one)}::TIMESTAMP AS {identifier(one)}" for one in zoned]
            replaced = f" REPLACE ({', '.join(picked)})" if picked else ""
            columns = con.execute(f"SELECT *{replaced} FROM {read}").fetchnumpy()
        except duckdb.Error as error:
            raise ValueError(f"{path} is not a CSV file: {str(error).splitlines()[0]}") from None
    read_columns = {own_text(key): _texts(plain(values)) for key, values in columns.items()}
    return AnyTable(read_columns, dict.fromkeys(zoned, "UTC"), str(path))


def _texts(values: np.ndarray) -> np.ndarray:
    """Return texts without the apostrophe that keeps spreadsheets from running them."""
    if values.dtype != object:
        return values
    return np.array([own_text(one) if isinstance(one, str) else one for one in values.tolist()], object)
