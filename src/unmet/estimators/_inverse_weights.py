"""Weights of uncensored rows by the inverse of their chance to be seen (IPCW)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, StayingUncensored
from unmet.estimators._warn import warn_user

Floats = NDArray[np.float64]
# Chances below this count as this: a few rows would decide everything.
_LEAST = 0.05
# Share of truncated rows from which `fit` warns.
_MANY = 0.01
_TREES = 100


@dataclass(frozen=True)
class InverseWeights:
    """What the weights of a fit were."""

    rows: int  # uncensored rows, which carry all weight
    largest: float  # largest weight, 1/Ĝ
    truncated: float  # share of them whose chance was below 0.05 and counts as 0.05


def inverse_weights(
    X: Floats, observed: Observed, weight: Floats | None, model: str, seed: int
) -> tuple[Floats, InverseWeights]:
    """Return δᵢ/Ĝ(yᵢ−) for right-censored rows, times the row weights, and an account of them.

    Ĝ is the chance to be still uncensored: Kaplan and Meier's estimate over all rows, or for
    model="forest" over the neighbours of each row in a forest that it did not grow.

    References
    ----------
    Robins & Rotnitzky (1992), Recovery of information and adjustment for dependent censoring.
    """
    y, censored = observed.observed, observed.censored
    weights = np.ones(len(y)) if weight is None else weight
    if model == "forest":
        from unmet.estimators.trees._neighbours import grow

        # A value seen at a point comes before a cut at that point.
        times = np.where(censored, y, np.nextafter(y, -np.inf))
        leaf = min(20, max(1, len(y) // 5))
        forest, order, grown = grow(
            X,
            times,
            ~censored,
            np.maximum(weights, 1e-12),
            n_estimators=_TREES,
            min_samples_leaf=leaf,
            max_features=1.0,
            seed=seed,
        )
        chance = np.empty(len(y))
        chance[order] = 1 - forest.out_of_bag_levels(grown)
    else:
        chance = StayingUncensored(y, censored, weights).before(y)
    seen = ~censored & (weights > 0)
    cut = float((chance[seen] < _LEAST).mean())
    chance = np.maximum(chance, _LEAST)
    report = InverseWeights(int(seen.sum()), float(1 / chance[seen].min()), cut)
    if cut > _MANY:
        warn_user(
            f"{cut:.0%} of the uncensored rows had a chance below {_LEAST} to be seen; their weights are "
            f"truncated at {1 / _LEAST:g}, and quantiles far out are too near. Use loss='censored'"
        )
    return np.where(censored, 0.0, weights / chance), report
