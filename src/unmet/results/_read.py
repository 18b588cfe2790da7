"""Read files of a run folder and refuse, in one line with the remedy, what does not fit the schema."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from unmet.results._schema import Column, File, Part, made_with
from unmet.tables import Columns, own_text, read_columns

_MOST_JSON_BYTES = _MOST_CSV_BYTES = 2**28
_MOST_COUNT, _MOST_AMOUNT = 10**6, 10**9  # of one place and period; more is a slip that no work survives
_LONGEST_TEXT = 1000
_WANTED = {
    "time": "times",
    "flag": "true or false",
    "count": "whole numbers of at least 0",
    "amount": "numbers of at least 0",
    "bound": "numbers of at least 0",
    "share": "shares from 0 to 1",
    "number": "numbers",
}
_PARTS = {
    "text": "text",
    "flag": "true or false",
    "number": "a number",
    "interval": "an interval (mean, q05, q95)",
    "object": "an object",
    "list": "a list",
    "numbers": "a list of numbers",
}


def need(folder: Path, *files: File) -> list[Path]:
    """Return the paths of files that a step reads; a missing one is named with the command that makes it."""
    for file in files:
        if not (folder / file.name).exists():
            raise ValueError(f"{folder / file.name} is missing; make it with {made_with(folder, file)}")
    return [folder / file.name for file in files]


def refuse(folder: Path, file: File, problem: str) -> NoReturn:
    """Raise the error of a file that is not what the run wrote."""
    raise ValueError(f"{folder / file.name} {problem}; make it again with {made_with(folder, file)}")


def read_table(folder: Path, file: File, only: Sequence[str] | None = None) -> tuple[Columns, dict[str, str]]:
    """Return the columns of a Parquet or CSV file, checked, and the notes in the file.

    Of a Parquet file `only` some columns may be read, and with them those that it must have are not missed.
    """
    (path,) = need(folder, file)
    if not path.is_file():
        refuse(folder, file, "is not a regular file")
    remedy = f"make it again with {made_with(folder, file)}"
    about: dict[str, str] = {}
    if path.suffix == ".csv":
        if path.stat().st_size > _MOST_CSV_BYTES:
            refuse(folder, file, "is too large for a file of a run")
        columns = _read_csv(path, file, remedy)
    else:
        try:
            columns, about = read_columns(path, only)
        except ValueError as error:
            raise ValueError(f"{error}; {remedy}") from None
    check_columns(path, file, columns, remedy, only=only)
    if not len(next(iter(columns.values()))) and path.suffix != ".csv":
        raise ValueError(f"{path} has no rows; {remedy}")
    return columns, about


def check_columns(
    path: Path | str,
    file: File,
    columns: Columns,
    remedy: str,
    also: tuple[str, ...] = (),
    only: Sequence[str] | None = None,
) -> None:
    """Refuse a table that lacks a column (or one of `also`), or whose columns hold something else."""
    needed = (*file.needed_columns, *also) if only is None else only
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ValueError(f"{path} has no column {', '.join(missing)}; {remedy}")
    for column in file.columns:
        if column.name in columns:
            _check_column(path, column, columns[column.name], remedy)


def _check_column(path: Path | str, column: Column, values: np.ndarray, remedy: str) -> None:
    name, kind = column.name, column.kind
    texts = set(values.tolist()) if kind == "text" or values.dtype.kind == "O" else set()
    if name in ("unique_id", "ds"):
        empty = int(np.isnat(values).sum()) if values.dtype.kind == "M" else 0
        if None in texts:
            empty = sum(one is None for one in values.tolist())
        if empty:
            raise ValueError(f"{path}: {empty:,} rows have no {name}; {remedy}")
    if kind == "text":
        longest = max((len(str(one)) for one in texts), default=0)
        if longest > _LONGEST_TEXT:
            raise ValueError(
                f"{path}: column {name} has a text of {longest:,} characters, more than {_LONGEST_TEXT:,}; "
                f"{remedy}"
            )
        return
    wanted = _WANTED[kind]
    if values.dtype.kind not in ("M" if kind == "time" else "biuf"):
        shown = repr(str(values[0])[:40]) if len(values) else "nothing"
        wanted = "numbers" if kind not in ("time", "flag") else wanted
        raise ValueError(f"{path}: column {name} must hold {wanted}, but it begins with {shown}; {remedy}")
    if kind in ("time", "number") or values.dtype.kind == "b":
        return
    numbers = values.astype(float)
    numbers = numbers[~np.isnan(numbers)]
    if kind == "flag":
        wrong = (numbers != 0) & (numbers != 1)
    else:
        wrong = (numbers < 0) | (np.isinf(numbers) & (kind != "bound"))
        if kind == "share":
            wrong |= numbers > 1
        elif kind == "count":
            wrong |= numbers != np.floor(numbers)
    most = _MOST_COUNT if kind == "count" else _MOST_AMOUNT
    large = np.isfinite(numbers) & (numbers > most)
    if large.any():
        raise ValueError(f"{path}: column {name} has {numbers[large][0]:g}, more than {most:,}; {remedy}")
    if wrong.any():
        raise ValueError(f"{path}: column {name} must hold {wanted}, but has {numbers[wrong][0]:g}; {remedy}")


def _read_csv(path: Path, file: File, remedy: str) -> Columns:
    kinds = {column.name: column.kind for column in file.columns}
    try:
        with open(path, encoding="utf-8-sig", newline="") as text:
            lines = csv.reader(text, strict=True)
            header = next(lines, [])
            rows = [(lines.line_num, row) for row in lines if row]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a CSV file ({error}); {remedy}") from None
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(f"{path}, line {line}: {len(row)} cells under {len(header)} columns; {remedy}")
    found: Columns = {}
    for index, name in enumerate(header):
        cells = [(line, row[index]) for line, row in rows]
        found[name] = _column_of(path, name, kinds.get(name, "text"), cells, remedy)
    return found


def _column_of(path: Path, name: str, kind: str, cells: list[tuple[int, str]], remedy: str) -> np.ndarray:
    """Cells of one column as numbers (NaN where empty), flags or text."""
    if kind == "text":
        return np.array([own_text(cell) for _, cell in cells], dtype=object)
    if kind == "flag":
        return np.array([cell.strip().lower() in ("true", "1", "yes") for _, cell in cells], dtype=bool)
    values = np.full(len(cells), np.nan)
    for row, (line, cell) in enumerate(cells):
        if cell.strip():
            try:
                values[row] = float(cell)
            except ValueError:
                raise ValueError(
                    f"{path}, line {line}: {name} is not a number: {cell[:40]!r}; {remedy}"
                ) from None
    whole = kind == "count" and np.isfinite(values).all() and (values == np.floor(values)).all()
    return values.astype(np.int64) if whole and (np.abs(values) < 2**53).all() else values


def read_object(folder: Path, file: File) -> Any:
    """Return the content of a JSON file, checked; None where an optional file is absent."""
    path = folder / file.name
    if not path.exists():
        if file.required:
            need(folder, file)
        return None
    if not path.is_file():
        refuse(folder, file, "is not a regular file")
    if path.stat().st_size > _MOST_JSON_BYTES:
        refuse(folder, file, "is too large for a file of a run")
    try:
        found = json.loads(path.read_bytes(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        refuse(folder, file, "is not valid JSON")
    if file.listed:
        if not isinstance(found, list):
            refuse(folder, file, "is not a list")
        for number, entry in enumerate(found, start=1):
            _check_parts(folder, file, entry, file.parts, f"entry {number} of it ")
    else:
        _check_parts(folder, file, found, file.parts, "")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_parts(folder: Path, file: File, found: Any, parts: tuple[Part, ...], where: str) -> None:
    if not isinstance(found, dict):
        refuse(folder, file, f"is damaged: {where or 'it '}is not an object")
    for part in parts:
        value: Any = found.get(part.name)
        if value is None and part.optional:
            continue
        if part.name not in found:
            refuse(folder, file, f"is damaged: {where or 'it '}has no {part.name}")
        if not _is(part, value):
            of = f"of {where}" if where else ""
            refuse(folder, file, f"is damaged: {part.name} {of}is not {_PARTS[part.kind]}")
        if part.each:
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value, start=1):
                _check_entry(folder, file, part, str(key)[:60], entry)


def _check_entry(folder: Path, file: File, part: Part, key: str, entry: Any) -> None:
    if part.each[0].name:
        _check_parts(folder, file, entry, part.each, f"{part.name} {key!r} ")
    elif not _is(part.each[0], entry):
        refuse(folder, file, f"is damaged: {part.name} {key!r} is not {_PARTS[part.each[0].kind]}")


def _is(part: Part, value: Any) -> bool:
    """Whether a JSON value is of the kind of its part; a number may be null where nothing is known."""
    if part.kind in ("text", "flag"):
        return isinstance(value, str if part.kind == "text" else bool)
    if part.kind == "number":
        return _is_number(value)
    if part.kind == "interval":
        return isinstance(value, dict) and all(
            value.get(end) is None or _is_number(value[end]) for end in ("mean", "q05", "q95")
        )
    if part.kind == "numbers":
        return isinstance(value, list) and bool(value) and all(map(_is_number, value))
    return isinstance(value, dict if part.kind == "object" else list)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
