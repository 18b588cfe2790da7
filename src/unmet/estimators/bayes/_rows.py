"""The rows as the samplers see them: independent columns, y in its own spread, and the way back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed
from unmet.estimators._rows import canonical_rows
from unmet.estimators.linear._design import make_design

Floats = NDArray[np.float64]

_LARGEST = 1e150
# A value that lies between bounds this close, in spreads of y, counts as seen.
_NARROW = 1e-9


@dataclass(frozen=True)
class Working:
    """Rows of right-censored, two-sided or interval data in working units.

    Coefficients here belong to orthogonal columns of mean square one, and to (y − center) / spread.
    """

    columns: Floats  # (n, r)
    y: Floats  # (n,)
    lower: Floats  # (n,): the latent value lies between these
    upper: Floats
    floor: Floats  # (n,): Powell's loss holds the quantile between these
    cap: Floats
    weights: Floats  # (n,): how many rows each stands for
    back: Floats  # (1 + columns of X, r): from working coefficients to intercept and slopes
    center: float
    spread: float

    def restore(self, found: Floats) -> Floats:
        """Return intercept and slopes (…, 1 + columns of X) from working coefficients (…, r)."""
        users = self.spread * (found @ self.back.T)
        users[..., 0] += self.center
        return users

    def restore_covariance(self, found: Floats) -> Floats:
        """Return the covariance of intercept and slopes from that of working coefficients."""
        return self.spread**2 * (self.back @ found @ self.back.T)

    def working(self, users: Floats, X: Floats) -> Floats:
        """Return working coefficients (K, r) of intercepts and slopes (K, 1 + columns), by projection."""
        fitted = (X @ users[:, 1:].T + users[:, 0] - self.center) / self.spread
        return fitted.T @ self.columns / len(self.columns)


def working_rows(
    X: Floats, observed: Observed, weight: Floats | None, intercept: bool
) -> tuple[Working, NDArray[np.intp]]:
    """Return canonical rows in working units, and which rows they are. Equal rows are merged."""
    if np.abs(observed.observed).max() > _LARGEST:
        raise ValueError(f"y holds values beyond {_LARGEST:g}: give it in larger units")
    floor, cap = observed.limits
    own = [observed.observed, observed.lower, observed.upper, floor, cap]
    index, share = canonical_rows(X, own, weight)
    total = float(len(observed) if weight is None else weight.sum())
    y, lower, upper, floor, cap = (column[index] for column in own)
    design = make_design(X[index], intercept)
    center = float(share @ y) if intercept else 0.0
    spread = float(np.sqrt(share @ np.square(y - center))) or 1.0
    intercepts, slopes = design.restore(np.eye(design.columns.shape[1]))
    back = np.column_stack([intercepts, slopes]).T
    y, lower, upper, floor, cap = ((column - center) / spread for column in (y, lower, upper, floor, cap))
    narrow = upper - lower <= _NARROW
    limits = (np.where(narrow, y, lower), np.where(narrow, y, upper), floor, cap)
    return Working(design.columns, y, *limits, share * total, back, center, spread), index
