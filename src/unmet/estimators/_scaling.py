"""Scaling: from the user's units to those the network sees, and back."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The square of anything larger overflows, that of a spread below the other end is lost.
_LARGEST, _SMALLEST = 1e150, 1e-150
# Inputs are clipped at this many standard deviations: beyond, float32 might overflow.
FARTHEST = 1e9
# Values this many interquartile ranges beyond the quartiles do not count in full when y is standardised.
_OUTLYING = 3.0
# Quartiles closer than this share of the whole range are equal: in units of them float32 might overflow.
_EQUAL = 1e-15


@dataclass(frozen=True)
class Scaling:
    """Affine maps of inputs and target in float64. The network sees float32."""

    x_center: NDArray[np.float64]
    x_scale: NDArray[np.float64]
    y_center: float
    y_scale: float  # 0 if every observed value is the same

    def inputs(self, X: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return standardised columns (features, rows) of the rows."""
        with np.errstate(over="ignore"):
            scaled = np.clip((X - self.x_center) / self.x_scale, -FARTHEST, FARTHEST)
        return np.ascontiguousarray(scaled.T, np.float32)

    def restore(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        return self.y_center + self.y_scale * values.astype(np.float64)


@dataclass(frozen=True)
class Units:
    """The scalings of a stack of problems, and how y looks in the units the networks see."""

    x_center: Floats  # (problems, columns)
    x_scale: Floats
    y_center: Floats  # (problems,)
    y_scale: Floats
    location: Floats
    scale: Floats

    def scaling(self, number: int) -> Scaling:
        y = float(self.y_center[number]), float(self.y_scale[number])
        return Scaling(self.x_center[number], self.x_scale[number], *y)


def find_units(
    blocks: Callable[[], Iterator[tuple[slice, Floats]]],
    y: Floats,
    weight: Floats,
    censored: NDArray[np.bool_],
    standardise: bool,
) -> Units:
    """Return the scalings of problems that share row weights, which sum to one.

    Sums run along the rows of one problem, so that they do not depend on the others.

    Parameters
    ----------
    blocks : yields rows and the columns there, (problems, columns, rows).
    y : array (problems, rows)
    censored : array (problems,): whether a problem has censored rows.
    """
    _check_size("y", y)
    center = np.sum(y * weight, axis=1)
    spread = np.sqrt(np.sum(np.square(y - center[:, None]) * weight, axis=1))
    flat = spread <= np.maximum(1e-12 * np.abs(center), _SMALLEST)  # one value, up to rounding
    spread[flat], center[flat] = 0.0, y[flat, 0]
    x_center: Floats = np.zeros(1)
    for rows, columns in blocks():
        _check_size("X", columns)
        x_center = x_center + np.sum(columns * weight[rows], axis=2)
    if not standardise:
        none = np.zeros_like(x_center), np.ones_like(x_center), np.zeros_like(center), np.ones_like(center)
        return Units(*none, center, np.where(flat, 1.0, spread))
    x_scale: Floats = np.zeros(1)
    for rows, columns in blocks():
        x_scale = x_scale + np.sum(np.square(columns - x_center[:, :, None]) * weight[rows], axis=2)
    x_scale = np.sqrt(x_scale)
    x_scale[x_scale <= 1e-12 * np.abs(x_center)] = 1.0  # also where both are zero
    # Bounds that are equal by chance: latent values differ.
    spread = np.where(flat & censored, np.where(np.abs(center) <= _SMALLEST, 1.0, np.abs(center)), spread)
    return Units(x_center, x_scale, center, spread, np.zeros_like(center), np.ones_like(center))


def units_of(scaling: Scaling) -> Units:
    """Return the scaling of one problem, for networks that are trained already."""
    y = np.array([scaling.y_center]), np.array([scaling.y_scale])
    return Units(scaling.x_center[None], scaling.x_scale[None], *y, np.zeros(1), np.ones(1))


def _check_size(name: str, values: Floats) -> None:
    if max(values.max(), -values.min()) > _LARGEST:
        raise ValueError(f"{name} has values beyond {_LARGEST:g}: use larger units")


def without_outliers(y: Floats, weight: Floats) -> Floats:
    """Return y, (problems, rows), with values moved in that lie far beyond the quartiles."""
    order = np.argsort(y, axis=1, kind="stable")
    reached = np.cumsum(weight[order], axis=1)
    ends = []
    for level in (0.25, 0.75):
        place = np.minimum(np.count_nonzero(reached < level, axis=1), y.shape[1] - 1)
        ends.append(np.take_along_axis(y, np.take_along_axis(order, place[:, None], axis=1), axis=1))
    low, high = ends
    span = y.max(axis=1, keepdims=True) - y.min(axis=1, keepdims=True)
    reach = np.where(high - low > _EQUAL * span, _OUTLYING * (high - low), np.inf)
    return np.clip(y, low - reach, high + reach)
