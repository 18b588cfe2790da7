"""People who find a place empty and take a vehicle next door."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
_NEIGHBOURS = 4
_METRES_PER_DEGREE = 111_195.0
_WALKS = (50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 700.0, 1000.0)
_SHARES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Neighbours:
    """The nearest places of each place and how far they are, nearest first; shape (P, k)."""

    index: NDArray[np.int64]
    metres: Floats


@dataclass(frozen=True)
class Spill:
    """Chance of walking d metres to the nearest neighbour that has a vehicle: share · exp(−d / walk).

    `error` is the standard error of log share, the walk being given.
    """

    share: float
    walk: float
    error: float = 0.0

    def chance(self, metres: Floats) -> Floats:
        return self.share * np.exp(-metres / self.walk)


NONE = Spill(0.0, 1.0)


def find_neighbours(latitude: ArrayLike, longitude: ArrayLike) -> Neighbours:
    """The four nearest places of each; places without coordinates have none (infinitely far)."""
    from scipy.spatial import KDTree

    lat, lng = np.asarray(latitude, np.float64), np.asarray(longitude, np.float64)
    found = np.isfinite(lat) & np.isfinite(lng)
    where = np.flatnonzero(found)
    count = min(_NEIGHBOURS, len(where) - 1)
    index = np.zeros((len(lat), max(count, 0)), np.int64)
    metres = np.full(index.shape, np.inf)
    if count < 1:
        return Neighbours(index, metres)
    flat = np.cos(np.deg2rad(lat[where].mean()))
    points = np.column_stack([lat[where], lng[where] * flat]) * _METRES_PER_DEGREE
    distance, near = KDTree(points).query(points, k=count + 1)
    own = near == np.arange(len(where))[:, None]
    own[~own.any(axis=1), -1] = True  # several places at one point: drop the last instead of itself
    index[where] = where[near[~own].reshape(-1, count)]
    metres[where] = distance[~own].reshape(-1, count)
    return Neighbours(index, metres)


def flows(spill: Spill, near: Neighbours, unserved: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Expected pickups that came from an empty neighbour, and unserved requests that left from one; (P, T).

    Of the unserved requests of a place, the share that is served by its k-th neighbour is the chance of
    walking there times the share of time in which it has a vehicle and no nearer neighbour has.
    """
    came, went = np.zeros_like(unserved), np.zeros_like(unserved)
    if spill.share == 0:
        return came, went
    left, ones = np.ones_like(unserved), np.ones(len(unserved))
    for k in range(near.index.shape[1]):
        target = near.index[:, k]
        flow = unserved * left * exposure[target] * spill.chance(near.metres[:, k])[:, None]
        came += sparse.csr_array((ones, (target, np.arange(len(target)))), shape=(len(came),) * 2) @ flow
        went += flow
        left = left * np.where(np.isfinite(near.metres[:, k])[:, None], 1 - exposure[target], 1.0)
    return came, went


def estimate_spill(
    y: Floats, mean: Floats, shape: Floats, unserved: Floats, exposure: Floats, near: Neighbours
) -> Spill:
    """The walk with the highest likelihood of pickups next to empty places; no spill if none helps.

    Pickups of a row are negative binomial with mean λe + what comes from neighbours.
    """
    widest = flows(Spill(1.0, _WALKS[-1]), near, unserved, exposure)[0]
    use = (exposure > 0) & (mean > 0) & (widest > 1e-3)
    seen, own, form = y[use], mean[use], np.broadcast_to(shape, mean.shape)[use]

    def fit(came: Floats) -> float:
        total = own + came
        return float((seen * np.log(total) - (seen + form) * np.log(form + total)).sum())

    # A term that adds nothing must not be taken for what noise makes of it: ask for a clear gain.
    best, top = NONE, fit(np.zeros_like(own)) + 3.0
    walks, shares = np.array(_WALKS), np.array(_SHARES)
    for _ in range(3):
        for walk in walks:
            came = flows(Spill(1.0, float(walk)), near, unserved, exposure)[0][use]
            for share in shares:
                value = fit(share * came)
                if value > top:
                    total = own + share * came
                    information = ((share * came) ** 2 / (total * (1 + total / form))).sum()
                    best, top = Spill(float(share), float(walk), float(1 / np.sqrt(information))), value
        if best == NONE:
            break
        # Look closer around the best of the grid.
        width = 0.12 if len(walks) > 3 else 0.05
        walks = best.walk * np.exp(width * np.array([-1.0, 1.0]))
        shares = np.unique(
            np.minimum(best.share * np.exp(width * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])), 1.0)
        )
    return best
