"""Kaplan–Meier: the distribution of right-censored values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distribution:
    """A distribution function, stored as its steps.

    Attributes
    ----------
    points : array (m,)
        Where it steps: the distinct uncensored values, increasing.
    reached : array (m,)
        The function at and after each point.
    at_risk : array (m,)
        Number of rows known to be at least as large as the point; the step rests on these.
    """

    points: Floats
    reached: Floats
    at_risk: NDArray[np.int64]

    def level(self, share: float, least_at_risk: int = 1) -> float:
        """Return the smallest point at which the function has reached `share`, or inf if not identified.

        It is not identified if the function does not reach the share, or reaches it by a step that rests on
        fewer than `least_at_risk` rows.
        """
        index = int(np.searchsorted(self.reached, share - 1e-12))
        if index == len(self.points) or self.at_risk[index] < least_at_risk:
            return float("inf")
        return float(self.points[index])

    def __call__(self, value: float) -> float:
        """Return the share at or below `value`."""
        index = int(np.searchsorted(self.points, value, side="right"))
        return float(self.reached[index - 1]) if index else 0.0

    def supported(self, value: float) -> int:
        """Return the rows at risk at the first step at or after `value`, or 0 beyond the last."""
        index = int(np.searchsorted(self.points, value))
        return int(self.at_risk[index]) if index < len(self.points) else 0


def kaplan_meier(values: ArrayLike, censored: ArrayLike, weights: Floats | None = None) -> Distribution:
    """Return the distribution function of right-censored values, 1 − Π (1 − dⱼ/nⱼ).

    dⱼ is the number of uncensored values at the j-th point, nⱼ the number of rows at risk there. With
    `weights`, positive and one per row, both are sums of weights, while `at_risk` still counts rows. A row
    censored at a point counts as larger. The estimate is consistent if the point of censoring is independent
    of the value.

    Examples
    --------
    >>> found = kaplan_meier([1.0, 2.0, 3.0, 4.0], [False, True, False, False])
    >>> found.points.tolist(), found.reached.tolist(), found.at_risk.tolist()
    ([1.0, 3.0, 4.0], [0.25, 0.625, 1.0], [4, 2, 1])
    """
    times = np.asarray(values, np.float64)
    flags = np.asarray(censored)
    if times.ndim != 1 or times.shape != flags.shape or flags.dtype != bool:
        raise ValueError(
            "values and censored must be one-dimensional, of equal length, and censored boolean; "
            f"got shapes {times.shape} and {flags.shape}, {flags.dtype}"
        )
    if np.isnan(times).any():
        raise ValueError("values must not hold NaN: leave those rows out")
    ordered = np.sort(times)
    points, seen = np.unique(times[~flags], return_counts=True)
    at_risk = len(times) - np.searchsorted(ordered, points)
    with np.errstate(divide="ignore"):
        hazard = seen / np.maximum(at_risk, 1)
    if weights is not None:
        order = np.argsort(times, kind="stable")
        there = np.cumsum(weights[order][::-1])[::-1][np.searchsorted(ordered, points)]
        mass = np.bincount(np.searchsorted(points, times[~flags]), weights[~flags], len(points))
        hazard = np.minimum(mass / there, 1.0)  # equal up to rounding at the last point
    survival = np.cumprod(1.0 - hazard)
    return Distribution(points, np.asarray(1.0 - survival, np.float64), at_risk.astype(np.int64))
