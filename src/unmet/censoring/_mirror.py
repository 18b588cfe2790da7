"""Left and right censoring are mirror images: the θ quantile of −y is minus the 1 − θ quantile of y."""

from collections.abc import Sequence
from typing import Any


def mirror_levels(thetas: Sequence[float]) -> tuple[float, ...]:
    """Levels of −y that belong to the given levels of y, again increasing: 1 − θ in reverse order.

    Examples
    --------
    >>> mirror_levels((0.25, 0.5, 0.9))
    (0.1, 0.5, 0.75)
    """
    # Rounding keeps 1 − 0.9 at 0.1, so that mirroring twice gives the levels back.
    return tuple(round(1.0 - float(theta), 15) for theta in reversed(tuple(thetas)))


def mirror_quantiles(quantiles: Any) -> Any:
    """Quantiles of −y at the mirrored levels, from those of y with the level axis last: −q in reverse order.

    Takes NumPy or JAX arrays of shape (..., K). Mirroring twice gives the input back.

    Examples
    --------
    >>> import numpy as np
    >>> mirror_quantiles(np.array([[1.0, 2.0, 5.0]])).tolist()
    [[-5.0, -2.0, -1.0]]
    """
    return -quantiles[..., ::-1]
