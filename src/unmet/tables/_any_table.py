"""A table as people have it, a frame or a file, as NumPy columns."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from unmet.runs import naming_extras, open_regular
from unmet.tables._columns import Columns, plain, read_parquet
from unmet.tables._connection import scratch
from unmet.tables._spreadsheet import own_text
from unmet.tables._sql import identifier, literal, literal_path

Pairs = Mapping[str, str] | Sequence[str] | str
_ENDINGS = (".parquet", ".csv", ".csv.gz")
_LONGEST_LINE = 2**20


@dataclass(frozen=True)
class AnyTable:
    """Columns of a table: nulls are NaN in numbers, NaT in times and None in others.

    Attributes
    ----------
    columns : by name; times are naive.
    zones : time zone of the columns whose times had one; these are now UTC.
    source : what to call the table in an error.
    path : the file it was read from; None if it was in memory.
    separator, decimal : what separates columns and decimals in a CSV file.
    renamed : whether a column of a CSV file is called otherwise here, as where two have one name.
    """

    columns: Columns
    zones: dict[str, str]
    source: str
    path: Path | None = None
    separator: str = ","
    decimal: str = "."
    renamed: bool = False


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
        columns[str(name)], zone = _column(frame.get_column(name))
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
    return _objects([None if one != one else one for one in series.to_list()])


def _objects(values: list[Any]) -> tuple[np.ndarray, str | None]:
    """Return values of any kind; moments that know their zone become UTC."""
    zone = next((one.tzinfo for one in values if isinstance(one, datetime) and one.tzinfo is not None), None)
    if zone is None or not all(one is None or isinstance(one, datetime) for one in values):
        return np.array(values, object), None
    plain_times = [None if one is None else one.astimezone(UTC).replace(tzinfo=None) for one in values]
    return np.array(plain_times, "datetime64[us]"), str(zone)


def _read_file(path: Path, texts: Sequence[str]) -> AnyTable:
    if not path.name.lower().endswith(_ENDINGS):
        raise ValueError(f"{path} must be a CSV or Parquet file, ending in {', '.join(_ENDINGS)}")
    if path.name.lower().endswith(".parquet"):
        return AnyTable(read_parquet(path, "Parquet file")[0], {}, str(path), path)
    if not path.is_file():
        raise ValueError(f"{path} does not exist; check the path")
    with naming_extras():
        import duckdb

    separator, decimal = _signs(path)
    name = f"{literal_path(path)}, header = true, sample_size = -1, delim = {literal(separator)}"
    name += f", decimal_separator = {literal(decimal)}"
    with scratch(path) as con:
        try:
            found = {row[0]: row[1] for row in con.execute(f"DESCRIBE FROM read_csv({name})").fetchall()}
            kept = ", ".join(f"{literal(one)}: 'VARCHAR'" for one in found if own_text(one) in texts)
            read = f"read_csv({name}{f', types = {{{kept}}}' if kept else ''})"
            zoned = [one for one, kind in found.items() if kind == "TIMESTAMP WITH TIME ZONE"]
            picked = [f"{identifier(one)}::TIMESTAMP AS {identifier(one)}" for one in zoned]
            replaced = f" REPLACE ({', '.join(picked)})" if picked else ""
            columns = con.execute(f"SELECT *{replaced} FROM {read}").fetchnumpy()
        except duckdb.Error as error:
            why = _not_utf_8(path) or _odd_line(path, separator) or str(error).splitlines()[0]
            raise ValueError(f"{path} is not a regular CSV file: {why}") from None
    read_columns = {own_text(key): _texts(plain(values)) for key, values in columns.items()}
    zones = dict.fromkeys(zoned, "UTC")
    renamed = list(read_columns) != _header(path, separator)
    return AnyTable(read_columns, zones, str(path), path, separator, decimal, renamed)


def _header(path: Path, separator: str) -> list[str]:
    with _opened(path) as file:
        return next(csv.reader([file.readline(_LONGEST_LINE)], delimiter=separator), [])


def _signs(path: Path) -> tuple[str, str]:
    """Return what separates columns and decimals: left to itself, DuckDB may take all rows for one text."""
    with _opened(path) as file:
        header, row = file.readline(_LONGEST_LINE), file.readline(_LONGEST_LINE)
    separator = max((",", ";", "\t", "|"), key=header.count)
    comma = separator != "," and re.search(r"\d,\d", row) and not re.search(r"\d\.\d", row)
    return separator, "," if comma else "."


def _not_utf_8(path: Path) -> str:
    """Say that a file has another encoding than the one that is read, and what to do."""
    with _opened(path).detach() as file:  # type: ignore[attr-defined]
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            return "it is UTF-16; save it as CSV in UTF-8"
        file.seek(0)
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return f"line {number} is not UTF-8, perhaps Latin-1 or Windows-1252; save it as UTF-8"
    return ""


def _odd_line(path: Path, separator: str) -> str:
    """Say which line has more or fewer columns than the header, if quotes do not hide it."""
    with _opened(path) as file:
        wanted = file.readline(_LONGEST_LINE).count(separator)
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), ""), start=2):
            if '"' in line:
                break
            if line.strip() and line.count(separator) != wanted:
                return f"line {number} has {line.count(separator) + 1} columns, the header {wanted + 1}"
    return ""


def _opened(path: Path) -> TextIO:
    return io.TextIOWrapper(
        gzip.open(path) if path.suffix.lower() == ".gz" else open_regular(path),  # type: ignore[arg-type]
        "utf-8-sig",
        errors="replace",
    )


def _texts(values: np.ndarray) -> np.ndarray:
    """Return texts without the apostrophe that keeps spreadsheets from running them."""
    if values.dtype != object:
        return values
    return np.array([own_text(one) if isinstance(one, str) else one for one in values.tolist()], object)


def columns_of(given: Pairs | None, name: str = "columns") -> dict[str, str] | None:
    """Return ``field=column`` texts as a dict. Columns may have commas: only ``,field=`` starts a new one."""
    if not given:
        return None
    if isinstance(given, Mapping):
        return {str(key): str(value) for key, value in given.items()}
    found: dict[str, str] = {}
    for text in [given] if isinstance(given, str) else given:
        for part in re.split(r",(?=\s*\w+\s*=)", text):
            key, sign, value = (piece.strip() for piece in part.partition("="))
            if not sign or not key or not value:
                raise ValueError(f"{name}= takes field=column, got {part!r}")
            if key in found:
                raise ValueError(
                    f"{name}= names field {key!r} twice ({found[key]!r} and {value!r}); keep one"
                )
            found[key] = value
    return found
