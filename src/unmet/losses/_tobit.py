"""Tobit: negative log-likelihood of censored rows under a Gaussian or sinh-arcsinh distribution."""

from functools import cache
from math import log, pi, sqrt
from typing import Any

import numpy as np

from unmet.censoring import Side
from unmet.losses._arrays import Array, check_shapes, check_side, namespace

HALF_LOG_2PI = 0.5 * log(2 * pi)
# sinh of this is 5e12. Its square, and its slope over the smallest scale, still fit into float32.
_LARGEST_ARGUMENT = 30.0
# A bound this many standard deviations away says as little as one at infinity, and its square is finite.
FARTHEST = 1e15
_ROOT_HALF = sqrt(0.5)
# Below this a series gives log Φ to the precision of the type. In float32, Φ itself underflows from −13.
_SERIES_FROM = {4: -8.0, 8: -16.0}


def tobit_loss(
    y: Array,
    location: Array,
    scale: Array,
    censored: Array,
    side: Side = "right",
    skew: Array | None = None,
    tail: Array | None = None,
) -> Array:
    """Return the negative log-likelihood of y, one value per element, with z = (y − location) / scale.

    Uncensored rows: −log f(z) + log scale. Right-censored rows: −log(1 − F(z)); left-censored: −log F(z).

    F is the standard normal distribution. With skew ε and tail δ > 0 it is the sinh-arcsinh distribution of
    Jones and Pewsey: F(z) = Φ(s), f(z) = φ(s) · δ cosh(δ asinh z − ε) / √(1 + z²), s = sinh(δ asinh z − ε).
    Skew 0 with tail 1 is the Gaussian. A tail below 1 has heavier tails; a positive skew leans to the right.

    Parameters
    ----------
    y, location, scale, censored
        They broadcast. Scale is positive, censored is boolean.
    side
        The side on which censored rows are open.
    skew, tail
        Give both or neither.

    References
    ----------
    Tobin (1958), Estimation of relationships for limited dependent variables, Econometrica 26.
    Jones & Pewsey (2009), Sinh-arcsinh distributions, Biometrika 96.

    Examples
    --------
    >>> round(float(tobit_loss(0.0, 0.0, 1.0, False)), 6), round(float(tobit_loss(0.0, 0.0, 1.0, True)), 6)
    (0.918939, 0.693147)
    """
    check_side(side)
    if (skew is None) != (tail is None):
        raise ValueError("give both skew and tail, or neither")
    check_shapes(y=y, location=location, scale=scale, censored=censored, skew=skew, tail=tail)
    xp = namespace(y, location, scale, censored, skew, tail)
    for name, value in (("scale", scale), ("tail", tail)):
        if xp is np and value is not None and not np.all(np.asarray(value) > 0):
            raise ValueError(f"{name} must be positive")

    z = (y - location) / scale
    # NumPy's log of a plain number is a float64 and would widen a float32 loss.
    scale = xp.asarray(scale, dtype=xp.result_type(z))
    tail = None if tail is None else xp.asarray(tail, dtype=xp.result_type(z, tail))
    censored = xp.asarray(censored) != 0
    # Both branches and their slopes are finite for every clipped z, so `where` lets no NaN through.
    score, log_slope = normal_score(xp.clip(z, -FARTHEST, FARTHEST), skew, tail, xp)
    exact = 0.5 * score * score + HALF_LOG_2PI - log_slope + xp.log(scale)
    bound = -log_normal_cdf(-score if side == "right" else score, xp)
    return xp.where(censored, bound, exact)


def sinh_arcsinh_quantile(score: Array, skew: Array, tail: Array) -> Array:
    """Return a quantile of the sinh-arcsinh distribution: sinh((asinh(score) + skew) / tail), score = Φ⁻¹(θ).

    Examples
    --------
    >>> float(sinh_arcsinh_quantile(1.0, 0.0, 1.0))
    1.0
    """
    check_shapes(score=score, skew=skew, tail=tail)
    xp = namespace(score, skew, tail)
    return xp.sinh((xp.arcsinh(score) + skew) / tail)


def normal_score(z: Array, skew: Array | None, tail: Array | None, xp: Any) -> tuple[Array, Array]:
    """Return the normal score s of z and log ds/dz. s is clipped at sinh(±30) to fit float32."""
    if skew is None or tail is None:
        return z, 0 * z
    bent = tail * (np.arcsinh(z) if xp is np else _differentiable_arcsinh()(z)) - skew
    held = xp.clip(bent, -_LARGEST_ARGUMENT, _LARGEST_ARGUMENT)
    score = 0.5 * (xp.exp(held) - xp.exp(-held))
    size = xp.abs(bent)
    log_cosh = size + xp.log1p(xp.exp(-2 * size)) - log(2)
    return score, xp.log(tail) + log_cosh - 0.5 * xp.log1p(z * z)


def log_normal_cdf(z: Array, xp: Any) -> Array:
    """Return log Φ(z), with gradients that stay correct far into the lower tail in float32."""
    if xp is np:
        from scipy.special import log_ndtr

        return log_ndtr(z)
    return _differentiable_log_cdf()(z)


@cache
def _differentiable_arcsinh() -> Any:
    """Return arcsinh for JAX with an explicit slope 1/√(1+z²), which compiles faster."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp
    def arcsinh(z: Any) -> Any:
        size = jnp.abs(z)
        return jnp.copysign(jnp.log1p(size + size * size / (1 + jnp.sqrt(1 + size * size))), z)

    @arcsinh.defjvp
    def _slope(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        (z,), (change,) = primals, tangents
        return arcsinh(z), change * jax.lax.rsqrt(1 + z * z)

    return arcsinh


@cache
def _differentiable_log_cdf() -> Any:
    """Return log Φ for JAX with an explicit gradient φ/Φ; JAX's own takes seconds to compile."""
    import jax
    import jax.numpy as jnp

    def parts(z: Any) -> tuple[Any, Any, Any]:
        begin = _SERIES_FROM[z.dtype.itemsize]
        deep = z < begin
        low = jnp.where(deep, z, begin)
        u = 1 / (low * low)
        return deep, low, 1 - u * (1 - u * (3 - u * (15 - u * (105 - 945 * u))))

    @jax.custom_jvp
    def log_cdf(z: Any) -> Any:
        deep, low, series = parts(z)
        lower = -0.5 * low * low - jnp.log(-low / series) - HALF_LOG_2PI
        return jnp.where(deep, lower, jnp.log(0.5 * jax.lax.erfc(-jnp.where(deep, 0, z) * _ROOT_HALF)))

    @log_cdf.defjvp
    def _slope(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        (z,), (change,) = primals, tangents
        value = log_cdf(z)
        deep, low, series = parts(z)
        near = jnp.where(deep, 0, z)
        ratio = jnp.exp(-0.5 * near * near - HALF_LOG_2PI - jnp.where(deep, 0, value))
        return value, change * jnp.where(deep, -low / series, ratio)

    return log_cdf
