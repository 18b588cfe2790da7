"""The chance that a row is not cut off before a value, estimated from other rows or given."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, StayingUncensored
from unmet.estimators.trees._neighbours import grow

Floats = NDArray[np.float64]
Chance = Callable[[Floats, Floats], Floats]  # X and values (n, M) → P(C ≥ value | x), (n, M)

_TREES = 100
_BLOCK = 2**22


def find_chance(kind: Any, X: Floats, seen: Observed, share: Floats, seed: int) -> Chance:
    """Return P(C ≥ c | x) from right-censored rows: given, of all rows, or of neighbours in a forest.

    Rows count by their `share`. Known thresholds are all seen themselves; otherwise a threshold is cut off by
    the value.
    """
    if callable(kind):

        def given(X: Floats, values: Floats) -> Floats:
            found = np.column_stack([np.asarray(kind(X, column), np.float64) for column in values.T])
            if found.shape != values.shape or not ((found >= 0) & (found <= 1)).all():
                raise ValueError("censoring must return one probability per row, P(C >= value | x)")
            return found

        return given
    if seen.known:
        cut, hidden = seen.limits[1], np.zeros(len(seen), bool)
        finite = np.isfinite(cut)
        if not finite.any():
            return lambda X, values: np.ones(values.shape)
        cut = np.where(finite, cut, np.abs(cut[finite]).max() * 2 + 1)
    else:
        hidden = ~seen.censored
        cut = np.where(hidden, np.nextafter(seen.observed, -np.inf), seen.observed)
    if kind == "kaplan-meier":
        law = StayingUncensored(cut, ~hidden, share)
        return lambda X, values: law.before(values)
    forest, _, _ = grow(
        X,
        cut,
        hidden,
        share,
        n_estimators=_TREES,
        min_samples_leaf=min(20, max(1, len(X) // 5)),
        max_features=1.0,
        seed=seed,
    )

    def estimated(X: Floats, values: Floats) -> Floats:
        found = np.empty(values.shape)
        size = max(1, _BLOCK // len(forest.y))
        for begin in range(0, len(X), size):
            rows = slice(begin, begin + size)
            levels = forest.distribution(forest.weights(forest.leaves_of(X[rows])))
            place = np.searchsorted(forest.y, values[rows])  # cuts strictly below the value
            padded = np.column_stack([np.zeros(len(levels)), levels])
            found[rows] = 1 - np.take_along_axis(padded, place, axis=1)
        return found

    return estimated
