"""Draws of the share of time with a vehicle, where the stock was inferred from rides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unmet.forecasting._grid import Grid
from unmet.forecasting._parametric import Past

Floats = NDArray[np.float64]
_LEAST_UNSURE = 0.005  # share of known time; below it a feed leaves a few rows open, which is no doubt
# Doubt about the chance that a vehicle stood there in ambiguous time, in standard deviations of a normal
# score: common to all places, and of each place.
_CITY, _PLACE = 0.8, 0.5
_SHIFT = 0.4  # vehicles could be rented less often than their rides suggest
# Vehicles that stood but could not be rented hide demand too: log of the factor of rates, mean and deviation.
_RATE_SHIFT, _RATE = 0.05, 0.16
_NEVER_SURE = 0.03  # chances near 0 and 1 are held to be this far from them
_MEMORY = 0.95  # correlation from hour to hour: a vehicle that was there mostly still is
_POINTS = 11
_LEAST = 0.05
IDS_ASSUMED = (
    "This range is an assumption, learned where a status feed tells the truth: in Jersey City and in "
    "simulated cities."
)
COUNTS_ASSUMED = (
    "a van came whenever a vehicle was needed",
    "vans came only at 4 in the morning, and every vehicle could be rented",
)


@dataclass(frozen=True)
class ExposureDraws:
    """Draws for the places of a grid; they share the scores `city` and the factors `hidden`, both (D, 1)."""

    grid: Grid
    rate: Floats
    city: Floats
    hidden: Floats
    seed: int

    def of(self, place: int) -> tuple[Floats, Floats] | None:
        """Return exposure (D, T) and the factor of the place's rate (D, 1).

        Return None if all exposure is known, or if nothing tells where between its bounds it lies.

        In each draw an ambiguous period had a vehicle or not. The rate of a place follows from its pickups
        and the time with a vehicle, so less time means a higher rate.
        """
        grid, draws = self.grid, len(self.city)
        low, high, middle = grid.low[place], grid.high[place], grid.exposure[place]
        at = np.flatnonzero(high > low)
        if not len(at) or grid.bounded:
            return None
        rng = np.random.default_rng([self.seed, 37, place])
        score = _SHIFT + self.city + _PLACE * rng.standard_normal((draws, 1))
        score = score + chain(rng, draws, at, _MEMORY ** (24 / grid.per_day))
        chance = np.clip((middle[at] - low[at]) / (high[at] - low[at]), _NEVER_SURE, 1 - _NEVER_SURE)
        there = score < ndtri(chance) * np.sqrt(1 + _CITY**2 + _PLACE**2)
        drawn = np.broadcast_to(middle, (draws, len(middle))).copy()
        drawn[:, at] = np.where(there, high[at], low[at])
        usual = float((self.rate[place] * middle).sum())
        factor = usual / np.maximum(drawn @ self.rate[place], max(_LEAST * usual, 1e-12))
        return drawn, factor[:, None] * self.hidden


def make_exposure_draws(grid: Grid, past: Past, draws: int, seed: int) -> ExposureDraws:
    """Return draws that are the same for the same seed."""
    city, hidden = np.random.default_rng([seed, 41]).standard_normal((2, draws, 1))
    factor = np.exp(_RATE_SHIFT + _RATE * hidden)
    return ExposureDraws(grid, past.rate * grid.known, _CITY * city, factor, seed)


def describe_doubt(
    grid: Grid, past: Past, shares: Floats, bounds: tuple[float, float] | None
) -> dict[str, Any] | None:
    """Return how lost rides depend on the share of ambiguous time that was empty; None if hardly any is.

    Parameters
    ----------
    shares : draws of that share (D,).
    bounds : lost rides under each of `COUNTS_ASSUMED`, where nothing tells that share; None if infinite.
    """
    between = (grid.high - grid.low) * grid.known
    if not between.any():
        return None
    share_unsure = float(between.sum() / grid.known.sum())
    if bounds is None and share_unsure < _LEAST_UNSURE:
        return None
    if bounds is not None:
        named = [
            {"assumption": text, "lost": bound if np.isfinite(bound) else None}
            for text, bound in zip(COUNTS_ASSUMED, bounds)
        ]
        return {"share": share_unsure, "bounds": named}
    rate = past.rate * grid.known
    kept = np.where(past.unserved > 0, 1 - past.went / np.maximum(past.unserved, 1e-300), np.nan)
    stays = float(np.nanmean(kept)) if np.isfinite(kept).any() else 1.0
    shock = past.shape / past.inverse_scale
    usual = (rate * grid.exposure).sum(axis=1)

    def lost(empty: float) -> float:
        share = np.where(between > 0, grid.high - empty * between, grid.exposure)
        time = (rate * share).sum(axis=1)
        factor = usual / np.maximum(time, np.maximum(_LEAST * usual, 1e-12))
        missed = (rate * (1 - share) * shock).sum(axis=1)
        return float((factor * missed).sum() * stays)

    points = np.linspace(0, 1, _POINTS)
    found: dict[str, Any] = {
        "share": share_unsure,
        "curve": [{"empty": float(point), "lost": lost(point)} for point in points],
    }
    low, high = np.quantile(shares, (0.05, 0.95))
    central = float((rate * (grid.high - grid.exposure)).sum() / (rate * between).sum())
    found["empty"] = {"mean": central, "q05": float(low), "q95": float(high)}
    found["assumption"] = IDS_ASSUMED
    return found


def chain(rng: np.random.Generator, draws: int, at: NDArray[np.int64], memory: float) -> Floats:
    """Return standard normal noise (D, n) at periods `at`, with correlation memory^distance."""
    noise = rng.standard_normal((draws, len(at)))
    if memory < 0.02:
        return noise
    keep = memory ** np.diff(at).astype(np.float64)
    fresh = np.sqrt(1 - keep * keep)
    by_period = np.ascontiguousarray(noise.T)
    by_period[1:] *= fresh[:, None]
    for k, tie in enumerate(keep, start=1):
        by_period[k] += tie * by_period[k - 1]
    return np.ascontiguousarray(by_period.T)
