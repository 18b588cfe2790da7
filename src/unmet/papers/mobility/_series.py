"""Turn a daily series into rows to learn from: lags, calendar columns, consecutive thirds."""

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
    """Return three consecutive parts of equal length; the remainder goes to the last one."""
    if rows < 9:
        raise ValueError(f"{rows} rows are too few for three parts; give a longer series")
    part = rows // 3
    return Thirds(slice(0, part), slice(part, 2 * part), slice(2 * part, rows))


def lag_columns(y: Floats, lags: int = LAGS) -> Floats:
    """Return the `lags` values before each row from row `lags` on, oldest first; shape (n − lags, lags)."""
    windows = np.lib.stride_tricks.sliding_window_view(np.asarray(y, float), lags)
    return np.ascontiguousarray(windows[: len(y) - lags])


def calendar_columns(y: Floats, exact: Flags, days: NDArray[np.datetime64], holiday: Flags) -> Floats:
    """Return what is known before each day: whether it is free, and what such a day usually brings.

    Three columns, for rows from `LAGS` on: an indicator of weekends and holidays, and the usual demand of the
    day's weekday times the level of the latest 7 and of the latest 28 days. A level is the mean, over exact
    days, of demand as a share of what was usual then, so it does not depend on which weekdays happened to be
    exact. Censored days are left out, because they are only bounds. Holidays count as Sundays. There are few
    columns because as few as a tenth of the days may be exact.
    """
    y = np.asarray(y, float)
    weekday = (days.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    weekday = np.where(holiday, 6, weekday)
    usual = _usual(y, exact, weekday)
    share = y / np.maximum(usual, 1e-9)
    levels = np.ones((len(y), 2))
    for row in range(len(y)):
        known = np.flatnonzero(exact[:row])
        if not len(known):
            continue
        short, long = (known[known >= row - reach] for reach in (_SHORT, _LONG))
        far = share[long].mean() if len(long) else share[known[-_SHORT:]].mean()
        near = share[short].mean() if len(short) else far
        levels[row] = near, far
    return np.column_stack([weekday >= 5, levels * usual[:, None]])[LAGS:]


def _usual(y: Floats, exact: Flags, weekday: NDArray[np.int64]) -> Floats:
    """Return the mean of earlier exact days of the same weekday.

    It is shrunk towards the mean of working days or of free days, and that towards the mean of all days.
    """
    usual = np.empty(len(y))
    sums, counts = np.zeros(7), np.zeros(7)
    first = y[exact][0] if exact.any() else y.mean()
    for row in range(len(y)):
        number = int(weekday[row])
        alike = slice(5, 7) if number >= 5 else slice(0, 5)
        level = sums.sum() / counts.sum() if counts.any() else first
        level = (sums[alike].sum() + level) / (counts[alike].sum() + 1.0)
        usual[row] = (sums[number] + 2.0 * level) / (counts[number] + 2.0)
        if exact[row]:
            sums[number] += y[row]
            counts[number] += 1
    return usual
