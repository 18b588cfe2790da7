"""Left and right censoring are mirror images: the θ quantile of −y is minus the 1 − θ quantile of y."""

from collections.abc import Sequence
from typing import Any


def mirror_levels(thetas: Sequence[float]) -> tuple[float, ...]:
    """Return the levels of −y for the given levels of y: 1 − θ in reverse order, so again increasing.

    Examples
    --------
    >>> mirror_levels((0.25, 0.5, 0.9))
    (0.1, 0.5, 0.75)
    """
    # Rounding makes 1 − 0.9 exactly 0.1, so mirroring twice gives the levels back.
    return tuple(round(1.0 - float(theta), 15) for theta in reversed(tuple(thetas)))


def mirror_quantiles(quantiles: Any) -> Any:
    """Return the quantiles of −y at the mirrored levels: −q in reverse order.

    Takes NumPy or JAX arrays of shape (..., K), levels last. Mirroring twice gives the input back.

    Examples
    --------
    >>> import numpy as np
    >>> mirror_quantiles(np.array([[1.0, 2.0, 5.0]])).tolist()
    [[-5.0, -2.0, -1.0]]
    """
    return -quantiles[..., ::-1]
