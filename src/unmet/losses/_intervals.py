"""Rows known only by bounds on their latent value: likelihood, self-consistent loss, distance."""

from functools import cache
from typing import Any

import numpy as np

from unmet.losses._arrays import Array, check_level_shapes, check_shapes, levels_first, namespace
from unmet.losses._portnoy import crossing_level
from unmet.losses._tilted import any_tilted_loss, tilted_loss
from unmet.losses._tobit import FARTHEST, HALF_LOG_2PI, log_normal_cdf, normal_score, tobit_loss

# Half-widths below which a series replaces the difference of two distribution functions, by size of the type.
_NARROW = {4: 0.05, 8: 1e-4}


def interval_tobit_loss(
    lower: Array,
    upper: Array,
    location: Array,
    scale: Array,
    skew: Array | None = None,
    tail: Array | None = None,
) -> Array:
    """Return −log(F(z_upper) − F(z_lower)), one value per element, with z = (bound − location) / scale.

    Where the bounds are equal this is the density, −log f(z) + log scale. Where one is infinite it is the
    one-sided `tobit_loss`. F is the normal or, with skew and tail, the sinh-arcsinh distribution.

    Parameters
    ----------
    lower, upper, location, scale
        They broadcast; lower ≤ upper, not both infinite. Scale is positive.
    skew, tail
        Give both or neither.

    References
    ----------
    Turnbull (1976), The empirical distribution function with arbitrarily grouped, censored and truncated
    data, J. R. Stat. Soc. B 38.

    Examples
    --------
    >>> round(float(interval_tobit_loss(-1.0, 1.0, 0.0, 1.0)), 6)   # −log 0.682689
    0.381715
    """
    check_shapes(lower=lower, upper=upper, location=location, scale=scale, skew=skew, tail=tail)
    xp = namespace(lower, upper, location, scale, skew, tail)
    lower, upper = xp.asarray(lower), xp.asarray(upper)
    below, above = xp.isinf(lower), xp.isinf(upper)
    # Infinite bounds would give NaN gradients even where `where` drops them.
    low = xp.where(below, xp.where(above, 0, upper), lower)
    high = xp.where(above, low, upper)
    exact = tobit_loss(low, location, scale, False, skew=skew, tail=tail)
    tail = None if tail is None else xp.asarray(tail, dtype=xp.result_type(exact))
    ends = [
        normal_score(xp.clip((end - location) / scale, -FARTHEST, FARTHEST), skew, tail, xp)[0]
        for end in (low, high)
    ]
    between = -log_normal_mass(xp.where(below, -FARTHEST, ends[0]), xp.where(above, FARTHEST, ends[1]), xp)
    return xp.where(lower == upper, exact, between)


def self_consistent_loss(
    lower: Array, upper: Array, direction: Array, quantiles: Array, thetas: Array, width: float = 0.0
) -> Array:
    """Return the tilted loss of rows that are known by bounds, for any mixture of sides and intervals.

    The mass of a row lies between its bounds as the current quantiles say: of a row with F̂(lower) < θ <
    F̂(upper), the share w = (θ − F̂(lower)) / (F̂(upper) − F̂(lower)) lies below q_θ. Its loss is w ρ_θ(lower −
    q_θ) + (1 − w) ρ_θ(upper − q_θ). Outside, w is 1 or 0. At the minimum the quantiles are self-consistent:
    Turnbull's and, for rows that are open above, Portnoy's equations. No gradient flows through w.

    Without exact rows the iteration is slow, and quantiles inside an interval that no other row divides are
    not identified.

    Parameters
    ----------
    lower, upper
        Bounds, shape (N, ...), finite: a value beyond all data and quantiles stands for an open side.
    direction
        0 exact, 1 open above, −1 open below, 2 an interval; shape (N, ...).
    quantiles
        Shape (K, N, ...), level axis first.
    thetas
        The K increasing levels.
    width
        0 for the tilted loss, otherwise the width of its smoothing.

    References
    ----------
    Turnbull (1976), J. R. Stat. Soc. B 38. Lin, He & Portnoy (2012), Quantile regression with doubly censored
    data, Comput. Stat. Data Anal. 56.

    Returns
    -------
    array
        Shape (K, N, ...).
    """
    check_level_shapes(quantiles, lower=lower, upper=upper, direction=direction)
    xp = namespace(lower, upper, direction, quantiles, thetas)
    levels = levels_first(thetas, quantiles)
    begin = xp.where(direction == -1, 0, level_at(lower, quantiles, levels))
    end = xp.where(direction == 1, 1, level_at(upper, quantiles, levels))
    inside = (levels > begin) & (levels < end)
    share = (levels - begin) / xp.where(inside, end - begin, 1)
    weight = xp.where(inside, share, xp.where(levels >= end, 0.0, 1.0))
    low = any_tilted_loss(lower, quantiles, levels, width)
    high = any_tilted_loss(upper, quantiles, levels, width)
    return xp.where(direction == 0, low, weight * low + (1 - weight) * high)


