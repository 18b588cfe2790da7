"""Columns that carry information: scaled, independent, and the way back to the user's coefficients."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

Floats = NDArray[np.float64]

# The square of anything larger overflows.
_LARGEST = 1e150
_DEPENDENT = 1e-9


@dataclass(frozen=True)
class Design:
    """Orthogonal columns that span the intercept (if any) and the columns of X."""

    columns: Floats  # (n, r)
    kept: NDArray[np.intp]  # of the columns of [1, X] scaled
    triangle: Floats  # (r, r)
    center: Floats
    scale: Floats
    intercept: bool

    @property
    def used(self) -> NDArray[np.intp]:
        """The columns of X that are kept."""
        return self.kept[self.kept > 0] - 1 if self.intercept else self.kept

    def restore(self, found: Floats) -> tuple[Floats, Floats]:
        """Intercepts (…) and slopes (…, columns) from coefficients (…, r); dependent columns get 0."""
        flat = solve_triangular(self.triangle, found.reshape(-1, found.shape[-1]).T, check_finite=False).T
        every = np.zeros((len(flat), len(self.center) + self.intercept))
        every[:, self.kept] = flat
        slopes = every[:, int(self.intercept) :] / self.scale
        intercepts = (every[:, 0] if self.intercept else np.zeros(len(flat))) - slopes @ self.center
        shape = found.shape[:-1]
        return intercepts.reshape(shape), slopes.reshape(*shape, len(self.center))


def make_design(X: Floats, intercept: bool) -> Design:
    """Scale the columns, drop those that depend on others, and make the rest orthogonal."""
    if np.abs(X).max() > _LARGEST:
        raise ValueError(f"X holds values beyond {_LARGEST:g}: give it in larger units")
    center = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    scale = np.sqrt(np.square(X - center).mean(axis=0))
    flat = scale <= 1e-12 * np.abs(center)
    scale[flat] = 1.0
    table = (X - center) / scale
    table[:, flat & (center != 0)] = 0.0
    if intercept:
        table = np.column_stack([np.ones(len(X)), table])
    _, triangle, order = qr(table, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(size > _DEPENDENT * max(size[0], 1e-300)))
    if size[0] == 0:
        raise ValueError("X has only zeros and fit_intercept=False: there is nothing to fit")
    kept = np.sort(order[:rank])
    if intercept and 0 not in kept:  # the intercept is never the one to go
        raise ValueError("X has columns whose scales differ too much: rescale them")
    orthogonal, triangle = qr(table[:, kept], mode="economic")
    grow = np.sqrt(len(X))
    return Design(orthogonal * grow, kept, triangle / grow, center, scale, intercept)
