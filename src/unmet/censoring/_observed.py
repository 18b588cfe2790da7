"""What was seen: observed values, thresholds and censored flags, validated in one place."""

from dataclasses import dataclass
from typing import Any, Literal

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
        Shape (n,), finite. Where a row is censored it is a bound: the latent value lies at or beyond it.
    threshold
        Shape (n,): the known censoring point of each row; +∞ (right) or −∞ (left) where there is none, and
        everywhere if thresholds are not known.
    censored
        Shape (n,), boolean.
    side
        "right": latent values above the cap are unseen. "left": below.
    known
        Whether the censoring point of every row is known. False if only flags were given.
    """

    observed: NDArray[np.float64]
    threshold: NDArray[np.float64]
    censored: NDArray[np.bool_]
    side: Side
    known: bool

    @property
    def cap(self) -> NDArray[np.float64]:
        """Where the quantile is held in the censored loss: y where a row is censored, else its threshold."""
        return np.where(self.censored, self.observed, self.threshold)

    @property
    def kind(self) -> Kind:
        """Which loss applies: "none" (plain), "known" (printed equation) or "flags" (Portnoy's weights)."""
        if self.censored.any():
            return "known" if self.known else "flags"
        return "known" if np.isfinite(self.threshold).any() else "none"

    def mirrored(self) -> "Observed":
        """The same observations of −y: values and thresholds negated, the other side."""
        side: Side = "left" if self.side == "right" else "right"
        return Observed(-self.observed, -self.threshold, self.censored, side, self.known)

    def take(self, index: Any) -> "Observed":
        """The chosen rows (index array, slice or boolean mask), equal to observing those rows alone."""
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
    side: str = "right",
) -> Observed:
    """Say what was seen, and check that it is consistent.

    - nothing else given: no row is censored.
    - threshold: known for every row; a row is censored where y has reached its threshold.
    - censored: thresholds unknown; censored rows are bounds, the others exact. No flag set: no row is
      censored.
    - both: the flags say which rows are censored, the thresholds where the others would have been.

    Parameters
    ----------
    y
        Observed values, shape (n,), finite numbers.
    threshold
        A number, or one per row; +∞ (right) or −∞ (left) for a row without one. On the right no y may lie
        above its threshold, on the left none below.
    censored
        One boolean (or 0/1) per row.
    side
        "right" if large values are cut off (demand above supply), "left" if small ones are (detection
        limits).

    Raises
    ------
    ValueError
        That names the argument at fault.

    Examples
    --------
    >>> observe([1.0, 4.0], threshold=4.0).censored.tolist()
    [False, True]
    """
    if side not in ("right", "left"):
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
    return Observed(values, limits, flags, side, bool(known))  # type: ignore[arg-type]


def _numbers(array: Any, name: str) -> NDArray[np.float64]:
    """A float64 copy, so that later changes to the caller's array change nothing here."""
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, whose mask would be lost: select the rows first")
    found = np.asarray(array)
    if found.dtype == np.float64:
        return found.copy()
    if found.dtype.kind not in "iufO":
        raise ValueError(f"{name} must be numeric, got dtype {found.dtype}")
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}") from None


def _limits(threshold: ArrayLike, y: NDArray[np.float64], side: str) -> NDArray[np.float64]:
    """One threshold per row that no y contradicts."""
    limits = _numbers(threshold, "threshold")
    if limits.ndim == 0:
        limits = np.full(y.size, limits)
    if limits.shape != y.shape:
        raise ValueError(
            f"threshold must be a number or one per row of y ({y.size}), got shape {limits.shape}"
        )
    # One comparison passes every sound input: NaN and the wrong infinity fail it too.
    sound = y <= limits if side == "right" else y >= limits
    if not sound.all():
        _explain(limits, y, sound, side)
    return limits


def _explain(
    limits: NDArray[np.float64], y: NDArray[np.float64], sound: NDArray[np.bool_], side: str
) -> None:
    """Raise the error that tells why a threshold was refused."""
    if np.isnan(limits).any():
        raise ValueError("threshold has NaN: use +inf (right) or -inf (left) for a row without a threshold")
    none, wrong, beyond = ("+inf", "-inf", "above") if side == "right" else ("-inf", "+inf", "below")
    if (limits == (-np.inf if side == "right" else np.inf)).any():
        raise ValueError(f'threshold {wrong} hides every value when side="{side}"; no threshold is {none}')
    first = int(np.argmin(sound))
    raise ValueError(
        f"threshold contradicts y in {int(np.count_nonzero(~sound))} rows: with side={side!r} no y may lie "
        f"{beyond} its threshold, first at row {first} (y {y[first]:g}, threshold {limits[first]:g})"
    )


def _flags(censored: ArrayLike, n: int) -> NDArray[np.bool_]:
    """One boolean per row."""
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
