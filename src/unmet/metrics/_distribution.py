"""Do predicted distributions hold for right-censored rows? D-calibration and Kaplan–Meier calibration."""

import numpy as np
from numpy.typing import ArrayLike

from unmet.censoring import kaplan_meier
from unmet.metrics._arrays import Floats, numbers
from unmet.metrics._right_censored import right_censored

_ROUNDING = 1e-9


def predicted_levels(
    y: ArrayLike, quantile_values: ArrayLike, thetas: ArrayLike, *, before: bool = False
) -> Floats:
    """F̂(yᵢ | xᵢ): the level at which each row's predicted quantiles meet y, shape (n,).

    Levels between two quantiles are interpolated. Below the lowest quantile only a range is known, and half
    the lowest level is given; above the highest, the middle between it and 1. Where several quantiles equal y
    the predicted distribution has a step there: this is its upper end, and with before=True its lower end,
    F̂(y− | x).

    Examples
    --------
    >>> predicted_levels([2.0, 9.0], [[1.0, 3.0], [1.0, 3.0]], [0.25, 0.75]).tolist()
    [0.5, 0.875]
    """
    values, curves, levels = (
        numbers(y, "y"),
        numbers(quantile_values, "quantile_values"),
        numbers(thetas, "thetas"),
    )
    if values.ndim != 1 or levels.ndim != 1 or curves.shape != (values.size, levels.size) or not levels.size:
        raise ValueError(
            "y must have shape (n,), thetas (K,) and quantile_values (n, K), "
            f"got {values.shape}, {levels.shape} and {curves.shape}"
        )
    if not ((levels > 0) & (levels < 1)).all() or (np.diff(levels) <= 0).any():
        raise ValueError("thetas must lie inside (0, 1) and increase")
    curves = np.maximum.accumulate(curves, axis=1)
    at = values[:, None]
    place = (curves < at if before else curves <= at).sum(axis=1)  # quantiles below y, or at it
    below, above = np.maximum(place - 1, 0), np.minimum(place, levels.size - 1)
    row = np.arange(values.size)
    low, high = curves[row, below], curves[row, above]
    share = np.divide(values - low, high - low, out=np.zeros(values.size), where=high > low)
    found = levels[below] + share * (levels[above] - levels[below])
    found = np.where(place == 0, levels[0] / 2, found)
    beyond = (place == levels.size) & (values > curves[:, -1])
    return np.where(beyond, (1 + levels[-1]) / 2, found)


def calibration_shares(
    levels: ArrayLike, censored: ArrayLike, bins: int = 10, *, before: ArrayLike | None = None
) -> Floats:
    """Share of the rows whose level F̂(y | x) lies in each of `bins` equal parts of (0, 1); ideally 1/bins.

    A censored row with level F has its latent value above: its weight is spread evenly over (F, 1), so that
    the rest of its own part gets (upper − F)/(1 − F) of it and each higher part (1/bins)/(1 − F).

    A predicted distribution with steps, of counts or of a forest, is seldom even by this rule when it is
    right: a value at a step has all levels of it. Give the lower ends in `before`, and an uncensored row is
    spread evenly from F̂(y− | x) to F̂(y | x).

    References
    ----------
    Haider, Hoehn, Davis & Greiner (2020), Effective ways to build and evaluate individual survival
    distributions, J. Mach. Learn. Res. 21. Steps: Czado, Gneiting & Held (2009), Predictive model assessment
    for count data, Biometrics 65.

    Examples
    --------
    >>> calibration_shares([0.1, 0.6, 0.5], [False, False, True], bins=2).tolist()
    [0.3333333333333333, 0.6666666666666666]
    >>> calibration_shares([1.0], [False], bins=2, before=[0.25]).round(3).tolist()
    [0.333, 0.667]
    """
    found, flags = right_censored(levels, censored)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("levels must lie between 0 and 1")
    lowest = found if before is None else numbers(before, "before")
    if lowest.shape != found.shape or not ((lowest >= 0) & (lowest <= found)).all():
        raise ValueError("before must have one level per row, between 0 and that of levels")
    if not isinstance(bins, (int, np.integer)) or isinstance(bins, bool) or bins < 2:
        raise ValueError(f"bins must be a whole number of at least 2, not {bins!r}")
    step = ~flags & (lowest < found)
    point = found[~flags & ~step]
    counts = np.bincount(np.minimum((point * bins).astype(int), bins - 1), minlength=bins).astype(np.float64)
    upper = np.arange(1, bins + 1) / bins
    wide = flags | step
    low = np.where(flags, found, lowest)[wide][:, None]
    high = np.where(flags, 1.0, found)[wide][:, None]
    part = np.clip(np.minimum(upper, high) - np.maximum(low, upper - 1 / bins), 0.0, None)
    room = high - low
    spread = np.divide(part, room, out=np.zeros_like(part), where=room > 0)
    spread[(room <= 0)[:, 0], -1] = 1.0
    return (counts + spread.sum(axis=0)) / found.size


