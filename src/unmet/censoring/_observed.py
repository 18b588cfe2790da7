"""Observed values, thresholds and censored flags, checked in one place."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Side = Literal["right", "left"]
Kind = Literal["none", "known", "flags"]


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Censored observations, built and checked by `observe`.

    Attributes
    ----------
    observed
        Shape (n,), finite. In a censored row this is a bound: the latent value lies at or beyond it.
    threshold
        Shape (n,). The known censoring point of each row; +∞ (right) or −∞ (left) for rows without one, and
        for all rows if thresholds are unknown.
    censored
        Shape (n,), boolean.
    side
        "right" if latent values above the cap are unseen, "left" if those below it are.
    known
        True if the censoring point of every row is known, False if only flags were given.
    """

    observed: NDArray[np.float64]
    threshold: NDArray[np.float64]
    censored: NDArray[np.bool_]
    side: Side
    known: bool

    @property
    def cap(self) -> NDArray[np.float64]:
        """The bound on the quantile in the censored loss: y in a censored row, else the row's threshold."""
        return np.where(self.censored, self.observed, self.threshold)

    @property
    def kind(self) -> Kind:
        """The loss that applies: "none" (plain), "known" (Powell's) or "flags" (Portnoy's weights)."""
        if self.censored.any():
            return "known" if self.known else "flags"
        return "known" if np.isfinite(self.threshold).any() else "none"

    def mirrored(self) -> "Observed":
        """Return the same observations of −y: values and thresholds negated, side swapped."""
        side: Side = "left" if self.side == "right" else "right"
        return Observed(-self.observed, -self.threshold, self.censored, side, self.known)

    def take(self, index: Any) -> "Observed":
        """Return the rows of an index array, slice or mask, as if only they had been observed."""
        censored = self.censored[index]
        known = self.known or not censored.any()
        return Observed(self.observed[index], self.threshold[index], censored, self.side, bool(known))

    def __len__(self) -> int:
        return len(self.observed)


def observe(
    y: ArrayLike,
    *,
    threshold: ArrayLike | None = None,
    censored: ArrayLike | None = None,
    side: Side = "right",
) -> Observed:
    """Check that observations are consistent, and return them.

    - only y: no row is censored.
    - threshold: every threshold is known. A row is censored if y has reached its threshold.
    - censored: thresholds are unknown. Flagged rows are bounds, the others exact.
    - both: the flags say which rows are censored, the thresholds where the others would have been cut off.

    Parameters
    ----------
    y
        Observed values, shape (n,), finite numbers.
    threshold
        A number, or one per row; +∞ (right) or −∞ (left) for a row without one. With side="right" no y may
        lie above its threshold, with side="left" none below.
    censored
        One boolean (or 0/1) per row.
    side
        "right" if large values are cut off (demand above supply), "left" if small ones are (values below a
        detection limit).

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it.

    Examples
    --------
    >>> observe([1.0, 4.0], threshold=4.0).censored.tolist()
    [False, True]
    """
    if side not in get_args(Side):
        raise ValueError(f'side must be "right" or "left", got {side!r}')
    values = _numbers(y, "y")
    if values.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {values.shape}")
    n = values.size
    if n == 0:
        raise ValueError("y has no rows")
    if not np.isfinite(values).all():
        raise ValueError("y must be finite: remove the rows with NaN or infinity")

    flags = None if censored is None else _flags(censored, n)
    known = True
    if threshold is None:
        limits = np.full(n, np.inf if side == "right" else -np.inf)
        known = flags is None or not flags.any()
    else:
        limits = _limits(threshold, values, side)
    if flags is None:
        flags = values == limits
    return Observed(values, limits, flags, side, bool(known))


def _numbers(array: Any, name: str) -> NDArray[np.float64]:
    """Return a float64 copy, so that later changes to the caller's array have no effect."""
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, and its mask would be lost: select the rows first")
    found = np.asarray(array)
    if found.dtype == np.float64:
        return found.copy()
    if found.dtype.kind not in "iufO":
        raise ValueError(f"{name} must be numeric, got dtype {found.dtype}")
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}") from None


def _limits(threshold: ArrayLike, y: NDArray[np.float64], side: Side) -> NDArray[np.float64]:
    """Return one threshold per row, or raise if a y contradicts its threshold."""
    limits = _numbers(threshold, "threshold")
    if limits.ndim == 0:
        limits = np.full(y.size, limits)
    if limits.shape != y.shape:
        raise ValueError(
            f"threshold must be a number or one per row of y ({y.size}), got shape {limits.shape}"
        )
    # One comparison accepts every sound input; NaN and the wrong infinity fail it too.
    sound = y <= limits if side == "right" else y >= limits
    if not sound.all():
        _explain(limits, y, sound, side)
    return limits


def _explain(
    limits: NDArray[np.float64], y: NDArray[np.float64], sound: NDArray[np.bool_], side: Side
) -> None:
    """Raise the error that says why a threshold was refused."""
    if np.isnan(limits).any():
        raise ValueError("threshold has NaN: use +inf (right) or -inf (left) for a row without a threshold")
    none, wrong, beyond = ("+inf", "-inf", "above") if side == "right" else ("-inf", "+inf", "below")
    if (limits == (-np.inf if side == "right" else np.inf)).any():
        raise ValueError(
            f'threshold {wrong} hides every value when side="{side}": use {none} for rows without a threshold'
        )
    first = int(np.argmin(sound))
    raise ValueError(
        f"threshold contradicts y in {int(np.count_nonzero(~sound))} rows: with side={side!r} no y may lie "
        f"{beyond} its threshold, first at row {first} (y {y[first]:g}, threshold {limits[first]:g})"
    )


def _flags(censored: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Return one boolean per row."""
    found = np.asarray(censored)
    if found.shape != (n,):
        raise ValueError(f"censored must hold one flag per row of y ({n}), got shape {found.shape}")
    if found.dtype == np.bool_:
        return found.copy()
    values = _numbers(censored, "censored")
    flags = values == 1
    if not (flags | (values == 0)).all():
        raise ValueError("censored must be boolean or 0/1")
    return flags
