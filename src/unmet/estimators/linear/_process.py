"""A fitted linear quantile process: coefficients by level, in the user's units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearProcess:
    """Coefficients at increasing levels; only levels that the data identify."""

    levels: tuple[float, ...]
    intercepts: Floats  # (K,)
    slopes: Floats  # (K, columns)
    parametric = False

    def coefficients(self, wanted: tuple[float, ...]) -> Floats:
        """Intercept and slopes at the wanted levels, interpolated between fitted ones; NaN outside."""
        table = np.column_stack([self.intercepts, self.slopes])
        if len(self.levels) == 1:
            return np.where(np.equal(wanted, self.levels[0])[:, None], table, np.nan)
        place = np.interp(wanted, self.levels, np.arange(len(self.levels)), left=np.nan, right=np.nan)
        lower = np.minimum(np.nan_to_num(place).astype(int), len(self.levels) - 2)
        share = (place - lower)[:, None]
        between = table[lower] + share * (table[lower + 1] - table[lower])
        return np.where(share == 1, table[lower + 1], between)  # a fitted level is never rounded

    def quantiles(self, X: Floats, wanted: tuple[float, ...]) -> Floats:
        """Predicted quantiles, shape (rows, wanted)."""
        found = self.coefficients(wanted)
        # One row at a time in the sum: a row's prediction never depends on its neighbours.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.einsum("nd,kd->nk", X, found[:, 1:]) + found[:, 0]
