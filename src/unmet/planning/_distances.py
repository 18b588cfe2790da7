"""Distances between places."""

import numpy as np
from numpy.typing import ArrayLike

from unmet.planning._arrays import Floats

_EARTH = 6371.0  # km


def distances_km(lat: ArrayLike, lng: ArrayLike) -> Floats:
    """Return distances in km between all pairs of places (P, P); NaN where a coordinate is unknown.

    Examples
    --------
    >>> distances_km([40.0, 41.0], [-74.0, -74.0]).round(1).tolist()
    [[0.0, 111.2], [111.2, 0.0]]
    """
    north, east = np.radians(np.asarray(lat, dtype=np.float64)), np.radians(np.asarray(lng, dtype=np.float64))
    if north.ndim != 1 or north.shape != east.shape:
        raise ValueError(f"lat and lng must be lists of the same length, got {north.shape} and {east.shape}")
    half = np.sin((north[:, None] - north) / 2) ** 2
    half += np.cos(north[:, None]) * np.cos(north) * np.sin((east[:, None] - east) / 2) ** 2
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1))))
