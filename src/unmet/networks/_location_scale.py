"""The location–scale head: all quantiles share one location, one scale and one shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtri
from scipy import special

from unmet.losses import sinh_arcsinh_quantile
from unmet.networks._heads import (
    SMALLEST_SCALE,
    Prediction,
    Start,
    bounded_shape,
    cumulate,
    inverse_softplus,
)
from unmet.networks._mlp import MLP

GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))


@dataclass(frozen=True)
class LocationScale:
    """Settings of the location–scale head q_θ(x) = μ(x) + σ(x) z_θ.

    Parameters
    ----------
    scale : {"auto", "network", "linear", "shared", "constant"}
        Where σ(x) comes from: a small network of its own, a linear function, a second output of the main
        network, or one number. "auto" gives a linear main network a scale network and shares larger ones.
    scale_hidden : tuple of int
        Hidden layers of the scale network.
    link : {"hyperbola", "softplus"}
        How a network output r becomes σ: √(r² + s²) − s with s = 0.05 (in the units the network sees), which
        is nearly |r| and lets σ be linear in x down to small values; or log(1 + eʳ), which bends far earlier.
    scale_ridge, shape_ridge : float
        Penalties: on the squared weights of the scale network, and on the squared distance of z to a
        two-parameter sinh-arcsinh shape that is learned beside it.
    likelihood : float
        Weight of the censored negative log-likelihood of that sinh-arcsinh shape, added to the quantile loss.
    weight_rows : bool
        Weight rows by 1/σ̂, without a gradient through it and with σ̂ floored at a fifth of its mean.
    grid : tuple of float
        Levels fitted beside the requested ones; between levels z is interpolated.
    """

    scale: str = "auto"
    scale_hidden: tuple[int, ...] = (16, 16)
    link: str = "hyperbola"
    scale_ridge: float = 0.01
    shape_ridge: float = 0.1
    likelihood: float = 0.6
    weight_rows: bool = True
    grid: tuple[float, ...] = GRID

    def __post_init__(self) -> None:
        kinds = ("auto", "network", "linear", "shared", "constant")
        if self.scale not in kinds:
            raise ValueError(f"scale must be one of {kinds}, not {self.scale!r}")
        if self.link not in LINKS:
            raise ValueError(f"link must be one of {tuple(LINKS)}, not {self.link!r}")
        for name in ("scale_ridge", "shape_ridge", "likelihood"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)!r}")
        if not {0.1, 0.5, 0.9} <= set(self.grid):
            raise ValueError("grid must hold 0.1, 0.5 and 0.9, which fix the unit of the scale")


class Link(NamedTuple):
    """How a raw output becomes a scale, and back."""

    scale: Callable[[Array], Array]
    raw: Callable[[Array | float], Array]


_BEND = 0.05


def _hyperbola(raw: Array) -> Array:
    """√(r² + s²) − s, written so that small r keep their digits and the square of a large one is finite."""
    squared = jnp.square(jnp.clip(raw, -1e15, 1e15))
    return squared / (jnp.sqrt(squared + _BEND**2) + _BEND)


def _inverse_hyperbola(scale: Array | float) -> Array:
    scale = jnp.asarray(scale, jnp.float32)
    return jnp.sqrt(scale * (scale + 2 * _BEND))


LINKS = {
    "hyperbola": Link(_hyperbola, _inverse_hyperbola),
    "softplus": Link(jax.nn.softplus, inverse_softplus),
}


class LocationScaleHead(eqx.Module):
    """q_θ(x) = μ(x) + σ(x) z_θ with z increasing, z_0.5 = 0 and z_0.9 − z_0.1 that of the normal.

    μ is therefore the median, and σ is in units of a standard deviation. Quantiles cannot cross.
    """

    gaps: Array  # softplus of these are the steps of z between levels
    raw_shape: Array  # skew and log tail of the sinh-arcsinh shape, before `bounded_shape`
    raw_scale: Array | None  # (1,): a constant scale
    scale_network: MLP | None
    levels: tuple[float, ...] = eqx.field(static=True)
    link: str = eqx.field(static=True)

    @staticmethod
    def outputs(levels: int) -> int:
        return 1

    @staticmethod
    def neutral_bias(levels: Array, start: Start) -> Array:
        return jnp.reshape(jnp.asarray(start.location, jnp.float32), (1,))

    def __call__(self, raw: Array, x: Array, levels: Array) -> Prediction:
        if self.scale_network is not None:
            raw_scale = self.scale_network(x)[0]
        elif self.raw_scale is not None:
            raw_scale = self.raw_scale * jnp.ones_like(raw[0])
        else:
            raw_scale = raw[1]
        scale = LINKS[self.link].scale(raw_scale) + SMALLEST_SCALE
        anchors, _, _ = self._fix_unit(cumulate(jnp.concatenate([jnp.zeros(1), jax.nn.softplus(self.gaps)])))
        skew, tail = bounded_shape(self.raw_shape)
        scores = special.ndtri(self.levels).astype(np.float32)
        shape_anchors, middle, unit = self._fix_unit(sinh_arcsinh_quantile(scores, skew, tail))
        # μ is the median of the shape, so its own centre is shifted.
        return Prediction(
            raw[0] + scale * anchors[:, None],
            location=raw[0] - scale * middle / unit,
            scale=scale / unit,
            skew=skew,
            tail=tail,
            anchors=anchors,
            shape_anchors=shape_anchors,
        )

    def _fix_unit(self, anchors: Array) -> tuple[Array, Array, Array]:
        """Anchors with median 0 and the normal's span from 0.1 to 0.9; with the shift and the unit."""
        low, middle, high = (anchors[self.levels.index(level)] for level in (0.1, 0.5, 0.9))
        unit = jnp.maximum((high - low) / _UNIT, SMALLEST_SCALE)  # rounding may leave no distance
        return (anchors - middle) / unit, middle, unit


_UNIT = 2 * 1.2815515655446004


def start_gaps(levels: Array) -> Array:
    """Steps of a normal shape, before softplus."""
    return inverse_softplus(jnp.diff(ndtri(levels)))
