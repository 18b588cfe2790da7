"""How likely a row was to stay uncensored: Kaplan–Meier with the parts exchanged."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class StayingUncensored:
    """Ĝ, the Kaplan–Meier estimate of the chance that a row is not yet cut off, from right-censored rows.

    Ĝ(t) = Π (1 − cⱼ/nⱼ) over points tⱼ ≤ t, with cⱼ rows cut off at tⱼ and nⱼ still there; a value that is
    seen at tⱼ comes before a cut at tⱼ. It describes all rows if cuts are independent of values (and of X).
    """

    def __init__(self, y: Floats, censored: NDArray[np.bool_], weight: Floats | None = None) -> None:
        weights = np.ones(y.size) if weight is None else weight
        self.points, place = np.unique(y[censored], return_inverse=True)
        cut = np.bincount(place, weights[censored], minlength=len(self.points))
        there = _at_least(y, weights, self.points)
        seen, same = y[~censored], weights[~censored]
        # a value that is seen at a point is no longer there when rows are cut off at it
        there -= _at_least(seen, same, self.points) - _at_least(seen, same, np.nextafter(self.points, np.inf))
        share = np.divide(cut, there, out=np.ones(len(cut)), where=there > 0)  # rounding may leave no row
        self.after = np.maximum(np.cumprod(1.0 - np.minimum(share, 1.0)), 0.0)

    def at(self, times: Floats) -> Floats:
        """Ĝ(t)."""
        return self._at(np.searchsorted(self.points, times, side="right"))

    def before(self, times: Floats) -> Floats:
        """Ĝ(t−), just before t."""
        return self._at(np.searchsorted(self.points, times))

    def _at(self, passed: NDArray[np.intp]) -> Floats:
        return np.concatenate([[1.0], self.after])[passed]


def _at_least(values: Floats, weights: Floats, points: Floats) -> Floats:
    """Return the weight of the values at or above each point."""
    order = np.argsort(values)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    return below[-1] - below[np.searchsorted(values[order], points)]