def interval_tilted_loss(lower: Array, upper: Array, quantile: Array, theta: Array) -> Array:
    """Return the least tilted loss of a value between the bounds: 0 inside, ρ_θ to the nearer end outside.

    Examples
    --------
    >>> [float(interval_tilted_loss(1.0, 3.0, q, 0.75)) for q in (0.0, 2.0, 5.0)]
    [0.75, 0.0, 0.5]
    """
    check_shapes(lower=lower, upper=upper, quantile=quantile, theta=theta)
    xp = namespace(lower, upper, quantile, theta)
    return tilted_loss(xp.clip(quantile, lower, upper), quantile, theta) + 0.0  # no −0.0


def level_at(y: Array, quantiles: Array, thetas: Array) -> Array:
    """Return F̂(y | x) with exponential tails on both sides: `crossing_level`, and its mirror image above."""
    xp = namespace(y, quantiles, thetas)
    levels = levels_first(thetas, quantiles)
    mirrored = 1 - crossing_level(-y, -quantiles[::-1], 1 - levels[::-1])
    return xp.where(y > xp.max(quantiles, axis=0), mirrored, crossing_level(y, quantiles, levels))


def log_normal_mass(low: Array, high: Array, xp: Any) -> Array:
    """Return log(Φ(high) − Φ(low)) for low < high, accurate in the tails and for narrow intervals."""
    return _log_mass(low, high, np) if xp is np else _differentiable_log_mass()(low, high)


def _log_mass(low: Array, high: Array, xp: Any) -> Array:
    # The mirror image in the lower tail: there log Φ does not cancel.
    flip = low + high > 0
    low, high = xp.where(flip, -high, low), xp.where(flip, -low, high)
    half = (high - low) / 2
    narrow = half < _NARROW[xp.result_type(low).itemsize]
    far_low, far_high = xp.where(narrow, -1, low), xp.where(narrow, 1, high)
    larger, smaller = log_normal_cdf(far_high, xp), log_normal_cdf(far_low, xp)
    wide = larger + xp.log1p(-xp.exp(xp.minimum(smaller - larger, -1e-30)))
    # φ(m) ∫ exp(−m t − t²/2) dt over (−h, h)
    middle, h = xp.where(narrow, (low + high) / 2, 0), xp.where(narrow, xp.maximum(half, 1e-30), 1e-3)
    bend = xp.minimum(xp.abs(middle) * h, 60.0)
    small = bend < 1e-2
    safe = xp.where(small, 1, bend)
    sinhc = xp.where(small, bend * bend / 6, safe + xp.log1p(-xp.exp(-2 * safe)) - xp.log(2 * safe))
    series = -0.5 * middle * middle - HALF_LOG_2PI + xp.log(2 * h) + sinhc - h * h / 6
    return xp.where(narrow, series, wide)


@cache
def _differentiable_log_mass() -> Any:
    """Return the log mass for JAX with its explicit gradient φ / mass."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp
    def log_mass(low: Any, high: Any) -> Any:
        return _log_mass(low, high, jnp)

    @log_mass.defjvp
    def _slope(primals: Any, tangents: Any) -> Any:
        (low, high), (change_low, change_high) = primals, tangents
        value = log_mass(low, high)

        def density(z: Any) -> Any:
            # A narrow interval has a steep slope; a bound keeps it inside float32.
            return jnp.exp(jnp.minimum(-0.5 * z * z - HALF_LOG_2PI - value, 60.0))

        return value, change_high * density(high) - change_low * density(low)

    return log_mass
