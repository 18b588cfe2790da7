"""Columns that nobody has when they predict: they hold the answer, or number the rows."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.comparison._columns import as_numbers, left_out
from unmet.comparison._names import words_of

Floats = NDArray[np.float64]
# A value that all censored rows share by chance is shared by others too, or there are few such rows.
_LEAST_MARKED, _LEAST_SHARE = 10, 0.9
# Few values agree by chance; what is left of a column that is computed from others is rounding.
_LEAST_VALUES, _MOST_LEFT, _MOST_DECIMALS = 10, 0.02, 8
_ID_NAMES = {"id", "ids", "pid", "uid", "identifier"}


def leave_out_answers(
    columns: Mapping[str, NDArray[Any]],
    y: Floats | None,
    censored: NDArray[np.bool_],
    threshold: Floats | None = None,
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the columns that do not hold the answer, and a note on those that do.

    A column holds it if it marks the censored rows, by a value that all of them and hardly any others have;
    if it rises and falls with y in every row; or if it is, up to rounding, a linear function of y and the
    threshold, or of y / threshold: what is left in stock, or the share that was sold.
    """
    found: dict[str, list[str]] = {}
    for name, values in columns.items():
        numbers = as_numbers(values)
        why = None if numbers is None or y is None else _copies(numbers, y, threshold)
        if why is None and _marks(values if numbers is None else numbers, censored):
            why = "marks the censored rows"
        if why is not None:
            found.setdefault(why, []).append(name)
    told = {name for names in found.values() for name in names}
    notes = []
    for why, names in found.items():
        which = "it in features if it is" if len(names) == 1 else "them in features if they are"
        notes.append(f"{left_out(names, why)} Name {which} known beforehand.")
    return {name: values for name, values in columns.items() if name not in told}, notes


def leave_out_row_numbers(
    columns: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the columns that do not count the rows one by one, and a note; a single column is kept."""
    numbered = [name for name, values in columns.items() if _counts_rows(name, values)]
    if not numbered or len(numbered) == len(columns):
        return dict(columns), []
    kept = {name: values for name, values in columns.items() if name not in numbered}
    which = "it in features if it means" if len(numbered) == 1 else "them in features if they mean"
    return kept, [f"{left_out(numbered, 'numbers the rows')} Name {which} more."]


def _counts_rows(name: str, values: NDArray[Any]) -> bool:
    """Whether a column counts the rows; or is called id and has a whole number of its own in each row."""
    numbers = as_numbers(values) if values.dtype.kind != "b" else None
    if numbers is None or len(numbers) < 2 or not np.isfinite(numbers).all() or numbers[0] % 1:
        return False
    if _ID_NAMES & {*words_of(name)}:
        return bool(len(np.unique(numbers)) == len(numbers) and not (numbers % 1).any())
    steps = np.diff(numbers)
    return bool((steps == 1).all() or (steps == -1).all())


def _marks(values: NDArray[Any], censored: NDArray[np.bool_]) -> bool:
    """Whether one value stands in all censored rows and hardly any others; or the other way round."""
    if not 0 < censored.sum() < len(censored):
        return False
    kinds = _kinds(values)
    two = kinds.max() == 1
    for flagged in (censored, ~censored):
        value = kinds[flagged][0]
        has_it = kinds == value
        if two and (has_it == flagged).all():
            return True
        shared = has_it[flagged].all() and flagged.sum() >= _LEAST_SHARE * has_it.sum()
        if shared and flagged.sum() >= _LEAST_MARKED:
            return True
    return False


def _kinds(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each entry among the distinct ones; a gap is one of them."""
    if values.dtype.kind in "mM":
        values = values.astype(np.int64)
    elif values.dtype.kind not in "biuf":
        values = np.array(["" if value is None or value != value else str(value) for value in values])
    return np.unique(values, return_inverse=True)[1]


def _copies(values: Floats, y: Floats, threshold: Floats | None) -> str | None:
    """Return how a column tells y, if it does."""
    if not np.isnan(values).any() and _same_order(values, y):
        return "rises and falls with y"
    if not _computed(values, y, threshold):
        return None
    return "follows from y" if threshold is None else "follows from y and the threshold"


def _same_order(one: Floats, other: Floats) -> bool:
    """Whether two columns put all rows into the same order, or the opposite one, ties included."""
    first, second = (np.unique(values, return_inverse=True)[1] for values in (one, other))
    if first.max() < _LEAST_VALUES - 1:
        return False
    return bool((first == second).all() or (first.max() - first == second).all())


def _computed(values: Floats, y: Floats, threshold: Floats | None) -> bool:
    """Whether a column is a linear function of y and the threshold, or of their ratio, up to rounding."""
    known = np.isfinite(values)
    for with_y, without in _explanations(y, threshold):
        rows = known & np.isfinite(with_y).all(axis=1)
        # Most rows must take part: a function of a few is no copy.
        if rows.sum() < max(2 * _LEAST_VALUES, 0.5 * len(y)) or len(np.unique(values[rows])) < _LEAST_VALUES:
            continue
        told, rounding = values[rows], _rounding(values[rows])
        left = _residuals(told, with_y[rows])
        if np.abs(left).max() > rounding or left.std() > _MOST_LEFT * told.std():
            continue
        if _residuals(told, without[rows]).std() > _MOST_LEFT * told.std():
            return True  # the threshold alone, which may be known beforehand, does not explain it
    return False


def _explanations(y: Floats, threshold: Floats | None) -> Iterator[tuple[Floats, Floats]]:
    """Yield what a column may be computed from, with y and without it."""
    constant = np.ones((len(y), 1))
    yield np.column_stack([constant, y]), constant
    if threshold is None:
        return
    limits = threshold.reshape(len(y), -1)
    for each in (*limits.T, *((limits,) if limits.shape[1] > 1 else ())):
        bare = np.column_stack([constant, each])
        yield np.column_stack([bare, y]), bare
    with np.errstate(divide="ignore", invalid="ignore"):
        for limit in limits.T:
            share = y / np.where(np.isfinite(limit), limit, np.nan)
            yield np.column_stack([constant, share]), constant


def _residuals(values: Floats, basis: Floats) -> Floats:
    scaled = basis / np.maximum(np.abs(basis).max(axis=0), np.finfo(float).tiny)
    found: Floats = values - scaled @ np.linalg.lstsq(scaled, values, rcond=None)[0]
    return found


def _rounding(values: Floats) -> float:
    """Return how far a value may be from what it was before it was rounded."""
    size = np.abs(values).max()
    for decimals in range(_MOST_DECIMALS):
        if np.allclose(np.round(values, decimals), values, rtol=0, atol=1e-9 * size):
            return float(0.6 * 10.0**-decimals)
    return float(1e-6 * size)
