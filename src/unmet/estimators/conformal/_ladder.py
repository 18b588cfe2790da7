"""The ladder of bounds among which calibration chooses, and where it ended."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unmet.estimators._base import Floats

# Levels of the inner estimator; bounds are chosen between them and, beyond the last, in steps.
_LOW = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
GRID: tuple[float, ...] = (*_LOW, 0.5, *(round(1 - level, 2) for level in reversed(_LOW)))
STEPS = 25
_BETWEEN = 4


@dataclass(frozen=True)
class Bounds:
    """Where calibration ended on the ladder of bounds."""

    levels: tuple[float, ...]  # of the inner estimator, from lowest to highest rung
    unit: float  # of the steps beyond them
    lower: int  # rung of the one-sided lower bound
    lower_end: int  # rung of the lower end of the interval
    upper_end: int | None  # rung of its upper end; None if censoring hides it
    cutoff: float | None
    inner: tuple[float, ...]  # level of the inner estimator that holds for each level of the grid
    top: float | None = None  # an upper end above this is +∞: too few rows could be seen there


def common_levels(estimators: Iterable[Any]) -> tuple[float, ...]:
    """Return the levels between which bounds are chosen: of the grid, those that all estimators have."""
    usable = GRID
    for estimator in estimators:
        fitted = estimator._fitted()
        if not fitted.parametric:
            usable = tuple(level for level in usable if fitted.levels[0] <= level <= fitted.levels[-1])
    place = np.arange((len(usable) - 1) * _BETWEEN + 1) / _BETWEEN
    fine = np.interp(place, np.arange(len(usable)), usable)
    return tuple(round(float(level), 12) for level in fine)


def ladder_of(estimator: Any, X: Any, levels: tuple[float, ...], unit: float) -> Floats:
    """Return increasing bounds, shape (n, M): steps below, quantiles, steps above."""
    values = np.maximum.accumulate(estimator.predict_quantiles(X, levels), axis=1)
    steps = unit * 0.1 * np.arange(1, STEPS + 1) ** 1.5
    found = np.concatenate([values[:, :1] - steps[::-1], values, values[:, -1:] + steps], axis=1)
    return np.maximum(found, 0.0) if estimator.positive else found
