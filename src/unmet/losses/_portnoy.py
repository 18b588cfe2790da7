"""Right censoring with flags but no thresholds: Portnoy's weights over a grid of quantile levels."""

from typing import Any

import numpy as np

from unmet.losses._arrays import Array, check_level_shapes, check_shapes, levels_first, namespace
from unmet.losses._tilted import any_tilted_loss


def crossing_level(y: Array, quantiles: Array, thetas: Array) -> Array:
    """Return the level F̂(y | x) at which the estimated quantile curve reaches y.

    The curve is sorted over the levels, so crossing estimates do no harm, and interpolated linearly between
    grid levels.

    - If y is at or above the highest quantile, the result is the highest level θ_K. Every weight is then 1.
    - If y is below the lowest quantile q_1, an exponential tail continues the first piece of the curve:
      θ_1 · exp(s (y − q_1) / θ_1) with s = (θ_2 − θ_1) / (q_2 − q_1). It stays inside (0, θ_1) and tends to
      0 far below. Portnoy's weights then drop the row, which says nothing about any level of the grid.
    - If there is no slope to continue (one level, or all quantiles equal), the result is 0 below.

    Parameters
    ----------
    y
        The bounds, shape (N, ...).
    quantiles
        Estimated quantiles, level axis first, shape (K, N, ...).
    thetas
        The K levels, increasing: shape (K,), or a shape that broadcasts with quantiles.

    Returns
    -------
    array
        Shape (N, ...), in [0, θ_K]. No gradient flows through it: the level is data for the next step.

    Examples
    --------
    >>> import numpy as np
    >>> q = np.array([[1.0], [2.0], [3.0]])
    >>> [float(crossing_level(np.array([y]), q, np.array([0.25, 0.5, 0.75]))[0]) for y in (2.0, 2.5, 9.0)]
    [0.5, 0.625, 0.75]
    """
    check_level_shapes(quantiles, y=y)
    xp = namespace(y, quantiles, thetas)
    y, quantiles = (detached(array, xp) for array in (y, quantiles))
    levels = levels_first(thetas, quantiles)
    first, last = levels[0], levels[-1]

    # Reductions over the level axis find the neighbours in the sorted curve; sorting each step costs more.
    reached = quantiles <= y
    count = xp.sum(reached, axis=0)
    below = xp.max(xp.where(reached, quantiles, -xp.inf), axis=0)
    above = xp.min(xp.where(reached, xp.inf, quantiles), axis=0)
    position = xp.reshape(xp.arange(len(quantiles)), (-1,) + (1,) * (np.ndim(quantiles) - 1))
    level_below = xp.max(xp.where(position < count, levels, first), axis=0)
    level_above = xp.min(xp.where(position < count, last, levels), axis=0)

    inside = (count > 0) & (count < len(quantiles))
    gap = xp.where(inside, above - below, 1)
    share = xp.where(inside, (y - below) / gap, 0)
    between = level_below + share * (level_above - level_below)

    lowest = xp.min(quantiles, axis=0)
    second = xp.min(xp.where(quantiles > lowest, quantiles, xp.inf), axis=0)
    sloped = xp.isfinite(second)
    rise = (levels[1] - first if len(quantiles) > 1 else first) / first
    gap = xp.where(sloped, second - lowest, 1)
    # Beyond a million gaps the tail is zero anyway, and a vanishing gap must not overflow.
    depth = xp.clip(lowest - y, 0, 1e6 * gap) / gap
    tail = xp.where(sloped, first * xp.exp(-rise * depth), 0 * first)
    return xp.where(count == 0, tail, xp.where(inside, between, last))


def portnoy_weights(level: Array, thetas: Array) -> Array:
    """Return the share of a censored row that stays at its bound.

    It is w = 1 if θ ≤ level, else (θ − level) / (1 − level). The rest, 1 − w, moves beyond all data. `level`
    is the row's crossing level. Both arguments broadcast.

    References
    ----------
    Portnoy (2003), Censored regression quantiles, J. Am. Stat. Assoc. 98.

    Examples
    --------
    >>> [round(float(portnoy_weights(0.5, theta)), 6) for theta in (0.25, 0.5, 0.75)]
    [1.0, 1.0, 0.5]
    """
    check_shapes(level=level, thetas=thetas)
    xp = namespace(level, thetas)
    split = thetas > level
    return xp.where(split, (thetas - level) / xp.where(split, 1 - level, 1), 1)


def portnoy_loss(
    y: Array, quantiles: Array, thetas: Array, censored: Array, far: Array, width: float = 0.0
) -> Array:
    """Return the tilted loss of right-censored rows with unknown thresholds.

    Uncensored rows: ρ_θ(y − q_θ). Censored rows: w ρ_θ(y − q_θ) + (1 − w) ρ_θ(far − q_θ), where w is
    Portnoy's weight at the level where the current quantiles reach y. No gradient flows through w.

    Parameters
    ----------
    y, censored
        Observed values (bounds where censored) and flags, shape (N, ...).
    quantiles
        Shape (K, N, ...), level axis first.
    thetas
        The K increasing levels.
    far
        A finite value beyond all data and all quantiles. It only shifts the loss by a constant, but a huge
        value costs float32 digits.
    width
        0 for the tilted loss, otherwise the width of its smoothing.

    Returns
    -------
    array
        Shape (K, N, ...).
    """
    xp = namespace(y, quantiles, thetas, censored, far)
    check_level_shapes(quantiles, y=y, censored=censored, far=far)
    levels = levels_first(thetas, quantiles)
    weight = portnoy_weights(crossing_level(y, quantiles, levels), levels)
    seen = any_tilted_loss(y, quantiles, levels, width)
    moved = any_tilted_loss(far, quantiles, levels, width)
    return xp.where(censored, weight * seen + (1 - weight) * moved, seen)


def detached(array: Array, xp: Any) -> Array:
    """Return the same values without a gradient. NumPy arrays have none."""
    if xp is np:
        return array
    from jax.lax import stop_gradient

    return stop_gradient(array)
