"""Tables in Parquet files: columns in, columns out, the same bytes for the same values."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.runs import atomic_write, naming_extras
from unmet.tables._connection import private_folder, scratch
from unmet.tables._sql import identifier, literal, literal_path, parquet_notes

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, np.ndarray]


def write_columns(
    path: str | os.PathLike[str], columns: Mapping[str, Any], *, about: Mapping[str, str] | None = None
) -> Path:
    """Write columns of equal length to a Parquet file, in the given order of rows; whole or not at all.

    Parameters
    ----------
    columns : name → values (numbers, booleans, text, datetime64). NaN stays NaN, None and NaT become null.
    about : notes kept in the file's metadata under ``unmet.…``.

    Examples
    --------
    >>> table = {"unique_id": ["a"], "q50": [1.5]}
    >>> write_columns("forecast.parquet", table, about={"zone": "UTC"})  # doctest: +SKIP
    """
    target = Path(path)
    arrays = {name: _array(values) for name, values in columns.items()}
    lengths = {name: len(values) for name, values in arrays.items()}
    if not arrays or len(set(lengths.values())) != 1:
        raise ValueError(f"columns must be at least one and of equal length, got {lengths}")
    notes = {f"unmet.{key}": text for key, text in (about or {}).items()}
    with scratch() as con:
        staged = private_folder(con) / "table"
        con.register("given", arrays)
        con.execute(f"COPY (FROM given) TO {literal(str(staged))} ({parquet_notes(notes)})")
        with open(staged, "rb") as source, atomic_write(target) as file:
            shutil.copyfileobj(source, file, 1 << 20)
    return target


def read_parquet(
    path: Path,
    what: str,
    order: Sequence[str] = (),
    only: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> tuple[Columns, dict[str, str]]:
    """Columns and notes of a Parquet file; nulls become NaN in numbers, NaT in times and None in others.

    Parameters
    ----------
    what : what the file should be, for the error where it is none.
    order : columns to order the rows by, the first one first.
    only, without : columns to read, those that the file has (None: all), and columns to leave out.
    """
    with naming_extras():
        import duckdb

    if not path.is_file():
        raise ValueError(f"{what} {path} does not exist")
    name = literal_path(path)
    with scratch(path) as con:
        try:
            notes = con.execute(
                f"SELECT decode(key), decode(value) FROM parquet_kv_metadata({name})"
            ).fetchall()
            columns = fetch_columns(con, f"read_parquet({name})", order, only, without)
        except (duckdb.Error, TypeError) as error:
            raise ValueError(f"{path} is not a {what}: {str(error).splitlines()[0]}") from None
    return columns, {key.removeprefix("unmet."): text for key, text in notes if key.startswith("unmet.")}


def parquet_about(path: Path) -> dict[str, str]:
    """Return the notes that this package left in a Parquet file; none in a file of others, or in no file."""
    with naming_extras():
        import duckdb

    with scratch(path) as con:
        try:
            notes = con.execute(
                f"SELECT decode(key), decode(value) FROM parquet_kv_metadata({literal_path(path)})"
            ).fetchall()
        except duckdb.Error:
            return {}
    return {key.removeprefix("unmet."): text for key, text in notes if key.startswith("unmet.")}


def fetch_columns(
    con: duckdb.DuckDBPyConnection,
    table: str,
    order: Sequence[str] = (),
    only: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> Columns:
    """Return the columns of a table or a table function, one after the other, so that memory holds one more.

    Equal texts are one object: a place has as many rows as there are periods.
    """
    kinds = {row[0]: row[1] for row in con.execute(f"DESCRIBE FROM {table}").fetchall()}
    wanted = set(kinds) if only is None else {*only, *order}
    kinds = {name: kind for name, kind in kinds.items() if name in wanted and name not in without}
    rank: list[np.ndarray] = []
    found: Columns = {}
    for name in sorted(kinds, key=lambda one: one not in order):
        column = identifier(name)
        if kinds[name] != "VARCHAR":
            found[name] = plain(con.execute(f"SELECT {column} AS one FROM {table}").fetchnumpy()["one"])
            codes = found[name]
            if name in order and codes.dtype == object:
                raise TypeError(f"its column {name} holds {kinds[name]}, which has no order")
        else:
            texts, codes = _texts(con, column, table)
            found[name] = texts[codes]
        if name in order:
            rank.append(codes)
    if rank and (moved := _reorder(rank)) is not None:
        found = {name: values[moved] for name, values in found.items()}
    return {name: found[name] for name in kinds}


def _texts(con: duckdb.DuckDBPyConnection, column: str, table: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct texts of a column in order, None at the end, and the number of each row's text."""
    rows = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY {column}"
    con.execute(f"CREATE OR REPLACE TYPE texts AS ENUM ({rows})")
    texts = [row[0] for row in con.execute(rows).fetchall()]
    code = f"coalesce(enum_code({column}::texts)::INTEGER, {len(texts)})"
    codes = con.execute(f"SELECT {code} AS one FROM {table}").fetchnumpy()["one"]
    return np.array([*texts, None], object), np.asarray(plain(codes))


def _reorder(rank: list[np.ndarray]) -> np.ndarray | None:
    """Return the order of rows by these columns, the first one first; None if they are in order."""
    ahead, same = np.zeros(max(len(rank[0]) - 1, 0), bool), np.ones(max(len(rank[0]) - 1, 0), bool)
    for values in rank:
        ahead |= same & (values[1:] > values[:-1])
        same &= values[1:] == values[:-1]
    return None if (ahead | same).all() else np.lexsort(rank[::-1])


def read_columns(
    path: str | os.PathLike[str], only: Sequence[str] | None = None
) -> tuple[Columns, dict[str, str]]:
    """Columns and notes of a Parquet file; nulls become NaN in numbers, NaT in times and None in others."""
    return read_parquet(Path(path), "Parquet file", only=only)


def plain(values: Any) -> np.ndarray:
    """An array without a mask: NaN in columns of numbers, NaT in times, None in others."""
    if isinstance(values, np.ma.MaskedArray):
        if not values.mask.any():
            return np.asarray(values.data)
        if values.dtype.kind in "iuf":
            return np.where(values.mask, np.nan, values.data.astype(float))
        if values.dtype.kind == "M":
            return np.where(values.mask, np.datetime64("NaT"), values.data)
        unmasked = values.data.astype(object)
        unmasked[values.mask] = None
        return unmasked
    return np.asarray(values)


def _array(values: Any) -> np.ndarray:
    """Text as objects, which is what DuckDB reads as text; times in microseconds."""
    found = np.asarray(values)
    if found.dtype.kind == "U":
        return found.astype(object)
    return found.astype("datetime64[us]") if found.dtype.kind == "M" else found
