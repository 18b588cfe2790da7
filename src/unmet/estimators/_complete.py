"""From predicted quantiles to draws: samples of the latent value, and values in place of bounds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed

Floats = NDArray[np.float64]

# Levels asked of a model that has a quantile at every level.
_LEVELS = tuple(round(0.01 * step, 2) for step in range(1, 100))
# Points of the average over the unseen part of a row.
_POINTS = 200
# Beyond these normal scores nothing is drawn.
_FARTHEST = 5.0


class QuantileFunction:
    """Predicted quantiles of n rows, linear in normal scores between levels and beyond the last."""

    def __init__(self, model: Any, X: Floats) -> None:
        from scipy.special import ndtri

        fitted = model._fitted()
        levels = _LEVELS if fitted.parametric else fitted.levels
        if len(levels) < 2:
            raise ValueError("one quantile is no distribution: fit with quantiles= of several levels")
        self.scores = ndtri(np.asarray(levels))
        # Rearranged where quantiles cross (Chernozhukov, Fernández-Val & Galichon, 2010).
        self.values = np.sort(model._quantiles(X, tuple(levels)), axis=1)
        self.least = 0.0 if model.positive else -np.inf

    def score(self, bounds: Floats) -> Floats:
        """Return the normal score of one value per row; infinite for infinite ones."""
        finite = np.isfinite(bounds)
        at = np.where(finite, bounds, self.values[:, 0])
        place = np.clip((self.values <= at[:, None]).sum(axis=1) - 1, 0, len(self.scores) - 2)
        row = np.arange(len(at))
        low, high = self.values[row, place], self.values[row, place + 1]
        share = (at - low) / np.where(high > low, high - low, 1.0)
        found = self.scores[place] + share * (self.scores[place + 1] - self.scores[place])
        return np.where(finite, np.clip(found, -_FARTHEST, _FARTHEST), np.sign(bounds) * _FARTHEST)

    def value(self, levels: Floats) -> Floats:
        """Return the quantiles of each row at its levels, shape (n, m)."""
        from scipy.special import ndtri

        scores = np.clip(ndtri(levels), -_FARTHEST, _FARTHEST)
        place = np.clip(np.searchsorted(self.scores, scores, side="right") - 1, 0, len(self.scores) - 2)
        low = np.take_along_axis(self.values, place, axis=1)
        high = np.take_along_axis(self.values, place + 1, axis=1)
        share = (scores - self.scores[place]) / (self.scores[place + 1] - self.scores[place])
        return np.maximum(low + share * (high - low), self.least)


def complete_rows(
    model: Any, X: Floats, observed: Observed, draws: int | None, random: np.random.RandomState
) -> Floats:
    """Return exact rows as they are and, for censored ones, the mean or draws between their bounds."""
    from scipy.special import ndtr

    filled = observed.observed if draws is None else np.repeat(observed.observed[:, None], draws, axis=1)
    rows = np.flatnonzero(observed.censored)
    if not len(rows):
        return filled.copy()
    law = QuantileFunction(model, X[rows])
    lower, upper = observed.lower[rows], observed.upper[rows]
    begin, end = ndtr(law.score(lower)), ndtr(law.score(upper))
    if draws is None:
        share: Any = np.tile((np.arange(_POINTS) + 0.5) / _POINTS, (len(rows), 1))
    else:
        share = random.uniform(size=(len(rows), draws))
    values = law.value(begin[:, None] + share * (end - begin)[:, None])
    values = np.clip(values, lower[:, None], upper[:, None])  # only rounding could lead outside
    found = filled.copy()
    found[rows] = values.mean(axis=1) if draws is None else values
    return found
