"""The location–scale head: all quantiles share one location, one scale and one shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
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

ScaleSource = Literal["auto", "network", "linear", "shared", "constant"]
LinkName = Literal["hyperbola", "softplus"]
GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))


@dataclass(frozen=True)
class LocationScale:
    """Settings of the location–scale head q_θ(x) = μ(x) + σ(x) z_θ.

    Parameters
    ----------
    scale : {"auto", "network", "linear", "shared", "constant"}
        Where σ(x) comes from: a small network of its own ("network"), a linear function, a second output of
        the main network ("shared"), or one number ("constant"). "auto" is "network" for a linear main
        network or an MLP and "shared" for others.
    scale_hidden : tuple of int
        Hidden layers of the scale network.
    link : {"hyperbola", "softplus"}
        How a network output r becomes σ. "hyperbola" is √(r² + s²) − s with s = 0.05 in the units the network
        sees: nearly |r|, so σ can be linear in x down to small values. "softplus" is log(1 + eʳ), which
        bends far earlier.
    scale_ridge : float
        Penalty on the squared weights of the scale network. It grows in proportion below 300 rows.
    shape_ridge : float
        Penalty on the squared distance of z from a two-parameter sinh-arcsinh shape, learned with it.
    likelihood : float
        Weight of the censored negative log-likelihood of that sinh-arcsinh shape in the loss.
    background : float
        Density, in the units the network sees, that the likelihood grants to values far from all others. It
        bounds what an outlier can cost. 0 for none.
    weight_rows : bool
        Weight rows by 1/σ̂. No gradient flows through the weights, and σ̂ is at least a fifth of its mean.
    grid : tuple of float
        Levels to fit in addition to the requested ones. z is interpolated between levels.
    """

    scale: ScaleSource = "auto"
    scale_hidden: tuple[int, ...] = (16, 16)
    link: LinkName = "hyperbola"
    scale_ridge: float = 0.01
    shape_ridge: float = 0.2
    likelihood: float = 0.6
    background: float = 0.0005
    weight_rows: bool = True
    grid: tuple[float, ...] = GRID

    def __post_init__(self) -> None:
        if self.scale not in get_args(ScaleSource):
            raise ValueError(f"scale must be one of {get_args(ScaleSource)}, not {self.scale!r}")
        if self.link not in LINKS:
            raise ValueError(f"link must be one of {tuple(LINKS)}, not {self.link!r}")
        for name in ("scale_ridge", "shape_ridge", "likelihood", "background"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)!r}")
        for size in self.scale_hidden:
            if not isinstance(size, int | np.integer) or not 1 <= size <= 65_536:
                raise ValueError(f"scale_hidden must be whole numbers from 1 to 65536, not {size!r}")
        if not {0.1, 0.5, 0.9} <= set(self.grid):
            raise ValueError("grid must hold 0.1, 0.5 and 0.9, which fix the unit of the scale: add them")


class Link(NamedTuple):
    """How a raw output becomes a scale, and a scale a raw output."""

    scale: Callable[[Array], Array]
    raw: Callable[[Array | float], Array]


BEND = 0.05


def _hyperbola(raw: Array) -> Array:
    """Return √(r² + s²) − s, precise for small r and finite for large r."""
    squared = jnp.square(jnp.clip(raw, -1e15, 1e15))
    return squared / (jnp.sqrt(squared + BEND**2) + BEND)


def _inverse_hyperbola(scale: Array | float) -> Array:
    scale = jnp.asarray(scale, jnp.float32)
    return jnp.sqrt(scale * (scale + 2 * BEND))


LINKS = {
    "hyperbola": Link(_hyperbola, _inverse_hyperbola),
    "softplus": Link(jax.nn.softplus, inverse_softplus),
}


class LocationScaleHead(eqx.Module):
    """q_θ(x) = μ(x) + σ(x) z_θ with z increasing, z_0.5 = 0 and z_0.9 − z_0.1 as in the normal distribution.

    So μ is the median, σ has the unit of a standard deviation, and quantiles cannot cross.
    """

    gaps: Array  # softplus of these gives the steps of z between levels
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
        # μ is the median of the shape, so shift the shape's own centre.
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
        """Return anchors with median 0 and the normal's span from 0.1 to 0.9, with the shift and the unit."""
        low, middle, high = (anchors[self.levels.index(level)] for level in (0.1, 0.5, 0.9))
        unit = jnp.maximum((high - low) / _UNIT, SMALLEST_SCALE)  # rounding may leave no distance
        return (anchors - middle) / unit, middle, unit


_UNIT = 2 * 1.2815515655446004


def start_gaps(levels: tuple[float, ...]) -> Array:
    """Return the steps of a normal shape, before softplus. NumPy computes them: nothing to compile."""
    steps = np.maximum(np.diff(special.ndtri(levels)), 1e-6)
    return jnp.asarray(steps + np.log(-np.expm1(-steps)), jnp.float32)
