"""Columns that look like the censoring of y, where nobody said that it is censored."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.comparison._columns import as_numbers
from unmet.comparison._flags import read_flags
from unmet.comparison._names import words_of

Floats = NDArray[np.float64]
# How often a limit is reached at least, how seldom it is passed (misprints), and beyond what is chance.
_LEAST_REACHED, _LEAST_BOUNDED, _BEYOND_CHANCE = 0.05, 0.99, 1.5
# Share of the pairs of a flagged row and another in which the flagged one is smaller.
_LEAST_PAIRS = 0.9
# Flags of values below a detection limit, and the opposite; then flags of any kind.
_BELOW_NAMES = {"nondetect", "nondetects", "nondetected", "nd", "bdl", "bql", "blq", "lod"}
_ABOVE_NAMES = {"detect", "detected", "quantified"}
_FLAG_NAMES = {
    *("event", "events", "status", "death", "dead", "died"),
    *("cens", "censor", "censored", "censoring", "uncensored"),
    *_BELOW_NAMES,
}


def untold_censoring(
    columns: Mapping[str, NDArray[Any]], told: Mapping[str, NDArray[Any]], side: str
) -> list[str]:
    """Return notes on columns that look like limits or flags, if the target came without them.

    With flags alone, a column that equals y in all censored rows is such a limit. `columns` and `told` have
    the same rows.
    """
    if "y" not in told or "threshold" in told or side == "both":
        return []
    y, notes = told["y"], []
    for name, values in columns.items():
        numbers = as_numbers(values)
        if "censored" in told:
            if numbers is not None and _limits_flagged(numbers, y, told["censored"], side):
                notes.append(
                    f"{name} equals y in all censored rows: if it is the limit of every row, give "
                    f"threshold={name!r} too."
                )
        elif numbers is not None and (words := _limits(numbers, y)):
            notes.append(f"{name} equals y in {words.format(name=name)}")
        elif _is_flag_name(name) and (found := _flag_values(values)) is not None:
            first, flags = found
            seen, bound = (_left_words(y, flagged) for flagged in (flags == 0, flags == 1))
            notes.append(
                f"{name} may tell which rows are censored: {first}give event={name!r}{seen} if it is 1 where "
                f"y was seen, or censored={name!r}{bound} if it is 1 where y is only a bound."
            )
    return notes


def lies_below(y: Floats, flagged: NDArray[np.bool_]) -> bool:
    """Whether flagged rows have smaller values than the others: nearly all pairs of them do.

    >>> lies_below(np.array([1.0, 1.0, 2.0, 3.0]), np.array([True, True, False, False]))
    True
    """
    one, other = np.count_nonzero(flagged), np.count_nonzero(~flagged)
    if not one or not other:
        return False
    from scipy.stats import rankdata

    above = rankdata(y)[~flagged].sum() - other * (other + 1) / 2
    return bool(above >= _LEAST_PAIRS * one * other)


def _left_words(y: Floats, flagged: NDArray[np.bool_]) -> str:
    return " and side='left'" if lies_below(y, flagged) else ""


def _limits_flagged(numbers: Floats, y: Floats, censored: NDArray[Any], side: str) -> bool:
    flagged = censored.astype(bool)
    if flagged.mean() < _LEAST_REACHED or (numbers == y).all():
        return False
    passed = numbers < y if side == "right" else numbers > y
    return bool((numbers[flagged] == y[flagged]).all() and not np.isnan(numbers).any() and not passed.any())


def _limits(numbers: Floats, y: Floats) -> str:
    """Return how a column limits y, and what to do; nothing if it does not."""
    equal, known = numbers == y, ~np.isnan(numbers)
    share = float(equal.mean())
    if share < _LEAST_REACHED or equal.all() or set(np.unique(numbers[known])) <= {0.0, 1.0}:
        return ""
    if len(np.unique(numbers[known])) > 1 and share < _BEYOND_CHANCE * _chance(numbers, y):
        return ""
    for passed, where, what, give in (
        (numbers < y, "below", "cap", "threshold={name!r}"),
        (numbers > y, "above", "detection limit", "threshold={name!r} and side='left'"),
    ):
        if passed[known].mean() <= 1 - _LEAST_BOUNDED:
            never = "hardly ever" if passed.any() else "never"
            return f"{share:.0%} of the rows and is {never} {where} it: if it is the {what}, give {give}."
    return ""


def _chance(numbers: Floats, y: Floats) -> float:
    """Return the share of rows in which the two would be equal if they had nothing to do with each other."""
    values, counts = np.unique(y, return_counts=True)
    others, other_counts = np.unique(numbers, return_counts=True)
    _, one, other = np.intersect1d(values, others, return_indices=True)
    return float((counts[one] * other_counts[other]).sum() / len(y) ** 2)


def marks_nondetects(name: str, *, event: bool = False) -> bool:
    """Whether the name of a flag says that values below a detection limit have it; or lack it, as events.

    >>> marks_nondetects("non_detect"), marks_nondetects("censored"), marks_nondetects("detected", event=True)
    (True, False, True)
    """
    below = _says(name, _BELOW_NAMES)
    return not below and _says(name, _ABOVE_NAMES) if event else below


def _is_flag_name(name: str) -> bool:
    """Whether a name says event or censored, alone or as a word of it.

    >>> [_is_flag_name(name) for name in ("cens", "deathEvent", "non-detect", "centre")]
    [True, True, True, False]
    """
    return _says(name, _FLAG_NAMES)


def _says(name: str, some: set[str]) -> bool:
    """Whether one of some words is a word of a name, or all of it."""
    words = words_of(name)
    return bool(some & {*words, "".join(words)})


def _flag_values(values: NDArray[Any]) -> tuple[str, Floats] | None:
    """Return what to do first to give a column of two values as flags, and the flags; None if it has none."""
    numbers = as_numbers(values)
    if numbers is not None and set(np.unique(numbers[~np.isnan(numbers)])) == {1.0, 2.0}:
        return "write it as 0 and 1, then ", numbers - 1
    try:
        flags = read_flags(values, "")
    except (ValueError, TypeError):
        return None
    return ("", flags) if len(np.unique(flags[~np.isnan(flags)])) == 2 else None
