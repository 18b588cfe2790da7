"""Conformal intervals in a rolling window, for series that drift."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def rolling_intervals(
    y: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    exact: ArrayLike | None = None,
    coverage: float = 0.9,
    window: int = 60,
    least: int = 20,
    rate: float = 0.02,
) -> Floats:
    """Return conformal intervals from a rolling window: only rows before t correct row t.

    Each end moves by what the n exact rows among the latest `window` rows would have needed. The scores are
    lower − y and y − upper, positive outside. With S_lower and S_upper the ⌈(n + 1)(1 − a/2)⌉-th smallest of
    each, row t gets

        [lower − S_lower, upper + S_upper],        a = 1 − coverage at first,

    the conformalised quantile regression of Romano and others (2019) in a moving window. An end never moves
    beyond the middle of its interval. After each exact row, the target share of misses adapts as in the
    adaptive conformal inference of Gibbs and Candès (2021),

        a ← a + rate · (1 − coverage − [y was outside]),

    so the long-run share of misses among exact rows is 1 − coverage even if the series drifts. With rate 0,
    if the rows of the window and row t are exchangeable, the interval holds y with probability `coverage`
    or more.

    Parameters
    ----------
    y : observed values in order of time, shape (n,). Values of rows that are not exact are ignored.
    lower, upper : predicted ends of the interval, made without y of their own or later rows.
    exact : flags of rows that show the latent value; by default all. Coverage holds if rows are censored
        at random, and not if censoring depends on demand.
    window : number of rows to look back.
    least : if the window has fewer exact rows, use the latest `least` exact rows of the past.
    rate : how fast the level adapts; 0 for not at all.

    Returns
    -------
    array of shape (n, 2)
        Rows without an earlier exact row keep their interval. If n exact rows are too few for the level, the
        largest score is used, which guarantees only coverage (n − 1) / (n + 1).

    Examples
    --------
    >>> y = np.array([1.0, 3.0, 1.0, 3.0, 1.0])
    >>> low, high = np.full(5, 1.5), np.full(5, 2.5)
    >>> rolling_intervals(y, low, high, coverage=0.5)[-1].tolist()
    [1.0, 3.0]
    """
    values, low, high, known = _check(y, lower, upper, exact)
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must lie strictly between 0 and 1, not {coverage!r}")
    for name, number in (("window", window), ("least", least)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, not {number!r}")
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie between 0 and 1, not {rate!r}")
    below, above = low - values, values - high
    middle = (low + high) / 2
    rows = np.flatnonzero(known)
    result = np.stack([low, high], axis=1)
    miss = 1 - coverage
    for row in range(len(values)):
        end = int(np.searchsorted(rows, row))
        if end:
            begin = int(np.searchsorted(rows, row - window))
            used = rows[min(begin, max(0, end - least)) : end]
            result[row, 0] = min(low[row] - _ranked(below[used], 1 - miss / 2), middle[row])
            result[row, 1] = max(high[row] + _ranked(above[used], 1 - miss / 2), middle[row])
        if known[row] and end:
            outside = not result[row, 0] <= values[row] <= result[row, 1]
            miss = float(np.clip(miss + rate * (1 - coverage - outside), 0.0, 1.0))
    return result


def _ranked(scores: Floats, level: float) -> float:
    """Return the ⌈(n + 1) · level⌉-th smallest score, or the largest if there are fewer."""
    rank = min(max(ceil(round((len(scores) + 1) * level, 9)), 1), len(scores))
    return float(np.partition(scores, rank - 1)[rank - 1])


def _check(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, exact: ArrayLike | None
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    values, low, high = (np.asarray(part, float) for part in (y, lower, upper))
    if values.ndim != 1 or low.shape != values.shape or high.shape != values.shape:
        raise ValueError("y, lower and upper must be one-dimensional and equally long")
    known = np.ones(len(values), bool) if exact is None else np.asarray(exact)
    if known.shape != values.shape or known.dtype != bool:
        raise ValueError("exact must hold one boolean per row of y")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and np.isfinite(values[known]).all()):
        raise ValueError("lower, upper and the exact rows of y must be finite")
    return values, low, high, known
