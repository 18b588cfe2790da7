"""What is known of the target: values, thresholds, flags and bounds, and the rows that have them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.comparison._flags import read_flags
from unmet.comparison._names import no_column


def read_target(
    given: Mapping[str, Any], columns: Mapping[str, NDArray[Any]], side: str
) -> tuple[dict[str, NDArray[Any]], set[str]]:
    """Return what is known of the target, one entry per row, and the columns that hold it.

    Gaps are NaN, in flags too; a gap in `lower` or `upper` is an open end. `event`, the opposite of
    `censored`, is returned as `censored`.
    """
    if given.get("event") is not None and given.get("censored") is not None:
        raise ValueError("event= and censored= say the same: give one")
    rows = len(next(iter(columns.values())))
    used: set[str] = set()

    def one(name: str, value: Any) -> NDArray[Any]:
        if isinstance(value, str):
            if value not in columns:
                raise ValueError(f"{name}={value!r} {no_column(value, columns)}")
            used.add(value)
            value = columns[value]
        found = np.asarray(value)
        found = read_flags(found, name) if name in ("censored", "event") else _numbers(found, name)
        return np.full(rows, found) if found.ndim == 0 else found

    told = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "threshold" and side == "both" and isinstance(value, (tuple, list)) and len(value) == 2:
            told[name] = np.column_stack([one(name, part) for part in value])
        else:
            told[name] = one(name, value)
        if len(told[name]) != rows:
            raise ValueError(f"{name} must have one entry per row of X ({rows}), got {len(told[name])}")
    if "y" not in told and not {"lower", "upper"} <= set(told):
        raise ValueError("y must be given, or lower and upper")
    if "event" in told:
        told["censored"] = 1.0 - told.pop("event")
    for name, end in (("lower", -np.inf), ("upper", np.inf)):
        if name in told:
            told[name] = np.where(np.isnan(told[name]), end, told[name])
    return told, used


def _numbers(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    try:
        return np.asarray([np.nan if v is None else v for v in values.ravel()], float).reshape(values.shape)
    except (TypeError, ValueError):
        texts = [value for value in values.ravel().tolist() if isinstance(value, str)]
    limits = [text for text in texts if text.strip().startswith(("<", ">", "≤", "≥"))]
    if limits:
        raise ValueError(
            f"{name} must hold numbers: {limits[0]!r} is a limit. Split it into the number and a column "
            "that marks such rows, and give censored= that column; or give lower= and upper= instead of y"
        )
    shown = f", not {next(text for text in texts if not _is_number(text))!r}" if texts else ""
    raise ValueError(f"{name} must hold numbers{shown}: write them with a point, without units")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def choose_rows(
    told: Mapping[str, NDArray[Any]], rows: int, most: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_], list[str]]:
    """Return the rows to use, at most so many; which rows tell all that is asked of them; and notes."""
    notes = []
    known = np.ones(rows, bool)

    def leave_out(wrong: NDArray[np.bool_], why: str) -> None:
        nonlocal known
        if count := int((wrong & known).sum()):
            notes.append(f"Left out: {count:,} row{'s' if count > 1 else ''} {why}.")
            known = known & ~wrong

    if "y" in told:
        leave_out(np.isnan(told["y"]), "without y")
    else:
        leave_out(np.isinf(told["lower"]) & np.isinf(told["upper"]), "without bounds")
    if "censored" in told:
        leave_out(np.isnan(told["censored"]), "whose flag of censoring is empty")
    if "threshold" in told and "y" in told:
        gap = np.isnan(told["threshold"]).reshape(rows, -1).any(axis=1)
        _check_gaps(told, known, gap)
        leave_out(gap, "without a threshold; write inf (-inf with side left) where nothing was cut off")
    found = np.flatnonzero(known)
    if len(found) > most:
        notes.append(f"Used: {most:,} of {len(found):,} rows, drawn at random.")
        found = np.sort(np.random.default_rng([seed, 1]).permutation(found)[:most])
    return found, known, notes


def _check_gaps(told: Mapping[str, NDArray[Any]], known: NDArray[np.bool_], gap: NDArray[np.bool_]) -> None:
    """Refuse a threshold that is written only where it was reached: no exact row would be left."""
    kept = known & ~gap
    if told["threshold"].ndim > 1 or not (known & gap).any() or not kept.any():
        return
    if (told["y"][kept] == told["threshold"][kept]).all():
        raise ValueError(
            "threshold is empty in every row that did not reach it: write the threshold into all rows, "
            "or give censored= instead, a flag in each row"
        )
