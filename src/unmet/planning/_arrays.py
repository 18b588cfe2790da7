"""Input checks of planning: finite, not negative, of matching shapes. Errors name the argument."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring import refuse_mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def amounts(array: ArrayLike, name: str, infinite: bool = False) -> Floats:
    """Return a float64 array of numbers of at least 0, without infinities unless they are allowed."""
    refuse_mask(array, name)
    try:
        found = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}") from None
    if np.isnan(found).any():
        raise ValueError(f"{name} has NaN: fill it or leave out the place")
    if (found < 0).any():
        raise ValueError(f"{name} must not be negative, got {found.min():g}")
    if not infinite and np.isinf(found).any():
        raise ValueError(f"{name} must be finite")
    return found


def counts(array: ArrayLike, name: str) -> Ints:
    """Return an int64 array of whole numbers of at least 0."""
    found = amounts(array, name)
    if (found != np.floor(found)).any():
        raise ValueError(f"{name} must be whole numbers of vehicles: round them first")
    return found.astype(np.int64)


def stretched(array: Floats, shape: tuple[int, ...], name: str) -> Floats:
    """Return the array broadcast to a shape, or raise a ValueError that names the shape."""
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"{name} must be one number or fit the shape {shape}, got {array.shape}") from None


def counts_for(array: ArrayLike, shape: tuple[int, ...], name: str) -> Ints:
    """Return whole numbers broadcast to a shape."""
    return stretched(counts(array, name).astype(np.float64), shape, name).astype(np.int64)


def curves_of(curves: ArrayLike) -> Floats:
    """Return expected lost rides (P, C + 1) by place and starting stock, or raise unless falling and convex.

    Allocation by marginal value is exact only for such curves.
    """
    found = amounts(curves, "curves")
    if found.ndim != 2 or found.shape[1] < 1:
        raise ValueError(f"curves must have the shape (places, starting stocks), got {found.shape}")
    value = -np.diff(found, axis=1)
    slack = 1e-9 * (1.0 + found.max(initial=0.0))
    if (value < -slack).any():
        raise ValueError("curves must not rise: another vehicle never loses a ride (see expected_lost)")
    if (np.diff(value, axis=1) > slack).any():
        raise ValueError("curves must be convex: each vehicle saves at most what the one before saved")
    return found


def docks_of(capacity: ArrayLike | None, places: int, states: int) -> Ints:
    """Return docks per place, at most the last stock of the curves, which is also the default."""
    if capacity is None:
        return np.full(places, states - 1, dtype=np.int64)
    docks = counts_for(capacity, (places,), "capacity")
    if (docks > states - 1).any():
        raise ValueError(f"capacity is up to {docks.max()}, but the curves end at a stock of {states - 1}")
    return docks
