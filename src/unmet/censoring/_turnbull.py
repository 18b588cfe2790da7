"""Turnbull: the distribution of values that are known exactly, to one side, or between two bounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring._observe import refuse_mask

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
# The log-likelihood per row is within this of its maximum at the end, or after so many turns.
_TOLERANCE, _MOST_TURNS = 1e-10, 2000
# Masses below this, of one row, are zero; so are weights below this share of their sum.
_LEAST, _LEAST_SHARE = 1e-9, 1e-12
# A level counts as reached if the tolerance alone stands in its way.
_CLOSE = 1e-8
# A step must gain this part of what its slope promises, and is not halved further than this.
_GAIN, _LEAST_STEP = 0.25, 1e-6


@dataclass(frozen=True)
class GroupedDistribution:
    """A distribution function that is known at some places: masses, each somewhere in (lower, upper].

    Attributes
    ----------
    lower, upper : array (m,)
        Where each mass lies, increasing. Equal where it is a point; infinite where it is open.
    reached : array (m,)
        The function at `upper`.
    """

    lower: Floats
    upper: Floats
    reached: Floats

    @property
    def identified(self) -> tuple[float, float]:
        """The levels between which quantiles are bounded on both sides."""
        least = float(self.reached[0]) if np.isinf(self.lower[0]) else 0.0
        most = float(self.reached[self.upper < np.inf].max(initial=0.0))
        return least, most

    def level(self, share: float) -> tuple[float, float]:
        """Return the bounds between which the quantile at level `share` lies; equal if it is known."""
        index = min(int(np.searchsorted(self.reached, share - _CLOSE)), len(self.reached) - 1)
        return float(self.lower[index]), float(self.upper[index])


def turnbull(lower: ArrayLike, upper: ArrayLike, weights: ArrayLike | None = None) -> GroupedDistribution:
    """Return the most likely distribution of values x, each known as lower < x ≤ upper, or x = lower = upper.

    It is self-consistent: a mass p_j is the share of the rows that may lie there, each divided over its
    places as the masses say, p_j = Σ_i w_i 1{j in row i} p_j / p(row i) / Σ_i w_i. Where only large values
    are cut off this is Kaplan–Meier's estimate. It assumes that bounds tell nothing of the value but that it
    lies between them.

    The equation by itself takes thousands of turns to empty a place. Each turn therefore also moves the
    distribution function along its slope, scaled by the curvature, to the nearest increasing function.

    Parameters
    ----------
    lower, upper
        Bounds of each row: −inf or +inf where it is open.
    weights
        One per row: a row of weight 2 counts as two equal rows.

    References
    ----------
    Turnbull (1976), The empirical distribution function with arbitrarily grouped, censored and truncated
    data, J. R. Stat. Soc. B 38. Wellner & Zhan (1997), A hybrid algorithm for computation of the
    nonparametric maximum likelihood estimator from censored data, J. Am. Stat. Assoc. 92.

    Examples
    --------
    >>> found = turnbull([0.0, 1.0, 2.0], [1.0, 3.0, float("inf")])
    >>> found.lower.tolist(), found.upper.tolist(), found.reached.round(3).tolist()
    ([0.0, 2.0], [1.0, 3.0], [0.333, 1.0])
    """
    refuse_mask(lower, "lower")
    refuse_mask(upper, "upper")
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 1 or low.shape != high.shape or not low.size:
        raise ValueError(
            f"lower and upper must hold one bound per row each, and at least one row; got shapes {low.shape} "
            f"and {high.shape}"
        )
    if not (low <= high).all():
        raise ValueError("lower must not lie above upper, and neither may be NaN")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ValueError("lower must not be +inf nor upper -inf: no value lies there")
    share = _shares(weights, len(low))
    kept = share > _LEAST_SHARE
    begins, ends, first, last = _places(low[kept], high[kept])
    mass = _most_likely(first, last, share[kept], len(ends))
    kept = mass * len(low) > _LEAST
    return GroupedDistribution(begins[kept], ends[kept], np.cumsum(mass[kept]) / mass[kept].sum())


def _shares(weights: ArrayLike | None, rows: int) -> Floats:
    """Return checked weights that sum to one."""
    if weights is None:
        return np.full(rows, 1 / rows)
    share = np.asarray(weights, np.float64)
    if share.shape != (rows,) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise ValueError(f"weights must be {rows} finite numbers, not negative, and not all zero")
    share = share / share.max()
    return share / share.sum()


def _most_likely(first: Places, last: Places, share: Floats, count: int) -> Floats:
    """Return the masses of the places that give the rows, each at first ≤ place < last, most likelihood."""
    mass = np.full(count, 1 / count)
    for _ in range(_MOST_TURNS):
        total = np.concatenate([[0.0], np.cumsum(mass)])
        pull = share / (total[last] - total[first])
        ratio = np.cumsum(np.bincount(first, pull, count + 1) - np.bincount(last, pull, count + 1))[:-1]
        if ratio.max() <= 1 + _TOLERANCE:
            break
        mass = mass * np.maximum(ratio, 0.0)
        mass = _moved(mass / mass.sum(), first, last, share)
    return mass


def _moved(mass: Floats, first: Places, last: Places, share: Floats) -> Floats:
    """Return masses after a step of the function to a maximum of its likelihood, as if that were a parabola.

    The step is halved until the likelihood gains enough; no gain, no step.
    """
    from scipy.optimize import isotonic_regression

    if len(mass) == 1:
        return mass
    total = np.concatenate([[0.0], np.cumsum(mass)])
    chance = total[last] - total[first]
    pull, size = share / chance, len(total)
    slope = (np.bincount(last, pull, size) - np.bincount(first, pull, size))[1:-1]
    bend = (np.bincount(last, pull / chance, size) + np.bincount(first, pull / chance, size))[1:-1]
    aim = np.clip(isotonic_regression(total[1:-1] + slope / bend, weights=bend).x, 0.0, total[-1])
    move = np.concatenate([[0.0], aim - total[1:-1], [0.0]])
    change = move[last] - move[first]
    promised, step = float((pull * change).sum()), 1.0
    while step > _LEAST_STEP:
        if (chance + step * change >= share / 2).all():  # the most likely masses give each row its share
            gain = float((share * np.log1p(step * change / chance)).sum())
            if gain >= _GAIN * step * promised:
                moved = np.maximum(np.diff(total + step * move), 0.0)
                return moved / moved.sum()
        step /= 2
    return mass


def _places(low: Floats, high: Floats) -> tuple[Floats, Floats, Places, Places]:
    """Return between which values mass can lie, and the first and last + 1 of the places of each row.

    Mass lies from a lower bound to the next upper bound, where no other lower bound comes between.
    """
    values, ranks = np.unique(np.concatenate([low, high]), return_inverse=True)
    # At one value an exact row begins, then rows end, then intervals begin, which are open there.
    left = 3 * ranks[: len(low)] + np.where(low == high, 0, 2)
    right = 3 * ranks[len(low) :] + 1
    lefts, rights = np.unique(left), np.unique(right)
    before = np.searchsorted(lefts, rights) - 1
    place = np.diff(before, prepend=-1) > 0
    begins, ends = lefts[before[place]], rights[place]
    first, last = np.searchsorted(begins, left), np.searchsorted(ends, right, side="right")
    return values[begins // 3], values[ends // 3], first, last
