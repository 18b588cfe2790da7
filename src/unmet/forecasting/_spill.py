"""Spill: people who find a place empty and take a vehicle at a neighbour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
_NEIGHBOURS = 4
_METRES_PER_DEGREE = 111_195.0
_WALKS = (50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 700.0, 1000.0)
_NARROWER, _GOLDEN = 5, 0.618
# Gain in log-likelihood that spill must bring to be accepted.
_CLEAR_GAIN = 3.0


@dataclass(frozen=True)
class Neighbours:
    """The nearest places of each place and their distances, nearest first; shape (P, k)."""

    index: NDArray[np.int64]
    metres: Floats


@dataclass(frozen=True)
class Spill:
    """Chance of walking d metres to the nearest neighbour that has a vehicle: share · exp(−d / walk).

    `error` is the standard error of log share, given the walk.
    """

    share: float
    walk: float
    error: float = 0.0

    def chance(self, metres: Floats) -> Floats:
        return self.share * np.exp(-metres / self.walk)


NONE = Spill(0.0, 1.0)


def find_neighbours(latitude: ArrayLike, longitude: ArrayLike) -> Neighbours:
    """Return the four nearest places of each place. Places without coordinates are infinitely far."""
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
    own[~own.any(axis=1), -1] = True  # several places at one point: drop the last instead of the place itself
    index[where] = where[near[~own].reshape(-1, count)]
    metres[where] = distance[~own].reshape(-1, count)
    return Neighbours(index, metres)


def flows(spill: Spill, near: Neighbours, unserved: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Return expected pickups from empty neighbours, and unserved requests that a neighbour served; (P, T).

    The k-th neighbour serves this share of a place's unserved requests: the chance of walking there times
    the share of time in which it has a vehicle and no nearer neighbour has.
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
    """Estimate the walk by the likelihood of pickups next to empty places. No spill if none helps.

    Pickups of a row are negative binomial with mean λe plus what comes from neighbours. Fisher scoring finds
    the share for each walk; the walk is searched among `_WALKS` and then between them.
    """
    widest = flows(Spill(1.0, _WALKS[-1]), near, unserved, exposure)[0]
    use = (exposure > 0) & (mean > 0) & (widest > 1e-3)
    rows = _Rows(y[use], mean[use], np.broadcast_to(shape, mean.shape)[use], np.nonzero(use)[1])
    tried: dict[float, tuple[float, Spill]] = {}

    def value(log_walk: float) -> float:
        if log_walk not in tried:
            walk = float(np.exp(log_walk))
            came = flows(Spill(1.0, walk), near, unserved, exposure)[0][use]
            share = rows.best_share(came)
            tried[log_walk] = rows.fit(share * came), Spill(share, walk, rows.error(share * came))
        return tried[log_walk][0]

    grid = [float(np.log(walk)) for walk in _WALKS]
    best = int(np.argmax([value(one) for one in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for _ in range(_NARROWER):  # golden section between the neighbours of the best
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if value(left) > value(right) else (left, high)
    top, found = max(tried.values(), key=lambda one: one[0])
    # Noise alone makes a useless term look useful, so require a clear gain.
    return found if found.share > 0 and top > rows.fit(np.zeros_like(rows.own)) + _CLEAR_GAIN else NONE


@dataclass(frozen=True)
class _Rows:
    """Rows next to places that ran out: pickups, expected own pickups, shape, period."""

    seen: Floats
    own: Floats
    shape: Floats
    period: NDArray[np.int64]

    def fit(self, came: Floats) -> float:
        """Return the log-likelihood if `came` pickups are expected from neighbours."""
        total = self.own + came
        return float(
            (self.seen * np.log(total) - (self.seen + self.shape) * np.log(self.shape + total)).sum()
        )

    def scores(self, came: Floats, step: Floats) -> Floats:
        """Return the derivative of each row's log-likelihood as `came` grows along `step`."""
        total = self.own + came
        return step * (self.seen - total) / (total * (1 + total / self.shape))

    def information(self, came: Floats, step: Floats) -> float:
        total = self.own + came
        return float((step * step / (total * (1 + total / self.shape))).sum())

    def best_share(self, came: Floats) -> float:
        """Return the share of `came` with the highest likelihood, from 0 to 1."""
        share = 0.5
        for _ in range(8):
            step = self.scores(share * came, came).sum() / max(self.information(share * came, came), 1e-12)
            after = float(np.clip(share + step, 0.0, 1.0))
            if abs(after - share) < 1e-4:
                return after
            share = after
        return share

    def error(self, came: Floats) -> float:
        """Return the standard error of log `came`, with errors clustered by day."""
        information = self.information(came, came)
        days = np.bincount(self.period // 24, self.scores(came, came))
        return float(np.sqrt((days * days).sum()) / information) if information > 0 else 0.0
