"""What was seen of latent values: one type for every kind of censoring."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Side = Literal["right", "left", "both"]
Kind = Literal["none", "known", "flags", "intervals"]


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Censored observations, built and checked by `observe`.

    Attributes
    ----------
    observed
        Shape (n,), finite: the latent value of an exact row, the finite end of one that is open on one side,
        and the middle of an interval.
    lower, upper
        Shape (n,). The latent value lies between them. Equal in exact rows; infinite where a row is open.
    floor, ceiling
        Shape (n,). Where each row is, or would have been, cut off below and above. Infinite for rows without
        such a point, and for all rows if thresholds are unknown.
    side
        "right" if latent values above a cap are unseen, "left" if those below one are, "both" if rows are
        open on different sides, or are intervals.
    known
        True if the censoring points of every row are known, False if only bounds or flags were given.
    """

    observed: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    floor: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    side: Side
    known: bool

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Shape (n,): whether the latent value is only bounded."""
        return self.lower < self.upper

    @property
    def direction(self) -> NDArray[np.float64]:
        """What a row tells: 0 its value, 1 a bound below it, −1 a bound above it, 2 an interval around it."""
        above, below = np.isinf(self.upper), np.isinf(self.lower)
        return np.where(above, 1.0, np.where(below, -1.0, np.where(self.censored, 2.0, 0.0)))

    @property
    def threshold(self) -> NDArray[np.float64]:
        """The known censoring points: shape (n,), or (n, 2) with floor and cap if side is "both"."""
        if self.side == "both":
            return np.column_stack([self.floor, self.ceiling])
        return self.ceiling if self.side == "right" else self.floor

    @property
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The range to which the censored loss holds a quantile: y at a censored end, else floor or cap."""
        above, below = np.isinf(self.upper), np.isinf(self.lower)
        return np.where(below, self.observed, self.floor), np.where(above, self.observed, self.ceiling)

    @property
    def cap(self) -> NDArray[np.float64]:
        """The one-sided bound on the quantile in the censored loss: y if censored, else the threshold."""
        return np.where(self.censored, self.observed, self.threshold)

    @property
    def kind(self) -> Kind:
        """The loss that applies: "none" (plain), "known" (Powell's), "flags" (Portnoy's) or "intervals"."""
        if self.censored.any():
            if self.known:
                return "known"
            return "intervals" if self.side == "both" else "flags"
        return "known" if np.isfinite(self.floor).any() or np.isfinite(self.ceiling).any() else "none"

    def mirrored(self) -> "Observed":
        """Return the same observations of −y: bounds and thresholds negated, sides swapped."""
        swapped: dict[Side, Side] = {"left": "right", "right": "left", "both": "both"}
        return Observed(
            -self.observed,
            -self.upper,
            -self.lower,
            -self.ceiling,
            -self.floor,
            swapped[self.side],
            self.known,
        )

    def take(self, index: Any) -> "Observed":
        """Return the rows of an index array, slice or mask, as if only they had been observed."""
        lower, upper = self.lower[index], self.upper[index]
        known = bool(self.known or not (lower < upper).any())
        floor, ceiling = self.floor[index], self.ceiling[index]
        return Observed(self.observed[index], lower, upper, floor, ceiling, self.side, known)

    def __len__(self) -> int:
        return len(self.observed)
