"""Measures of out-of-fold quantiles that need no latent values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet import losses, metrics
from unmet.censoring import Observed, StayingUncensored, kaplan_meier

Floats = NDArray[np.float64]
# Values that hardly any row could show are not measured; a step that rests on few rows is no evidence.
_LEAST_CHANCE, _LEAST_AT_RISK = 0.1, 10
_BINS, _TIMES, _LEAST_MASS = 10, 50, 0.005
LOSS_NAMES = {
    "none": "tilted loss",
    "known": "censored tilted loss",
    "flags": "weighted tilted loss",
    "intervals": "log score",
}


@dataclass(frozen=True)
class Measures:
    """What is measured of one method; None where censoring hides the answer.

    Parameters
    ----------
    losses, log_scores : one per row; lower is better.
    coverage : share of latent values between the lowest and highest of the levels.
    d_calibration : p-value; small if the predicted distributions do not hold.
    km_distance : root mean square distance of the mean predicted distribution from Kaplan–Meier's.
    crossings : neighbouring levels in the wrong order.
    """

    losses: Floats
    log_scores: Floats
    coverage: float | None
    d_calibration: float | None
    km_distance: float | None
    crossings: int


def measure(observed: Observed, quantiles: Floats, levels: tuple[float, ...]) -> Measures:
    """Measure quantiles of the rows, shape (n, K)."""
    scores = log_scores(observed, quantiles, levels)
    each = scores if observed.kind == "intervals" else row_losses(observed, quantiles, levels)
    crossings = int(metrics.crossings(quantiles, strict=True)) if len(levels) > 1 else 0
    if observed.side == "both" and observed.censored.any():
        return Measures(each, scores, None, None, None, crossings)
    seen, curves, inner = _right(observed, quantiles, levels)
    place = metrics.predicted_levels(seen.observed, curves, inner)
    before = metrics.predicted_levels(seen.observed, curves, inner, before=True)
    flags = seen.censored
    return Measures(
        each,
        scores,
        _coverage(place, flags, inner),
        metrics.d_calibration(place, flags, before=before),
        _km_distance(seen, curves, inner),
        crossings,
    )


def row_losses(observed: Observed, quantiles: Floats, levels: tuple[float, ...]) -> Floats:
    """Return the loss of each row, mean over levels.

    Known thresholds: ρ_θ(y − min(cap, max(floor, q̂))). Flags: δ/Ĝ(z−) ρ_θ(z − min(q̂, τ)) of z = min(y, τ),
    where Ĝ is the Kaplan–Meier estimate of the chance to be still uncensored, from all rows, τ the last value
    with Ĝ(τ−) of at least 0.1, and δ is 1 if z is known: the row is uncensored, or reaches τ. Beyond τ
    nothing is measured, so that no method gains or loses by what nobody could see.
    """
    thetas = np.asarray(levels)
    if observed.kind != "flags":
        floor, cap = (limit[:, None] for limit in observed.limits)
        each = losses.doubly_censored_tilted_loss(observed.observed[:, None], quantiles, thetas, floor, cap)
        return np.asarray(each).mean(axis=1)
    seen, curves, inner = _right(observed, quantiles, levels)
    values, chance = seen.observed, StayingUncensored(seen.observed, seen.censored).before(seen.observed)
    last = values[chance >= _LEAST_CHANCE].max()
    each = losses.censored_tilted_loss(np.minimum(values, last)[:, None], curves, inner, last)
    known = ~seen.censored | (values >= last)
    weight = np.where(known, 1.0 / np.maximum(chance, chance[values == last].min()), 0.0)
    return weight * np.asarray(each).mean(axis=1)


def log_scores(observed: Observed, quantiles: Floats, levels: tuple[float, ...]) -> Floats:
    """Return −log of the predicted chance of what was seen of each row.

    A censored row tells its bounds: −log(F̂(upper) − F̂(lower)). An exact row tells in which of ten fixed parts
    of the axis it lies, so that all rows are scored by chances, and none by a density. No chance counts as
    less than 0.005. The score is proper if cuts are independent of latent values given X.
    """
    exact = observed.observed[~observed.censored]
    values = exact if len(exact) >= _BINS else observed.observed
    edges = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    part = np.searchsorted(edges, observed.observed, side="left")  # parts are (low, high]
    low = np.where(observed.censored, observed.lower, ends[part])
    high = np.where(observed.censored, observed.upper, ends[part + 1])
    mass = _levels_at(high, quantiles, levels) - _levels_at(low, quantiles, levels)
    return -np.log(np.clip(mass, _LEAST_MASS, 1.0))


def _levels_at(values: Floats, quantiles: Floats, levels: tuple[float, ...]) -> Floats:
    finite = np.isfinite(values)
    found = metrics.predicted_levels(np.where(finite, values, 0.0), quantiles, levels)
    return np.where(finite, found, values > 0)


def _right(
    observed: Observed, quantiles: Floats, levels: tuple[float, ...]
) -> tuple[Observed, Floats, Floats]:
    """Return rows, quantiles and levels as if right-censored."""
    if observed.side != "left":
        return observed, quantiles, np.asarray(levels)
    return observed.mirrored(), -quantiles[:, ::-1], 1 - np.asarray(levels)[::-1]


def _coverage(place: Floats, censored: NDArray[np.bool_], levels: Floats) -> float | None:
    """Return the share of latent values between the outer quantiles: Kaplan–Meier of the levels F̂(y | x)."""
    found = kaplan_meier(place, censored)
    if len(levels) < 2 or (place >= levels[-1]).sum() < _LEAST_AT_RISK:
        return None
    return found(float(levels[-1])) - found(float(np.nextafter(levels[0], 0)))


def _km_distance(seen: Observed, curves: Floats, levels: Floats) -> float | None:
    exact: Any = seen.observed[~seen.censored]
    if not exact.size or exact.min() == exact.max():
        return None
    times = np.linspace(exact.min(), exact.max(), _TIMES)
    above = [
        1 - metrics.predicted_levels(np.full(len(curves), time), curves, levels).mean() for time in times
    ]
    return float(np.sqrt(metrics.km_calibration(seen.observed, seen.censored, above, times)))
