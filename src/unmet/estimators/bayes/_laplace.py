"""Probabilities of the standard asymmetric Laplace law beyond and between bounds, exact in its tails."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_beyond(z: Floats, theta: Floats) -> Floats:
    """Return log(1 − F(z)) of the standard asymmetric Laplace law."""
    return np.log1p(-theta * np.exp((1 - theta) * np.minimum(z, 0.0))) - theta * np.maximum(z, 0.0)


def slope_beyond(z: Floats, theta: Floats) -> Floats:
    """Return the slope of log(1 − F(z)) in z."""
    low = np.exp((1 - theta) * np.minimum(z, 0.0))
    return -theta * (1 - theta) * low / (1 - theta * low)


def between(low: Floats, high: Floats, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log(F(high) − F(low)) and its slopes in both.

    Bounds above zero are mirrored first: in the lower tail the function θ exp((1 − θ) z) keeps its digits.
    """
    flip = low > 0
    own = np.where(flip, 1 - theta, theta)
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    tail = high <= 0
    # In units of the value at the upper bound, if that lies in the tail.
    unit = np.where(tail, high, 0.0)
    at = own * np.exp((1 - own) * (low - unit))
    rest = (1 - own) * np.exp(-own * np.maximum(high, 0.0))
    # 1 − rest − at, or own − at in the tail, that keeps its digits where the bounds are close.
    share = -own * np.expm1((1 - own) * (low - unit)) - (1 - own) * np.expm1(-own * np.maximum(high, 0.0))
    value = np.log(share) + (1 - own) * unit
    first, second = -(1 - own) * at / share, np.where(tail, (1 - own) * own, own * rest) / share
    return value, np.where(flip, -second, first), np.where(flip, -first, second)
