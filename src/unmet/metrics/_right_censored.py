"""Checked right-censored rows, and how likely a row was to stay uncensored."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.metrics._arrays import Floats, numbers

Flags = NDArray[np.bool_]


def right_censored(y: ArrayLike, censored: ArrayLike) -> tuple[Floats, Flags]:
    """Values and flags, one of each per row."""
    values, flags = numbers(y, "y"), np.asarray(censored)
    if values.ndim != 1 or not values.size or flags.shape != values.shape:
        raise ValueError(
            f"y and censored must hold one entry per row, got shapes {values.shape} and {flags.shape}"
        )
    if flags.dtype != np.bool_ and not np.isin(flags, (0, 1)).all():
        raise ValueError("censored must be boolean or 0/1")
    return values, flags.astype(np.bool_)


class StayingUncensored:
    """Ĝ, the Kaplan–Meier estimate of the chance that a row is not yet cut off, from right-censored rows.

    Ĝ(t) = Π (1 − cⱼ/nⱼ) over points tⱼ ≤ t, with cⱼ rows cut off at tⱼ and nⱼ still there; a value that is
    seen at tⱼ comes before a cut at tⱼ. It describes all rows if cuts are independent of values (and of X).
    """

    def __init__(self, y: Floats, censored: Flags) -> None:
        self.points, cut = np.unique(y[censored], return_counts=True)
        there = y.size - np.searchsorted(np.sort(y), self.points)
        seen = np.sort(y[~censored])
        there -= np.searchsorted(seen, self.points, side="right") - np.searchsorted(seen, self.points)
        self.after = np.cumprod(1.0 - cut / there)

    def at(self, times: Floats) -> Floats:
        """Ĝ(t)."""
        return self._at(np.searchsorted(self.points, times, side="right"))

    def before(self, times: Floats) -> Floats:
        """Ĝ(t−), just before t."""
        return self._at(np.searchsorted(self.points, times))

    def _at(self, passed: NDArray[np.intp]) -> Floats:
        return np.concatenate([[1.0], self.after])[passed]


def staying_uncensored(y: Floats, censored: Flags, reference: Any) -> StayingUncensored:
    """Ĝ from the reference rows, a pair (y, censored), or from the rows themselves."""
    if reference is None:
        return StayingUncensored(y, censored)
    try:
        values, flags = reference
    except (TypeError, ValueError):
        raise ValueError("reference must be a pair (y, censored), such as the training rows") from None
    return StayingUncensored(*right_censored(values, flags))


def inverse(chance: Floats) -> Floats:
    """1/Ĝ; ValueError where it is zero."""
    if (chance <= 0).any():
        raise ValueError(
            "some values lie where every row is cut off, so that none could be seen: measure rows and times "
            "below, or pass reference= rows that reach further"
        )
    return 1.0 / chance
