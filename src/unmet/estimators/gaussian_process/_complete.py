"""Values in place of bounds and of missing outputs, from the predictive distribution."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed
from unmet.estimators.gaussian_process._fitted import FittedProcess

Floats = NDArray[np.float64]
# Points of the average over the unseen part of an entry, and rows at a time.
_POINTS, _BLOCK = 100, 512


def complete_mixture(
    fitted: FittedProcess,
    X: Floats,
    found: list[tuple[Any, Observed]],
    draws: int | None,
    random: np.random.RandomState,
    positive: bool,
) -> Floats:
    """Return exact entries as they are and, for others, the mean or draws between their bounds.

    With `positive`, values below zero count as zero.
    """
    least = 0.0 if positive else -np.inf
    lower, upper = (np.full((len(X), len(found)), end) for end in (-np.inf, np.inf))
    for number, (present, observed) in enumerate(found):
        lower[present, number], upper[present, number] = observed.lower, observed.upper
    shape = lower.shape if draws is None else (*lower.shape, draws)
    filled = np.empty(shape)
    for begin in range(0, len(X), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        low, high = lower[part], upper[part]
        open_ = low < high
        filled[part] = low if draws is None else low[..., None]
        if not open_.any():
            continue
        mixture = fitted.mixture(X[part])
        # P(Y < lower) and P(Y ≤ upper); infinite bounds would give NaN inside.
        start = np.where(np.isfinite(low), mixture.below(np.where(np.isfinite(low), low, 0.0))[0], 0.0)
        end = np.where(np.isfinite(high), mixture.below(np.where(np.isfinite(high), high, 0.0))[1], 1.0)
        count = _POINTS if draws is None else draws
        share = (
            (np.arange(count) + 0.5) / count if draws is None else random.uniform(size=(*low.shape, count))
        )
        levels = np.clip(start[..., None] + share * (end - start)[..., None], 1e-12, 1 - 1e-12)
        values = np.clip(np.maximum(mixture.quantiles(levels), least), low[..., None], high[..., None])
        if draws is None:
            filled[part] = np.where(open_, values.mean(axis=-1), low)
        else:
            filled[part] = np.where(open_[..., None], values, low[..., None])
    return filled
