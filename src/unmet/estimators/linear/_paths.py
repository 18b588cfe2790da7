"""What the exact methods are given and give back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """Rows in general position, and the levels to fit. Only Powell's method takes a floor.

    The columns of X are independent and of similar size; no p + 1 rows lie on one hyperplane.
    """

    X: Floats  # (n, p)
    y: Floats  # (n,)
    floor: Floats  # (n,): y where left-censored, otherwise the known threshold or −∞
    cap: Floats  # (n,): y where right-censored, otherwise the known threshold or +∞
    censored: NDArray[np.bool_]  # (n,)
    levels: tuple[float, ...]  # increasing


class Path:
    """The p rows that each of R processes fits exactly at each level, and where each process ends."""

    def __init__(self, runs: int, levels: int, columns: int) -> None:
        self.bases = np.zeros((runs, levels, columns), np.intp)
        self.reached = np.zeros((runs, levels), bool)

    def coefficients(self, X: Floats, y: Floats) -> Floats:
        """Coefficients (R, K, p); NaN at levels that a process did not reach."""
        found = np.full(self.bases.shape, np.nan)
        rows = self.bases[self.reached]
        if len(rows):
            found[self.reached] = np.linalg.solve(X[rows], y[rows][..., None])[..., 0]
        return found
