"""Intervals corrected day by day by how the latest days fared, for series that drift."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray


def rolling_intervals(
    y: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    exact: ArrayLike | None = None,
    coverage: float = 0.9,
    window: int = 60,
    least: int = 20,
) -> NDArray[np.float64]:
    """Conformal intervals from a rolling window: row t is corrected by rows before t only.

    The score of a row is how far y lies outside its interval, negative inside:

        s = max(lower − y, y − upper)

    Row t gets [lower − S, upper + S], S being the ⌈(n + 1) · coverage⌉-th smallest score among the n exact
    rows of the latest `window` rows (conformalised quantile regression, Romano and others 2019, in a
    moving window). If the rows of the window and of row t are exchangeable, the interval holds y with
    probability `coverage` or more, whatever the model.

    Parameters
    ----------
    y : observed values, in order of time, shape (n,). The values of rows that are not exact are not used.
    lower, upper : predicted ends of the interval; they must not have seen y of their own row or later ones.
    exact : which rows show the latent value; None: all. Leaving out rows that are censored *at random* keeps
        the promise; where censoring depends on demand it does not.
    window : how many rows back.
    least : with fewer exact rows in the window, the latest `least` exact rows of the past are used.

    Returns
    -------
    array of shape (n, 2)
        Rows without any exact row before them keep their interval. With n exact rows, (n + 1) · coverage > n,
        the largest score is used, and coverage n / (n + 1) is all that can be promised.

    Examples
    --------
    >>> y = np.array([1.0, 3.0, 1.0, 3.0, 1.0])
    >>> low, high = np.full(5, 1.5), np.full(5, 2.5)
    >>> rolling_intervals(y, low, high, coverage=0.5)[-1].tolist()
    [1.0, 3.0]
    """
    values, low, high = (np.asarray(part, float) for part in (y, lower, upper))
    if values.ndim != 1 or low.shape != values.shape or high.shape != values.shape:
        raise ValueError("y, lower and upper must be one-dimensional and equally long")
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must lie strictly between 0 and 1, not {coverage!r}")
    for name, number in (("window", window), ("least", least)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, not {number!r}")
    known = np.ones(len(values), bool) if exact is None else np.asarray(exact)
    if known.shape != values.shape or known.dtype != bool:
        raise ValueError("exact must hold one boolean per row of y")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and np.isfinite(values[known]).all()):
        raise ValueError("lower, upper and the exact rows of y must be finite")
    score = np.maximum(low - values, values - high)
    rows = np.flatnonzero(known)
    result = np.stack([low, high], axis=1)
    for row in range(len(values)):
        end = int(np.searchsorted(rows, row))
        if end == 0:
            continue
        begin = int(np.searchsorted(rows, row - window))
        used = score[rows[min(begin, max(0, end - least)) : end]]
        rank = min(ceil(round((len(used) + 1) * coverage, 9)), len(used))
        widen = np.partition(used, rank - 1)[rank - 1]
        middle = (low[row] + high[row]) / 2  # never beyond it, or the ends would change places
        result[row] = min(low[row] - widen, middle), max(high[row] + widen, middle)
    return result
