"""A daily series as rows to learn from: lags, calendar columns, consecutive thirds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LAGS = 7
_SHORT, _LONG = 7, 28


@dataclass(frozen=True)
class Thirds:
    """Row numbers of the train, validation and test thirds, one after the other in time."""

    train: slice
    validation: slice
    test: slice


def thirds(rows: int) -> Thirds:
    """Three consecutive parts of equal length; what does not divide goes to the last one."""
    if rows < 9:
        raise ValueError(f"{rows} rows are too few for three parts; give a longer series")
    part = rows // 3
    return Thirds(slice(0, part), slice(part, 2 * part), slice(2 * part, rows))


def lag_columns(y: Floats, lags: int = LAGS) -> Floats:
    """The `lags` previous values of each row from row `lags` on, the oldest first; shape (n − lags, lags)."""
    windows = np.lib.stride_tricks.sliding_window_view(np.asarray(y, float), lags)
    return np.ascontiguousarray(windows[: len(y) - lags])


def calendar_columns(y: Floats, exact: Flags, days: NDArray[np.datetime64], holiday: Flags) -> Floats:
    """What is known before each day: its weekday, whether it is a holiday, and levels of recent exact days.

    Columns, for rows from `LAGS` on: six weekday indicators (Monday is none of them), the holiday indicator
    where there is any holiday, and three levels: the last exact day, and the means of exact days among the
    latest 7 and 28. Days are first divided by the usual level of their weekday so far, so that a level does
    not depend on which weekdays happened to be exact. Censored days are left out, for they are bounds only.
    """
    y = np.asarray(y, float)
    weekday = (days.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    levels = np.empty((len(y), 3))
    usual = _usual(y, exact, weekday)
    plain = y / np.maximum(usual, 1e-9)
    for row in range(len(y)):
        known = np.flatnonzero(exact[:row])
        if not len(known):
            levels[row] = 1.0
            continue
        short, long = (known[known >= row - reach] for reach in (_SHORT, _LONG))
        last = plain[known[-1]]
        far = plain[long].mean() if len(long) else plain[known[-_SHORT:]].mean()
        near = plain[short].mean() if len(short) else far
        levels[row] = last, near, far
    levels *= usual[:, None]
    indicators = [weekday == number for number in range(1, 7)]
    if holiday.any():
        indicators.append(holiday)
    return np.column_stack([*(column.astype(float) for column in indicators), levels])[LAGS:]


def _usual(y: Floats, exact: Flags, weekday: NDArray[np.int64]) -> Floats:
    """The mean of earlier exact days of the same weekday, drawn towards that of all earlier exact days."""
    usual = np.empty(len(y))
    sums, counts = np.zeros(7), np.zeros(7)
    first = y[exact][0] if exact.any() else y.mean()
    for row in range(len(y)):
        total = counts.sum()
        level = sums.sum() / total if total else first
        number = weekday[row]
        usual[row] = (sums[number] + 2.0 * level) / (counts[number] + 2.0)
        if exact[row]:
            sums[number] += y[row]
            counts[number] += 1
    return usual
