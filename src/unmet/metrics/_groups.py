"""One measure over all rows, uncensored rows and censored rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def by_censoring(
    metric: Callable[..., float], censored: ArrayLike, *arrays: Any, **options: Any
) -> dict[str, float]:
    """Apply a metric to all rows, to uncensored rows and to censored rows.

    Parameters
    ----------
    metric
        A measure that takes `rows`, such as `mae` or `coverage`. Those of right-censored rows do not.
    censored
        Boolean flags, one per row.
    arrays, options
        Arguments of the metric.

    Returns
    -------
    dict
        Keys "all", "uncensored" and "censored". NaN for a group without rows.

    Examples
    --------
    >>> from unmet.metrics import mae
    >>> by_censoring(mae, [False, True], [1.0, 2.0], [1.0, 4.0])
    {'all': 1.0, 'uncensored': 0.0, 'censored': 2.0}
    """
    flags = np.asarray(censored)
    if flags.dtype != np.bool_ or flags.ndim != 1:
        raise ValueError(f"censored must be a one-dimensional boolean array, got {flags.dtype} {flags.shape}")
    groups = {"all": np.ones_like(flags), "uncensored": ~flags, "censored": flags}
    return {
        name: metric(*arrays, rows=rows, **options) if rows.any() else float("nan")
        for name, rows in groups.items()
    }
