"""Scaling: from the user's units to those the network sees, and back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# The square of anything larger overflows.
_LARGEST = 1e150
# Inputs are clipped at this many standard deviations: beyond, float32 might overflow.
_FARTHEST = 1e9
# Values this many interquartile ranges beyond the quartiles do not count in full when y is standardised.
_OUTLYING = 3.0


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
            scaled = np.clip((X - self.x_center) / self.x_scale, -_FARTHEST, _FARTHEST)
        return np.ascontiguousarray(scaled.T, np.float32)

    def restore(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        return self.y_center + self.y_scale * values.astype(np.float64)


def find_scaling(
    columns: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    censored: bool,
    standardise: bool,
    robust: bool = False,
) -> tuple[Scaling, float, float]:
    """Return the scaling, and the location and scale of y in the units the network sees."""
    for name, values in (("X", columns), ("y", y)):
        if max(values.max(), -values.min()) > _LARGEST:
            raise ValueError(f"{name} has values beyond {_LARGEST:g}: use larger units")
    weight = weight / weight.sum()
    if robust:
        y = without_outliers(y, weight)
    center = float(weight @ y)
    spread = float(np.sqrt(weight @ np.square(y - center)))
    if spread <= 1e-12 * abs(center):  # one value, up to rounding
        spread = 0.0
        center = float(y[0])
    if not standardise:
        none = np.zeros(len(columns)), np.ones(len(columns))
        return Scaling(*none, 0.0, 1.0), center, spread or 1.0
    x_center = columns @ weight
    x_scale = np.sqrt(np.square(columns - x_center[:, None]) @ weight)
    x_scale[x_scale <= 1e-12 * np.abs(x_center)] = 1.0  # also where both are zero
    if spread == 0.0 and censored:  # the bounds are equal by chance; latent values differ
        spread = abs(center) or 1.0
    return Scaling(x_center, x_scale, center, spread), 0.0, 1.0


def without_outliers(y: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return y with values moved in that lie far beyond the quartiles."""
    order = np.argsort(y)
    reached = np.cumsum(weight[order])
    low, high = (y[order[np.searchsorted(reached, level)]] for level in (0.25, 0.75))
    reach = _OUTLYING * (high - low)
    return np.clip(y, low - reach, high + reach) if reach > 0 else y
