"""Measures of prediction intervals: coverage and length."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.metrics._arrays import choose, numbers, same_shape


def icp(
    y: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    randomised: bool = False,
    *,
    rng: np.random.Generator | None = None,
    rows: Any = None,
) -> float:
    """Return the interval coverage: the share of rows with lower ≤ y ≤ upper.

    Intervals of counts cannot have exactly nominal coverage. An interval includes a whole count or misses it,
    so even the true quantiles of small counts cover too much. Models of counts are therefore fitted to
    y + U, U uniform on (0, 1), and their quantiles are those of y + U. `randomised=True` measures the
    coverage of y + U, which is nominal for the true quantiles of y + U:

        mean over rows of P(lower ≤ y + U ≤ upper) = mean of |[y, y + 1] ∩ [lower, upper]|.

    This averages over all draws of U, so it needs no random numbers and is less noisy than one draw. Pass
    `rng` to draw one U per row instead.

    Parameters
    ----------
    y
        Values to cover, shape (n,); use latent values if you know them. Whole numbers if randomised.
    lower, upper
        Ends of the intervals, shape (n,); may be infinite. If randomised, on the scale of y + U.
    randomised
        Measure the coverage of y + U.
    rng
        Draw U from this generator. Only with `randomised=True`.
    rows
        Boolean mask of the rows to measure; all by default.

    Examples
    --------
    >>> icp([0, 1, 2], [0.5, 0.5, 0.5], [2.5, 2.5, 2.5])
    0.6666666666666666
    >>> icp([0, 1, 2], [0.5, 0.5, 0.5], [2.5, 2.5, 2.5], randomised=True)
    0.6666666666666666
    """
    values = numbers(y, "y")
    low, high = numbers(lower, "lower", infinite=True), numbers(upper, "upper", infinite=True)
    same_shape(y=values, lower=low, upper=high)
    values, low, high = choose(rows, values, low, high)
    if not randomised:
        if rng is not None:
            raise ValueError("rng is only for randomised=True: leave it out")
        return float(((low <= values) & (values <= high)).mean())
    if (values != np.floor(values)).any():
        raise ValueError("y must hold whole numbers when randomised=True: only counts are jittered")
    if rng is not None:
        jittered = values + rng.uniform(size=values.shape)
        return float(((low <= jittered) & (jittered <= high)).mean())
    return float(np.maximum(0.0, np.minimum(high, values + 1) - np.maximum(low, values)).mean())


def mil(lower: ArrayLike, upper: ArrayLike, *, rows: Any = None) -> float:
    """Return the mean interval length, the mean of |upper − lower|.

    Examples
    --------
    >>> mil([0.0, 1.0], [1.0, 4.0])
    2.0
    """
    low, high = numbers(lower, "lower"), numbers(upper, "upper")
    same_shape(lower=low, upper=high)
    low, high = choose(rows, low, high)
    return float(np.abs(high - low).mean())
