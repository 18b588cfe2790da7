"""Probability-integral values of counts: randomised, censored where demand was cut off."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def randomised_pit(below: ArrayLike, mass: ArrayLike, uniform: ArrayLike, censored: ArrayLike) -> Floats:
    """V = F(y−1) + U·f(y); on censored rows the bound F(y−1), since all that is known is demand ≥ y.

    If F is the distribution of demand and nothing is censored, V is uniform on (0, 1), also for small counts.

    Parameters
    ----------
    below, mass
        F(y−1) and f(y) of each row under the forecast.
    uniform
        One draw from (0, 1) for each row. 0 and 1 give the lower and upper ends of the step.
    censored
        Flags.

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
