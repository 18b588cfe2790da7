"""Units: from the user's numbers to those a network sees, and back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# The square of anything larger overflows.
_LARGEST = 1e150
# Beyond this many standard deviations an input adds nothing but the risk of overflow in float32.
_FARTHEST = 1e9


@dataclass(frozen=True)
class Scaling:
    """Affine maps of inputs and target, in float64; the network sees float32."""

    x_center: NDArray[np.float64]
    x_scale: NDArray[np.float64]
    y_center: float
    y_scale: float  # 0 if every observed value is the same

    def inputs(self, X: NDArray[np.float64]) -> NDArray[np.float32]:
        """Rows → columns (features, rows), standardised."""
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
) -> tuple[Scaling, float, float]:
    """The scaling of features (columns, rows), with the location and scale of y as the network sees it."""
    for name, values in (("X", columns), ("y", y)):
        if max(values.max(), -values.min()) > _LARGEST:
            raise ValueError(f"{name} holds values beyond {_LARGEST:g}: give it in larger units")
    weight = weight / weight.sum()
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
    if spread == 0.0 and censored:  # bounds that happen to be equal: latent values differ
        spread = abs(center) or 1.0
    return Scaling(x_center, x_scale, center, spread), 0.0, 1.0
