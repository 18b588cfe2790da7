"""Which places are near which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
_NEIGHBOURS = 4
_REACH = 1000.0
_METRES_PER_DEGREE = 111_195.0


@dataclass(frozen=True)
class NearbyPlaces:
    """The nearest places of each place and their distances, nearest first; shape (P, k).

    `pairs` are the distances of all pairs of places within reach, as a sparse matrix (P, P).
    """

    index: NDArray[np.int64]
    metres: Floats
    pairs: sparse.csr_array | None = None


def find_nearby(latitude: ArrayLike, longitude: ArrayLike) -> NearbyPlaces:
    """Return the four nearest places of each place, and all within reach.

    Places without coordinates are infinitely far.
    """
    from scipy.spatial import KDTree

    lat, lng = np.asarray(latitude, np.float64), np.asarray(longitude, np.float64)
    found = np.isfinite(lat) & np.isfinite(lng)
    where = np.flatnonzero(found)
    count = min(_NEIGHBOURS, len(where) - 1)
    index = np.zeros((len(lat), max(count, 0)), np.int64)
    metres = np.full(index.shape, np.inf)
    if count < 1:
        return NearbyPlaces(index, metres)
    flat = np.cos(np.deg2rad(lat[where].mean()))
    points = np.column_stack([lat[where], lng[where] * flat]) * _METRES_PER_DEGREE
    tree = KDTree(points)
    distance, near = tree.query(points, k=count + 1)
    own = near == np.arange(len(where))[:, None]
    own[~own.any(axis=1), -1] = True  # several places at one point: drop the last instead of the place itself
    index[where] = where[near[~own].reshape(-1, count)]
    metres[where] = distance[~own].reshape(-1, count)
    both = tree.query_pairs(_REACH, output_type="ndarray")
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    far = np.linalg.norm(points[both[:, 0]] - points[both[:, 1]], axis=1)
    ends = (np.concatenate([both[:, 0], both[:, 1]]), np.concatenate([both[:, 1], both[:, 0]]))
    size = (len(lat), len(lat))
    pairs = sparse.csr_array((np.tile(far, 2), (where[ends[0]], where[ends[1]])), shape=size)
    return NearbyPlaces(index, metres, pairs)
