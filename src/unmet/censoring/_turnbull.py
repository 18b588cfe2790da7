"""Turnbull: the distribution of values that are known exactly, to one side, or between two bounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
# The log-likelihood per row is within this of its maximum at the end, or after so many turns.
_TOLERANCE, _MOST_TURNS = 1e-6, 5000
# Masses below this, of one row, are zero.
_LEAST = 1e-9


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
        index = min(int(np.searchsorted(self.reached, share - 1e-9)), len(self.reached) - 1)
        return float(self.lower[index]), float(self.upper[index])


def turnbull(lower: ArrayLike, upper: ArrayLike, weights: Floats | None = None) -> GroupedDistribution:
    """Return the most likely distribution of values x, each known as lower < x ≤ upper, or x = lower = upper.

    It is self-consistent: a mass p_j is the share of the rows that may lie there, each divided over its
    places as the masses say, p_j = Σ_i w_i 1{j in row i} p_j / p(row i). Where only large values are cut off
    this is Kaplan–Meier's estimate. It assumes that bounds tell nothing of the value but that it lies
    between them.

    Parameters
    ----------
    lower, upper
        Bounds of each row: −inf or +inf where it is open.
    weights
        Positive, one per row.

    References
    ----------
    Turnbull (1976), The empirical distribution function with arbitrarily grouped, censored and truncated
    data, J. R. Stat. Soc. B 38.

    Examples
    --------
    >>> found = turnbull([0.0, 1.0, 2.0], [1.0, 3.0, float("inf")])
    >>> found.lower.tolist(), found.upper.tolist(), found.reached.round(3).tolist()
    ([0.0, 2.0], [1.0, 3.0], [0.333, 1.0])
    """
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 1 or low.shape != high.shape or not low.size:
        raise ValueError(
            f"lower and upper must hold one bound per row each, and at least one row; got shapes {low.shape} "
            f"and {high.shape}"
        )
    if not (low <= high).all():
        raise ValueError("lower must not lie above upper, and neither may be NaN")
    share = np.ones(len(low)) if weights is None else np.asarray(weights, np.float64)
    begins, ends, first, last = _places(low, high)
    mass = np.full(len(ends), 1 / len(ends))
    for _ in range(_MOST_TURNS):
        total = np.concatenate([[0.0], np.cumsum(mass)])
        pull = share / np.maximum(total[last] - total[first], np.finfo(float).tiny)
        change = np.bincount(first, pull, len(ends) + 1) - np.bincount(last, pull, len(ends) + 1)
        ratio = np.cumsum(change)[:-1] / share.sum()
        mass = mass * np.maximum(ratio, 0.0)
        mass /= mass.sum()
        if ratio.max() <= 1 + _TOLERANCE:
            break
    kept = mass * len(low) > _LEAST
    return GroupedDistribution(begins[kept], ends[kept], np.cumsum(mass[kept]) / mass[kept].sum())


def _places(low: Floats, high: Floats) -> tuple[Floats, Floats, NDArray[np.intp], NDArray[np.intp]]:
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
