"""Randomised probability-integral values of counts, with bounds for censored rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def randomised_pit(below: ArrayLike, mass: ArrayLike, uniform: ArrayLike, censored: ArrayLike) -> Floats:
    """Return V = F(y−1) + U·f(y), or in censored rows the bound F(y−1), because only demand ≥ y is known.

    If F is the distribution of demand and no row is censored, V is uniform on (0, 1), even for small counts.

    Parameters
    ----------
    below, mass
        F(y−1) and f(y) of each row under the forecast.
    uniform
        One draw from (0, 1) per row. 0 and 1 give the lower and upper ends of the step.
    censored
        Flags, one per row.

    Examples
    --------
    >>> randomised_pit([0.5, 0.5], [0.2, 0.2], [0.5, 0.5], [False, True]).tolist()
    [0.6, 0.5]
    """
    low, step, u = (np.asarray(values, np.float64) for values in (below, mass, uniform))
    flags = np.asarray(censored)
    if flags.dtype != bool:
        raise ValueError(f"censored must be boolean, not {flags.dtype}")
    if not low.shape == step.shape == flags.shape or u.shape not in ((), low.shape):
        raise ValueError(
            "below, mass, uniform and censored must have one entry per row, "
            f"got {low.shape}, {step.shape}, {u.shape} and {flags.shape}"
        )
    return np.where(flags, low, low + u * step)
