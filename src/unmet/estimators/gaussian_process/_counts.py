"""Log-probabilities of Poisson and negative-binomial counts between two bounds, with stable slopes, in JAX.

A count Y has mean exp(f) and, if it is negative binomial, variance exp(f) + exp(2f) / shape. P(Y ≥ c) is an
incomplete gamma or beta function, which underflows far in its tails; there a few terms of a series replace
it.
"""

from functools import cache
from typing import Any

# Terms of the series: its ratio is far below one wherever the functions underflow.
_TERMS = 12
# Below this probability the series takes over.
_SMALL = 1e-200
# Step in the logarithm of the shape: the slope of an incomplete beta function in its arguments has no closed
# form. Central differences err by about its square.
_STEP = 1e-4


def log_mass(counts: Any, log_mean: Any, log_shape: Any = None) -> Any:
    """Return log P(Y = counts); Poisson without `log_shape`."""
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    if log_shape is None:
        return counts * log_mean - jnp.exp(log_mean) - gammaln(counts + 1)
    shape = jnp.exp(log_shape)
    odds = jnp.logaddexp(log_mean, log_shape)
    return (
        gammaln(counts + shape)
        - gammaln(shape)
        - gammaln(counts + 1)
        + counts * (log_mean - odds)
        + shape * (log_shape - odds)
    )


def log_between(
    lower: Any, upper: Any, log_mean: Any, log_shape: Any = None, *, intervals: bool = True
) -> Any:
    """Return log P(lower ≤ Y ≤ upper); lower may be 0, upper infinite, and lower < upper.

    With `intervals=False` one of them is, everywhere, which takes half the time.

    Its slope in log_mean is (l f(l) − (u + 1) f(u + 1)) / P, where f is the probability of a count: the mean
    of a Poisson or negative-binomial count moves its distribution function by −(k + 1) f(k + 1) in log_mean.
    """
    import jax.numpy as jnp

    if log_shape is None:
        return _poisson(intervals)(lower, upper, log_mean)
    return _negative_binomial(intervals)(lower, upper, log_mean, log_shape + jnp.zeros_like(log_mean))


def _value(lower: Any, upper: Any, log_mean: Any, log_shape: Any, intervals: bool) -> Any:
    import jax.numpy as jnp

    open_above, open_below = jnp.isinf(upper), lower <= 0
    top = jnp.where(open_above, lower, upper)
    mean = jnp.exp(log_mean)
    # Σ over k ≥ lower less Σ over k > upper where the mean is low, else from below: cancels least.
    rising = open_above | (~open_below & (mean < lower))
    ends = [(jnp.maximum(lower, 1.0), top + 1.0)]
    if intervals:
        ends.append((top + 1.0, jnp.maximum(lower, 1.0)))
    sums = [_tail(rising, *pair, log_mean, log_shape) for pair in ends]
    mass = sums[0] - jnp.where(open_above | open_below, 0.0, sums[1]) if intervals else sums[0]
    # Σ f(k) over k ≥ lower (or downwards from upper), as f of the first count times a falling series.
    upwards = ~open_below
    begin = jnp.where(upwards, lower, top)
    term, total = jnp.ones_like(mean), jnp.ones_like(mean)
    for step in range(1, _TERMS):
        term = term * jnp.where(
            upwards, _ratio(begin + step, mean, log_shape), _inverse_ratio(begin - step + 1, mean, log_shape)
        )
        term = jnp.where(upwards, jnp.where(begin + step <= upper, term, 0.0), term)
        total = total + jnp.clip(term, 0.0, 1.0)
    series = log_mass(begin, log_mean, log_shape) + jnp.log(total)
    return jnp.where(mass > _SMALL, jnp.log(jnp.maximum(mass, _SMALL)), series)


def _tail(rising: Any, first: Any, after: Any, log_mean: Any, log_shape: Any) -> Any:
    """Return P(Y ≥ first) where `rising`, else P(Y < after)."""
    import jax.numpy as jnp
    from jax.scipy.special import betainc, gammainc, gammaincc

    if log_shape is None:
        mean = jnp.exp(log_mean)
        return jnp.where(rising, gammainc(first, mean), gammaincc(after, mean))
    shape, odds = jnp.exp(log_shape), jnp.logaddexp(log_mean, log_shape)
    return betainc(
        jnp.where(rising, first, shape),
        jnp.where(rising, shape, after),
        jnp.exp(jnp.where(rising, log_mean, log_shape) - odds),
    )


def _ratio(count: Any, mean: Any, log_shape: Any) -> Any:
    """Return f(count) / f(count − 1)."""
    import jax.numpy as jnp

    if log_shape is None:
        return mean / count
    shape = jnp.exp(log_shape)
    return mean / (mean + shape) * (count - 1 + shape) / count


def _inverse_ratio(count: Any, mean: Any, log_shape: Any) -> Any:
    """Return f(count − 1) / f(count), 0 for a count of 0."""
    import jax.numpy as jnp

    inside = jnp.maximum(count, 1.0)
    return jnp.where(count >= 1, 1 / _ratio(inside, mean, log_shape), 0.0)


def _slope(value: Any, lower: Any, upper: Any, log_mean: Any, log_shape: Any) -> Any:
    import jax.numpy as jnp

    def part(count: Any) -> Any:
        return count * jnp.exp(jnp.minimum(log_mass(count, log_mean, log_shape) - value, 60.0))

    above = jnp.where(jnp.isinf(upper), 0.0, upper + 1)
    return part(jnp.maximum(lower, 0.0)) - part(above)


@cache
def _poisson(intervals: bool) -> Any:
    import jax

    @jax.custom_jvp
    def between(lower: Any, upper: Any, log_mean: Any) -> Any:
        return _value(lower, upper, log_mean, None, intervals)

    @between.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        value = between(*primals)
        lower, upper, log_mean = primals
        return value, tangents[2] * _slope(value, lower, upper, log_mean, None)

    return between


@cache
def _negative_binomial(intervals: bool) -> Any:
    import jax
    from jax.custom_derivatives import SymbolicZero

    @jax.custom_jvp
    def between(lower: Any, upper: Any, log_mean: Any, log_shape: Any) -> Any:
        return _value(lower, upper, log_mean, log_shape, intervals)

    def derivative(primals: Any, tangents: Any) -> Any:
        lower, upper, log_mean, log_shape = primals
        value = between(*primals)
        change = 0.0 * value
        if not isinstance(tangents[2], SymbolicZero):
            change = change + tangents[2] * _slope(value, *primals)
        if not isinstance(tangents[3], SymbolicZero):
            more, less = (
                _value(lower, upper, log_mean, log_shape + step, intervals) for step in (_STEP, -_STEP)
            )
            change = change + tangents[3] * (more - less) / (2 * _STEP)
        return value, change

    between.defjvp(derivative, symbolic_zeros=True)
    return between
