"""How often a bound is missed, and which levels hold, estimated from censored rows."""

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Distribution, Observed, kaplan_meier
from unmet.estimators.conformal._chance import Chance
from unmet.metrics import predicted_levels

Floats = NDArray[np.float64]

# Chances below this count as this.
_LEAST = 0.02
# With fewer rows (in effect), an upper bound is not identified.
_FEWEST = 30.0
# Nor above a value that a smaller share of the rows than this could show.
_REACHED = 0.1
# Flags do not tell how far rows could be seen beyond the last value. If so many could there, more could.
_BEYOND = 0.5
# Nor where more than this share of the rows had hardly a chance to reach it.
_MOST_HIDDEN = 0.1
# Mean of the distance of Anderson and Darling, and what it exceeds once in twenty times.
_BY_NOISE, _BEYOND_NOISE = 1.0, 2.492
# A row at a step of its predicted distribution is spread over the step as this many parts.
_PARTS = 16


def misses_below(
    bounds: Floats, seen: Observed, X: Floats, share: Floats, chance: Chance, cutoff: float | None
) -> Floats:
    """Return the estimated share of latent values below each of M increasing bounds, shape (M,).

    `bounds` has shape (n, M), for right-censored rows. Known thresholds C: among rows with C ≥ c(x), whose
    min(T, c(x)) is seen, the share with y below the bound, each weighted by 1/P(C ≥ c(x) | x). Here c(x) is
    the bound itself (adaptive cut-offs) or the given number. Flags: the sum of 1/P(C ≥ y | x) over uncensored
    rows below the bound. Each row counts by its `share`, and one more of mean share is counted as missed.
    """
    y, rows, own = seen.observed, len(bounds), share[:, None]
    below = y[:, None] < np.minimum(bounds, np.inf if cutoff is None else cutoff)
    if not seen.known:
        weight = own / np.maximum(chance(X, y[:, None]), _LEAST)
        lost = (weight * (below & ~seen.censored[:, None])).sum(axis=0)
        return (lost + share.mean()) / (share.sum() + share.mean())
    at = bounds if cutoff is None else np.full((rows, 1), cutoff)
    weight = np.where(seen.limits[1][:, None] >= at, own / np.maximum(chance(X, at), _LEAST), 0.0)
    return _share(weight, below)


def find_top(bounds: Floats, seen: Observed, X: Floats, share: Floats, chance: Chance) -> float:
    """Return the value above which too few rows could be seen for an upper bound; +∞ if there is none."""
    last = float(seen.observed.max())
    values = np.unique(np.quantile(np.append(bounds, last), np.linspace(0, 1, 201), method="nearest"))
    reached = _mean_chance(values, X, share, chance) >= _REACHED
    top = np.inf
    if not reached[-1]:
        top = float(values[reached][-1] if reached.any() else values[0])
    if (
        not seen.known
        and seen.censored.any()
        and _mean_chance(np.array([last]), X, share, chance)[0] < _BEYOND
    ):
        top = min(top, last)
    return top


def _mean_chance(values: Floats, X: Floats, share: Floats, chance: Chance) -> Floats:
    found = chance(X, np.broadcast_to(values, (len(X), len(values))))
    return np.asarray(np.average(found, axis=0, weights=share))


def misses_above(
    bounds: Floats, seen: Observed, X: Floats, share: Floats, chance: Chance, top: float
) -> Floats:
    """Return the estimated share of latent values above each bound, shape (M,); NaN if too few rows tell.

    Rows that passed the bound or are uncensored tell; each is weighted by its share over
    P(C ≥ min(y, bound) | x). A bound above `top` counts as +∞, which nothing misses.
    """
    y, open_, own = seen.observed[:, None], bounds > top, share[:, None]
    over = (y > bounds) & ~open_
    chances = np.maximum(chance(X, np.minimum(bounds, y)), _LEAST)
    weight = np.where(over | ~seen.censored[:, None], own / chances, 0.0)
    weight = np.where(open_, own, weight)
    effective = np.square(weight.sum(axis=0)) / np.maximum(np.square(weight).sum(axis=0), 1e-300)
    unseen = (chance(X, bounds) < _LEAST) & ~open_
    hidden = np.average(unseen, axis=0, weights=share) > _MOST_HIDDEN
    return np.where((effective >= _FEWEST) & ~hidden, _share(weight, over), np.nan)


def holding_levels(
    curves: Floats, levels: tuple[float, ...], seen: Observed, share: Floats, wanted: tuple[float, ...]
) -> tuple[float, ...]:
    """Return for each wanted level θ the level u of the curves, shape (n, M), that holds: F(u) = θ.

    F(u) = u + s (F̂_KM(u) − u). F̂_KM is the Kaplan–Meier estimate of F̂(y | x), the levels at which
    right-censored rows were seen, linear between its steps and beyond the last one; s is the share of its
    distance from u that is not noise (`_share_told`). Where a predicted distribution has a step at y, an
    uncensored row has all levels of the step alike.
    """
    place = predicted_levels(seen.observed, curves, levels)
    censored = seen.censored
    before = predicted_levels(seen.observed, curves, levels, before=True)
    effective = np.square(share.sum()) / np.square(share).sum()
    if (before < place)[~censored].any():
        inside = (np.arange(_PARTS) + 0.5) / _PARTS
        start = np.where(censored, place, before)
        place = (start[:, None] + (place - start)[:, None] * inside).ravel()
        censored, share = np.repeat(censored, _PARTS), np.repeat(share, _PARTS)
    found = kaplan_meier(place, censored, share)
    points = np.concatenate([[0.0], found.points, [1.0]])
    reached = np.concatenate([[0.0], found.reached, [1.0]])
    steps = points + _share_told(found, len(place) / effective) * (reached - points)
    steps, first = np.unique(steps, return_index=True)
    return tuple(float(u) for u in np.interp(wanted, steps, points[first]))


def _share_told(found: Distribution, times: float) -> float:
    """Return how much of F̂_KM(u) − u is taken: 0 if it is as noise is, 1 if it can hardly be noise.

    The mean of (F̂_KM(u) − u)² over its variance by Greenwood's formula is the distance of Anderson and
    Darling (1952). It is 1 on average if the levels hold, and then above 2.49 once in twenty times; between
    the two, the share grows in proportion. Taken whole, noise of the calibration rows would go into levels
    that hold already. `found` counts each row so many `times`.
    """
    survival = 1.0 - found.reached
    inner = survival > 1e-12
    kept = survival / np.concatenate([[1.0], survival[:-1]])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (1.0 - kept) / kept * times / found.at_risk
    variance = np.square(survival) * np.cumsum(np.where(inner, terms, 0.0))
    inner &= variance > 0
    if not inner.any():
        return 0.0
    apart = float(np.mean(np.square(found.reached - found.points)[inner] / variance[inner]))
    return min(1.0, max(0.0, (apart - _BY_NOISE) / (_BEYOND_NOISE - _BY_NOISE)))


def _share(weight: Floats, missed: NDArray[np.bool_]) -> Floats:
    """Return weighted shares, with one more row of mean weight that was missed."""
    used = np.count_nonzero(weight, axis=0)
    extra = weight.sum(axis=0) / np.maximum(used, 1)
    total = weight.sum(axis=0) + extra
    lost = (weight * missed).sum(axis=0) + extra
    return np.divide(lost, total, out=np.ones(lost.shape), where=total > 0)
