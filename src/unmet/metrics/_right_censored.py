"""Checked right-censored rows, and how likely a row was to stay uncensored."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring import StayingUncensored
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
