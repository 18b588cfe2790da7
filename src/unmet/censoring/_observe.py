"""Observed values, thresholds, flags and intervals, checked in one place."""

from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring._observed import Observed, Side

Floats = NDArray[np.float64]


def observe(
    y: ArrayLike | None = None,
    *,
    threshold: ArrayLike | None = None,
    censored: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    side: Side = "right",
) -> Observed:
    """Check that observations are consistent, and return them.

    - only y: no row is censored.
    - threshold: every threshold is known. A row is censored if y has reached its threshold.
    - censored: thresholds are unknown. Flagged rows are bounds, the others exact.
    - both: the flags say which rows are censored, the thresholds where the others would have been cut off.
    - lower and upper, without y: the latent value of each row lies between the two. Equal bounds are exact
      rows, an infinite bound leaves a side open. Thresholds are unknown, and `side` follows from the bounds.

    Parameters
    ----------
    y
        Observed values, shape (n,), finite numbers.
    threshold
        A number, or one per row; +∞ (right) or −∞ (left) for a row without one. With side="right" no y may
        lie above its threshold, with side="left" none below. With side="both" a pair (floor, cap), each a
        number or one per row; or one array of shape (n, 2).
    censored
        One boolean (or 0/1) per row.
    lower, upper
        Bounds on the latent value, one per row.
    side
        "right" if large values are cut off (demand above supply), "left" if small ones are (values below a
        detection limit), "both" for a known floor and cap.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it.

    Examples
    --------
    >>> observe([1.0, 4.0], threshold=4.0).censored.tolist()
    [False, True]
    >>> observe(lower=[1.0, 2.0], upper=[1.0, float("inf")]).side
    'right'
    """
    if side not in get_args(Side):
        raise ValueError(f'side must be "right", "left" or "both", got {side!r}')
    if lower is not None or upper is not None:
        if y is not None or threshold is not None or censored is not None:
            raise ValueError("lower and upper say all: leave out y, threshold and censored (y=None)")
        if lower is None or upper is None:
            raise ValueError("give lower and upper together: -inf or +inf for a row that is open on one side")
        return _between(lower, upper)
    values = _numbers(y, "y")
    if values.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {values.shape}")
    n = values.size
    if n == 0:
        raise ValueError("y has no rows")
    if not np.isfinite(values).all():
        raise ValueError("y must be finite: remove the rows with NaN or infinity")
    if side == "both":
        return _doubly(values, threshold, censored)

    flags = None if censored is None else _flags(censored, n)
    known = True
    if threshold is None:
        limits = np.full(n, np.inf if side == "right" else -np.inf)
        known = flags is None or not flags.any()
    else:
        limits = _limits(threshold, values, side)
    if flags is None:
        flags = values == limits
    if side == "right":
        upper = np.where(flags, np.inf, values)
        return Observed(values, values, upper, np.full(n, -np.inf), limits, side, bool(known))
    lower = np.where(flags, -np.inf, values)
    return Observed(values, lower, values, limits, np.full(n, np.inf), side, bool(known))


def _between(lower: ArrayLike, upper: ArrayLike) -> Observed:
    """Return rows that are known by their bounds."""
    low, high = _numbers(lower, "lower"), _numbers(upper, "upper")
    if low.ndim != 1 or low.shape != high.shape:
        raise ValueError(f"lower and upper must hold one bound per row each, got {low.shape}, {high.shape}")
    if not low.size:
        raise ValueError("lower has no rows")
    if np.isnan(low).any() or np.isnan(high).any():
        raise ValueError("lower or upper has NaN: use -inf or +inf for an open side")
    wrong = (low > high) | (low == np.inf) | (high == -np.inf)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"lower lies above upper in {int(wrong.sum())} rows, first at row {first} "
            f"({low[first]:g} and {high[first]:g}): swap them"
        )
    open_below, open_above = np.isinf(low), np.isinf(high)
    if (open_below & open_above).any():
        first = int(np.argmax(open_below & open_above))
        raise ValueError(f"lower and upper are both infinite at row {first}: it tells nothing, leave it out")
    closed = ~open_below & ~open_above
    middle = np.where(open_below, high, low)
    middle[closed] += (high[closed] - low[closed]) / 2
    censored = low < high
    side: Side = "both"
    if not (censored & ~open_above).any():
        side = "right"
    elif not (censored & ~open_below).any():
        side = "left"
    nowhere = np.full(low.size, np.inf)
    return Observed(middle, low, high, -nowhere, nowhere, side, not censored.any())


def _doubly(y: Floats, threshold: Any, censored: Any) -> Observed:
    """Return rows with a known floor and a known cap."""
    if censored is not None:
        raise ValueError("censored does not say on which side: give lower= and upper= instead of y")
    if threshold is None:
        raise ValueError('side="both" needs threshold=(floor, cap), or lower= and upper= instead of y')
    given = isinstance(threshold, tuple) or (isinstance(threshold, list) and len(threshold) == 2)
    pair: Any = threshold if given else _numbers(threshold, "threshold")
    if isinstance(pair, np.ndarray) and pair.ndim == 2:
        pair = pair.T  # an array holds one row per row of y
    if (isinstance(pair, np.ndarray) and pair.ndim == 0) or len(pair) != 2:
        raise ValueError(
            f'threshold must be a pair (floor, cap) or have shape ({y.size}, 2) with side="both", '
            f"got {np.shape(threshold)}"
        )
    floor, ceiling = _limits(pair[0], y, "left"), _limits(pair[1], y, "right")
    if (floor == ceiling).any():
        first = int(np.argmax(floor == ceiling))
        raise ValueError(f"threshold: floor and cap are equal at row {first}, so it tells nothing")
    lower = np.where(y == floor, -np.inf, y)
    upper = np.where(y == ceiling, np.inf, y)
    return Observed(y, lower, upper, floor, ceiling, "both", True)


def refuse_mask(array: Any, name: str) -> None:
    """Raise ValueError for a masked array: NumPy would drop the mask and use what is under it."""
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, and its mask would be lost: select the rows first")


def _numbers(array: Any, name: str) -> NDArray[np.float64]:
    """Return a float64 copy, so that later changes to the caller's array have no effect."""
    refuse_mask(array, name)
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
    other, small = ("left", "small values are cut off") if side == "right" else ("right", "large values are")
    turned = (y >= limits if side == "right" else y <= limits).all()
    remedy = f'; use side="{other}" if {small}' if turned else ""
    raise ValueError(
        f"threshold contradicts y in {int(np.count_nonzero(~sound))} rows: with side={side!r} no y may lie "
        f"{beyond} its threshold, first at row {first} (y {y[first]:g}, threshold {limits[first]:g}){remedy}"
    )


def _flags(censored: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Return one boolean per row."""
    refuse_mask(censored, "censored")
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
