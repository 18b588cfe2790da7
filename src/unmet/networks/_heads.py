"""Heads: from the raw outputs of a network to quantiles."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import ndtri

from unmet.losses import sinh_arcsinh_quantile

# Scales stay above this, in the units the network sees.
SMALLEST_SCALE = 1e-6


class Start(NamedTuple):
    """Where training starts: location and scale of the observations, in the units the network sees."""

    location: Array | float
    scale: Array | float
    spread: Array | float = 0.0  # sd of the starting output weights of a neutral start


class Prediction(NamedTuple):
    """What a head says about each row; the parametric parts only where the head has them."""

    quantiles: Array  # (levels, rows)
    location: Any = None  # (rows,)
    scale: Any = None  # (rows,)
    skew: Any = None
    tail: Any = None
    anchors: Any = None  # the z of a location–scale head, (levels,)
    shape_anchors: Any = None  # the same of its parametric shape


def inverse_softplus(x: Array | float) -> Array:
    """The v with softplus(v) = x, for x > 0."""
    x = jnp.maximum(jnp.asarray(x, jnp.float32), 1e-6)
    return x + jnp.log(-jnp.expm1(-x))


def bounded_shape(raw: Array) -> tuple[Array, Array]:
    """Skew and tail of a sinh-arcsinh shape from two raw numbers, held where float32 can follow.

    Near zero skew = raw_1 and tail = exp(raw_2); |skew| stays below 3 and tail between e^−2 and e^2.
    """
    return 3 * jnp.tanh(raw[0] / 3), jnp.exp(2 * jnp.tanh(raw[1] / 2))


def cumulate(steps: Array) -> Array:
    """Running sums along the first axis, as a matrix product: a compiled cumulative sum is far slower."""
    return jnp.tril(jnp.ones((steps.shape[0], steps.shape[0]), jnp.float32)) @ steps


def marginal_quantiles(levels: Array, start: Start) -> Array:
    """Normal quantiles with the location and scale of the observations: the neutral start."""
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
    """Location and scale of a normal or sinh-arcsinh distribution: the Tobit models.

    The scale is softplus of an output ("network"), one learned number ("constant"), or given.
    """

    raw_scale: Any  # (1,) when one number; None when an output
    raw_shape: Array | None  # skew and log tail before `bounded_shape`, when the shape is learned
    fixed_scale: bool = eqx.field(static=True)

    def __call__(self, raw: Array, x: Array, levels: Array) -> Prediction:
        location = raw[0]
        if self.fixed_scale:
            # Standardisation divides a given scale too, so it travels as a leaf that is never updated.
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
