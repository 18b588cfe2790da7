"""The daily level of the whole city: what all places share and the rate does not explain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._shocks import Counts, Shocks, best_shocks, follow

Floats = NDArray[np.float64]
# Gain in log-likelihood that persistence must bring to be accepted.
_CLEAR_GAIN = 2.0
STEADY = Shocks(1e-6, 0.0)


@dataclass(frozen=True)
class CityDays:
    """The level of each period's day, (T,): mean and variance forecast at its origin, and mean afterwards.

    `last` holds mean and variance after the last day.
    """

    mean: Floats
    variance: Floats
    after: Floats
    last: tuple[float, float]


def day_of(periods: int, origin: int, per_day: int) -> NDArray[np.int64]:
    """Return the day number of each period. Days start at `origin` and whole days before and after it."""
    first = origin % per_day
    return (np.arange(periods) - first) // per_day + (1 if first else 0)


def follow_city(city: Shocks, own: Floats, expected: Floats, day: NDArray[np.int64]) -> CityDays:
    """Filter the daily ratio of all pickups to all expected pickups, as for the shocks of places."""
    found = follow(city, *_totals(own, expected, day))
    mean, variance, after = found.mean[0], found.variance[0], found.mean_after[0]
    last = (float(after[-1]), float(found.variance_after[0, -1]))
    return CityDays(mean[day], variance[day], after[day], last)


def estimate_city(own: Floats, expected: Floats, day: NDArray[np.int64]) -> Shocks:
    """Estimate variance and day-to-day persistence of the level. Without a clear gain the level stays 1.

    A level that does not persist predicts nothing, and its variance is already part of the shocks of each
    place.
    """
    y, mu = _totals(own, expected, day)
    counts = Counts.of(y, mu, np.ones(y.shape, bool))
    spread = np.geomspace(1e-4, 0.5, 10)
    _, at = best_shocks(counts, spread, np.zeros(1))
    lasting, top = best_shocks(counts, spread, np.array([0.3, 0.5, 0.7, 0.8, 0.9, 0.95]))
    return lasting if top > at + _CLEAR_GAIN else STEADY


def _totals(own: Floats, expected: Floats, day: NDArray[np.int64]) -> tuple[Floats, Floats]:
    days = int(day[-1]) + 1
    y, mu = (np.bincount(day, part.sum(axis=0), minlength=days) for part in (own, expected))
    return y[None].astype(np.float64), mu[None].astype(np.float64)
