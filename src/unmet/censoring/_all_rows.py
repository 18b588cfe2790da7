"""Quantiles of all rows alike, however they are censored."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmet.censoring._kaplan_meier import kaplan_meier
from unmet.censoring._mirror import mirror_levels
from unmet.censoring._observed import Observed
from unmet.censoring._turnbull import turnbull

Floats = NDArray[np.float64]


def quantiles_of_all(
    observed: Observed, levels: Sequence[float], weights: Floats | None = None
) -> tuple[Floats, tuple[float, float]]:
    """Return quantiles (K,) that do not use the columns, and between which levels they are identified.

    They are Kaplan–Meier's, or Turnbull's where rows are open on different sides or are intervals: of a mass
    between two bounds the middle. A quantile that is not identified is a bound: the lowest or largest value.
    A row that is open on one side lies beyond its bound, so that the quantiles of −y are those of y, negated.

    Examples
    --------
    >>> from unmet.censoring import observe
    >>> found, identified = quantiles_of_all(observe([1.0, 2.0, 3.0], threshold=3.0), [0.5, 0.9])
    >>> found.tolist(), [round(level, 3) for level in identified]
    ([2.0, 3.0], [0.0, 0.667])
    """
    if observed.side == "left":
        found, (least, most) = quantiles_of_all(observed.mirrored(), mirror_levels(tuple(levels)), weights)
        return -found[::-1], (1 - most, 1 - least)
    if observed.side == "right":
        one_sided = kaplan_meier(observed.observed, observed.censored, weights)
        found = np.array([one_sided.level(level) for level in levels])
        return np.minimum(found, observed.observed.max()), (0.0, float(one_sided.reached.max(initial=0.0)))
    # Turnbull's intervals hold their upper end, and so do rows that are open below: it is moved out and back.
    below = np.isinf(observed.lower)
    upper = np.where(below, np.nextafter(observed.upper, -np.inf), observed.upper)
    law = turnbull(observed.lower, upper, weights)
    low, high = np.array([law.level(level) for level in levels]).T
    high = np.where(np.isin(high, upper[below]), np.nextafter(high, np.inf) + 0.0, high)
    # An open mass lies beyond its one bound; halves are taken first, so that far bounds do not overflow.
    low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
    return np.where(low == high, low, low / 2 + high / 2), law.identified
