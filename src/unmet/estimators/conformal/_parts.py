"""Parts of the rows that calibrate, each with an estimator and a chance that did not see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.conformal._chance import Chance, Floats
from unmet.estimators.conformal._ladder import ladder_of


@dataclass(frozen=True, eq=False)
class Part:
    """Columns of the rows, and what was learnt from other rows."""

    X: Floats
    estimator: Any
    chance: Chance


def hold_out(order: NDArray[np.intp], fraction: float, folds: int | None) -> list[NDArray[np.intp]]:
    """Return the rows of each part, from rows in random order: one share of them, or all of them in folds."""
    if folds is not None:
        return [np.sort(order[number::folds]) for number in range(folds)]
    return [np.sort(order[: min(max(1, round(fraction * len(order))), len(order) - 1)])]


def find_unit(parts: Sequence[Part], levels: tuple[float, ...]) -> float:
    """Return the unit of the steps beyond the levels: a quarter of the mean range of the quantiles."""
    ends = levels[0], levels[-1]
    spans = [np.ptp(part.estimator.predict_quantiles(part.X, ends), axis=1) for part in parts]
    return float(np.concatenate(spans).mean()) / 4 or 1.0


def join_ladders(parts: Sequence[Part], levels: tuple[float, ...], unit: float) -> Floats:
    """Return the bounds of all rows in the order of the parts, each by the estimator of its part."""
    return np.concatenate([ladder_of(part.estimator, part.X, levels, unit) for part in parts])


def join_chances(parts: Sequence[Part]) -> Chance:
    """Return the chance of rows in the order of the parts, each by that of its part."""
    ends = np.cumsum([len(part.X) for part in parts])[:-1]

    def joined(X: Floats, values: Floats) -> Floats:
        pieces = zip(parts, np.split(X, ends), np.split(values, ends))
        return np.concatenate([part.chance(rows, asked) for part, rows, asked in pieces])

    return joined