def d_calibration(
    levels: ArrayLike, censored: ArrayLike, bins: int = 10, *, before: ArrayLike | None = None
) -> float:
    """p-value of the hypothesis that the predicted distributions hold (D-calibration); small: they do not.

    Pearson's χ² = Σₖ (n sₖ − n/B)² / (n/B) of the `calibration_shares` sₖ in B parts, with B − 1 degrees of
    freedom.

    Parameters
    ----------
    levels
        F̂(y | x) of each row, by `predicted_levels` or from a distribution.
    censored
        Which rows are censored (right).
    before
        F̂(y− | x), for predicted distributions with steps; see `calibration_shares`.

    References
    ----------
    Haider, Hoehn, Davis & Greiner (2020), J. Mach. Learn. Res. 21.

    Examples
    --------
    >>> even = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
    >>> d_calibration(even, [False] * 10)
    1.0
    """
    from scipy.special import chdtrc

    shares = calibration_shares(levels, censored, bins, before=before)
    statistic = np.size(levels) * bins * np.square(shares - 1 / bins).sum()
    return float(chdtrc(bins - 1, statistic))


def km_calibration(y: ArrayLike, censored: ArrayLike, survival: ArrayLike, times: ArrayLike) -> float:
    """Distance of the mean predicted survival curve from Kaplan–Meier's: ∫ (S̄(t) − Ŝ(t))² dt / (t_T − t_1).

    0 is perfect; S̄ ≡ ½ gives at most ¼. S̄ is linear between the times; the integral is exact.

    Parameters
    ----------
    survival
        P(latent > t | x), shape (n, T), or its mean over rows, shape (T,).
    times
        Increasing, shape (T,), at least two.

    References
    ----------
    Chapfuwa and others (2020), Calibration and uncertainty in neural time-to-event modeling, IEEE Trans.
    Neural Netw. Learn. Syst.

    Examples
    --------
    >>> km_calibration([1.0, 3.0], [False, False], [0.5, 0.5], [0.0, 2.0])
    0.125
    """
    values, flags = right_censored(y, censored)
    grid, curve = check_times(times), chances(survival)
    if curve.ndim == 2 and len(curve) == values.size:
        curve = curve.mean(axis=0)
    if curve.shape != grid.shape:
        raise ValueError(
            f"survival must have shape (n, T) or (T,) for T = {grid.size} times, got {curve.shape}"
        )
    found = kaplan_meier(values, flags)
    inside = found.points[(found.points > grid[0]) & (found.points < grid[-1])]
    knots = np.union1d(grid, inside)
    steps = np.concatenate([[0.0], found.reached])
    seen = 1 - steps[np.searchsorted(found.points, knots[:-1], side="right")]
    mean = np.interp(knots, grid, curve)
    left, right = mean[:-1] - seen, mean[1:] - seen
    area = np.diff(knots) * (np.square(left) + left * right + np.square(right)) / 3
    return float(area.sum() / (grid[-1] - grid[0]))


def chances(survival: ArrayLike) -> Floats:
    """Numbers from 0 to 1, up to rounding."""
    found = numbers(survival, "survival")
    if ((found < -_ROUNDING) | (found > 1 + _ROUNDING)).any():
        raise ValueError("survival must hold chances from 0 to 1")
    return found


def check_times(times: ArrayLike) -> Floats:
    """Increasing times, at least two."""
    grid = numbers(times, "times")
    if grid.ndim != 1 or grid.size < 2 or (np.diff(grid) <= 0).any():
        raise ValueError("times must be at least two increasing numbers")
    return grid
