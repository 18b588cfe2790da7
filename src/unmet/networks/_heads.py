"""Heads: turn the raw outputs of a network into quantiles."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import ndtri

from unmet.losses import sinh_arcsinh_quantile

# Smallest scale, in the units the network sees.
SMALLEST_SCALE = 1e-6


class Start(NamedTuple):
    """Where training starts: location and scale of the observations in the units the network sees."""

    location: Array | float
    scale: Array | float
    spread: Array | float = 0.0  # standard deviation of the output weights in a neutral start


class Prediction(NamedTuple):
    """What a head predicts for each row. Parts that the head does not have are None."""

    quantiles: Array  # (levels, rows)
    location: Any = None  # (rows,)
    scale: Any = None  # (rows,)
    skew: Any = None
    tail: Any = None
    anchors: Any = None  # z of a location–scale head, (levels,)
    shape_anchors: Any = None  # z of its parametric shape, (levels,)


def inverse_softplus(x: Array | float) -> Array:
    """Return v with softplus(v) = x, for x > 0."""
    x = jnp.maximum(jnp.asarray(x, jnp.float32), 1e-6)
    return x + jnp.log(-jnp.expm1(-x))


def bounded_shape(raw: Array) -> tuple[Array, Array]:
    """Return skew and tail of a sinh-arcsinh shape from two raw numbers, in the range of float32.

    Near zero, skew = raw_1 and tail = exp(raw_2). |skew| stays below 3, tail between e^−2 and e^2.
    """
    return 3 * jnp.tanh(raw[0] / 3), jnp.exp(2 * jnp.tanh(raw[1] / 2))


def cumulate(steps: Array) -> Array:
    """Return running sums along the first axis. A matrix product is far faster than a compiled cumsum."""
    return jnp.tril(jnp.ones((steps.shape[0], steps.shape[0]), jnp.float32)) @ steps


def marginal_quantiles(levels: Array, start: Start) -> Array:
    """Return normal quantiles with the location and scale of the observations: the neutral start."""
    return start.location + start.scale * ndtri(levels)


class FreeHead(eqx.Module):
    """One output per quantile, as in the paper: q_k = o_k. Quantiles may cross."""

    @staticmethod
    def outputs(levels: int) -> int:
        return levels

    @staticmethod
    def neutral_bias(levels: Array, start: Start) -> Array:
        return marginal_quantiles(levels, start)

    def __call__(self, raw: Array, x: Array, levels: Array) -> Prediction:
        return Prediction(raw)


class MonotoneHead(eqx.Module):
    """q_1 = o_1, q_k = q_{k−1} + softplus(o_k): the quantiles cannot cross."""

    @staticmethod
    def outputs(levels: int) -> int:
        return levels

    @staticmethod
    def neutral_bias(levels: Array, start: Start) -> Array:
        quantiles = marginal_quantiles(levels, start)
        return jnp.concatenate([quantiles[:1], inverse_softplus(jnp.diff(quantiles))])

    def __call__(self, raw: Array, x: Array, levels: Array) -> Prediction:
        gaps = jnp.concatenate([raw[:1], jax.nn.softplus(raw[1:])])
        return Prediction(cumulate(gaps))


class GaussianHead(eqx.Module):
    """Location and scale of a normal or sinh-arcsinh distribution, for the Tobit models.

    The scale is softplus of an output ("network"), one learned number ("constant"), or a given number.
    """

    raw_scale: Any  # (1,) for one number; None for an output
    raw_shape: Array | None  # skew and log tail before `bounded_shape`, if the shape is learned
    fixed_scale: bool = eqx.field(static=True)

    def __call__(self, raw: Array, x: Array, levels: Array) -> Prediction:
        location = raw[0]
        if self.fixed_scale:
            # Standardisation divides a given scale too, so the scale is a leaf that training never updates.
            scale = jax.lax.stop_gradient(self.raw_scale) * jnp.ones_like(location)
        elif self.raw_scale is not None:
            scale = (jax.nn.softplus(self.raw_scale) + SMALLEST_SCALE) * jnp.ones_like(location)
        else:
            scale = jax.nn.softplus(raw[1]) + SMALLEST_SCALE
        scores = ndtri(levels)
        if self.raw_shape is None:
            skew = tail = None
        else:
            skew, tail = bounded_shape(self.raw_shape)
            scores = sinh_arcsinh_quantile(scores, skew, tail)
        return Prediction(location + scale * scores[:, None], location, scale, skew, tail)


HEADS: dict[str, Any] = {"free": FreeHead, "monotone": MonotoneHead}
