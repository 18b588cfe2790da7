"""Columns of a table as numbers: texts become groups, gaps are filled, and all of it is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.tables import AnyTable, read_any

# More different texts than this are names, not groups.
MOST_GROUPS = 30
_VERBS = {
    "holds": "hold",
    "has": "have",
    "marks": "mark",
    "numbers": "number",
    "rises and falls": "rise and fall",
    "follows": "follow",
}


@dataclass(frozen=True)
class Encoded:
    """Numbers, what each column means, sentences about what was done, and the columns they are made from."""

    X: NDArray[np.float64]
    names: tuple[str, ...]
    notes: tuple[str, ...]
    made_from: tuple[str, ...]


def read_table(X: Any, texts: Sequence[str] = ()) -> AnyTable:
    """Return a frame, a mapping, a CSV or Parquet file, or an array as columns by name.

    `texts` are columns of a CSV file to leave as they are written.
    """

    if isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "toarray"):
        table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        if table.ndim != 2:
            raise ValueError(f"X must have two dimensions, one row per row of y, got shape {table.shape}")
        found = AnyTable({f"x{number}": table[:, number] for number in range(table.shape[1])}, {}, "X")
    else:
        found = X if isinstance(X, AnyTable) else read_any(X, texts=texts)
    sizes = {name: len(values) for name, values in found.columns.items()}
    if not sizes or len(set(sizes.values())) != 1:
        raise ValueError(f"X must have at least one column, and columns of equal length, got {sizes}")
    return found


def encode(columns: Mapping[str, NDArray[Any]], features: Sequence[str] | None) -> Encoded:
    """Return all columns as numbers.

    A text column becomes one column per group but the most frequent. A gap in a column of numbers takes its
    median, and a column of 0 and 1 marks it. Constant columns, times and texts of more than 30 groups are
    left out, which a note says; if `features` names one, that is an error.
    """
    found: dict[str, NDArray[np.float64]] = {}
    problems: dict[str, list[str]] = {}
    filled: list[str] = []
    missing: list[str] = []
    made_from: list[str] = []
    for name, values in columns.items():
        problem, parts, gaps = _encode_one(name, values)
        if problem is not None:
            if features is not None:
                raise ValueError(f"features: column {name!r} {problem}")
            problems.setdefault(problem, []).append(name)
            continue
        found.update(parts)
        made_from.append(name)
        if gaps:
            (missing if as_numbers(values) is None else filled).append(f"{name} ({gaps:,})")
    if not found:
        raise ValueError("features: no column is left to predict from; add columns of numbers or groups")
    notes = [left_out(names, problem) for problem, names in problems.items()]
    if filled:
        notes.append(f"Gaps filled with the median, and marked: {', '.join(filled)}.")
    if missing:
        notes.append(f"Gaps made a group of their own, missing: {', '.join(missing)}.")
    table = np.column_stack(list(found.values()))
    return Encoded(np.ascontiguousarray(table, np.float64), tuple(found), tuple(notes), tuple(made_from))


def left_out(names: Sequence[str], why: str) -> str:
    """Return the note on columns that are left out; `why` begins with the verb for one column.

    >>> left_out(["a", "b"], "holds times")
    'Left out: a, b: hold times.'
    """
    for one, many in _VERBS.items() if len(names) > 1 else ():
        if why.startswith(f"{one} "):
            why = many + why.removeprefix(one)
            break
    return f"Left out: {', '.join(names)}: {why}."


def _encode_one(name: str, values: NDArray[Any]) -> tuple[str | None, dict[str, NDArray[np.float64]], int]:
    """Return a problem or the columns of numbers that stand for one column, and how many gaps it had."""
    if values.dtype.kind in "mM":
        return "holds times: add columns such as weekday, month or hour instead", {}, 0
    numbers = as_numbers(values)
    if numbers is None:
        return _groups(name, values)
    if np.isinf(numbers).any():
        return "holds infinities: replace them", {}, 0
    gap = np.isnan(numbers)
    seen = numbers[~gap]
    if not seen.size or (not gap.any() and (seen == seen[0]).all()):
        return "holds one value only, or none", {}, 0
    parts = {name: np.where(gap, np.median(seen), numbers)}
    if gap.any():
        parts[f"{name} is missing"] = gap.astype(np.float64)
        if (seen == seen[0]).all():
            del parts[name]
    return None, parts, int(gap.sum())


def as_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column as numbers, gaps as NaN; None if it holds texts or times."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind != "O" or any(isinstance(value, str) for value in values):
        return None
    try:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    except (TypeError, ValueError):
        return None


def _groups(name: str, values: NDArray[Any]) -> tuple[str | None, dict[str, NDArray[np.float64]], int]:
    texts = np.array(["missing" if value is None or value != value else str(value) for value in values])
    groups, counts = np.unique(texts, return_counts=True)
    if len(groups) > MOST_GROUPS:
        return f"has more than {MOST_GROUPS} different texts: group them into fewer", {}, 0
    if len(groups) == 1:
        return "holds one value only, or none", {}, 0
    others = groups[np.arange(len(groups)) != np.argmax(counts)]
    gaps = sum(value is None or value != value for value in values)
    return None, {f"{name} = {group}": (texts == group).astype(np.float64) for group in others}, gaps
