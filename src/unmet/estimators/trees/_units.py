"""Units of columns whose values a program that grows trees would take for equal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unmet.estimators.trees._arrays import Floats

# Values that differ by no more than this part of them differ by rounding.
_EQUAL = 1e-15
# A column is lost if fewer steps between its values are left than this, and fewer than half of them.
_ENOUGH = 100
# Beyond this, float32 is infinite.
_LARGEST = 3e38
# scikit-learn does not split between values that are nearer than this.
_NEAREST = 1e-7
# LightGBM takes anything smaller for zero.
_ZERO = 1e-35


@dataclass(frozen=True)
class Units:
    """Center and scale of each column: 0 and 1 in columns that need none."""

    center: Floats  # (columns,)
    scale: Floats  # (columns,)

    def of(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.clip((X - self.center) / self.scale, -_LARGEST, _LARGEST)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to save."""
        return {"units.center": self.center, "units.scale": self.scale}


def narrowed(X: Floats, units: Units | None) -> Floats:
    """Return the columns as scikit-learn's trees see them: in float32."""
    seen = np.clip(X, -_LARGEST, _LARGEST) if units is None else units.of(X)
    return seen.astype(np.float32).astype(np.float64)


def units_for_float32(X: Floats) -> Units | None:
    """Return units of the columns that scikit-learn would lose, or None if it would lose none."""
    return _find(X, lambda column: narrowed(column, None), _NEAREST)


def units_for_lightgbm(X: Floats, coded: Sequence[int]) -> Units | None:
    """Return units of the columns that LightGBM would lose, or None. Codes of categories stay."""
    return _find(X, lambda column: np.where(np.abs(column) < _ZERO, 0.0, column), 0.0, coded)


def has_values(X: Floats) -> bool:
    """Return whether LightGBM sees a value other than zero; without one it refuses the table."""
    return bool((np.abs(X) >= _ZERO).any())


def take_units(arrays: dict[str, np.ndarray], columns: int) -> Units | None:
    """Return checked units from loaded arrays, and remove these. Most models have none."""
    if "units.center" not in arrays:
        return None
    units = Units(arrays.pop("units.center"), arrays.pop("units.scale"))
    sound = all(part.shape == (columns,) and part.dtype == np.float64 for part in (units.center, units.scale))
    if not sound or (units.scale <= 0).any():
        raise ValueError("the units do not fit the columns")
    return units


def _find(
    X: Floats, seen: Callable[[Floats], Floats], nearest: float, skipped: Sequence[int] = ()
) -> Units | None:
    """Return the median and the usual distance from it for columns of which `seen` leaves too little."""
    center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    found = False
    for number in set(range(X.shape[1])).difference(skipped):
        column = np.sort(X[:, number])
        if not _lost(column, seen(column), nearest):
            continue
        middle = column[(len(column) - 1) // 2]
        with np.errstate(over="ignore"):
            away = np.minimum(np.abs(column - middle), np.finfo(np.float64).max)
        away = away[away > _EQUAL * np.abs(middle)]
        if len(away):
            center[number], scale[number], found = middle, away[np.argsort(away)[len(away) // 2]], True
    return Units(center, scale) if found else None


def _lost(column: Floats, seen: Floats, nearest: float) -> bool:
    """Return whether few of the steps between the sorted values of a column are left in what is seen."""
    size = np.maximum(np.abs(column[1:]), np.abs(column[:-1]))
    with np.errstate(over="ignore"):
        steps = np.diff(column) > _EQUAL * size
    return bool((np.diff(seen) > nearest).sum() < min(_ENOUGH, steps.sum() / 2))
