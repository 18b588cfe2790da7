"""Models: a network and a head, described by a spec and built from random numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from unmet.networks._graph import Graph
from unmet.networks._heads import HEADS, GaussianHead, Prediction, Start, inverse_softplus
from unmet.networks._kernel import Kernel
from unmet.networks._layers import Linear, Noise, draw
from unmet.networks._location_scale import LINKS, LocationScale, LocationScaleHead, start_gaps
from unmet.networks._lstm import LSTM
from unmet.networks._mlp import MLP
from unmet.networks._raster import Raster
from unmet.networks._remember import Remembered, remember_hash


@dataclass(frozen=True)
class NetworkSpec:
    """A network as data.

    `hidden` is for "mlp", `units` and `sequence` for "lstm", `units` (frequencies) for "kernel", `builder`
    for "custom".
    "graph" and "grid" use `hidden`, `units`, `sequence` and `neighbours`, (number, attributes of each).
    """

    kind: str = "linear"
    hidden: tuple[int, ...] = ()
    units: int = 0
    activation: str = "relu"
    dropout: float = 0.0
    sequence: tuple[int, int] = (0, 0)
    neighbours: tuple[int, int] = (0, 0)
    builder: Callable[..., Any] | None = None


@dataclass(frozen=True)
class TobitShape:
    """Settings of the Tobit head: how the scale is found, and a normal or sinh-arcsinh shape."""

    scale: str = "constant"  # "constant", "network" or "fixed"
    sinh_arcsinh: bool = False


@remember_hash
@dataclass(frozen=True)
class ModelSpec(Remembered):
    """Everything that decides the structure of a model. Equal specs share compiled programs."""

    network: NetworkSpec
    head: str | LocationScale | TobitShape
    columns: int  # including padding
    levels: int
    initialiser: str = "neutral"
    intercept: bool = True
    negated: bool = False  # the model predicts −y: drawn output weights start negated
    fixed_levels: tuple[float, ...] = ()  # the levels, if the head needs them at compile time


class RowWise(eqx.Module):
    """Apply a user's module, written for one row, to every column of (features, rows)."""

    module: Any

    def __call__(self, x: Array, key: Array | None = None) -> Array:
        return jax.vmap(self.module, in_axes=1, out_axes=1)(x)


class Model(eqx.Module):
    """A network and its head: map columns (features, rows) to a prediction for each row."""

    body: Any
    head: Any

    def __call__(
        self, x: Array, levels: Array, key: Array | None = None, scaling: Array | None = None
    ) -> Prediction:
        """Predict. Columns where `scaling` is 0 are hidden from a scale network."""
        raw = self.body(x, key)
        return self.head(raw, x if scaling is None else x * scaling[:, None], levels)


def build(
    spec: ModelSpec,
    noise: Noise,
    key: Array,
    levels: Array,
    start: Start,
    real: Array,
    scaling: Array | None = None,
) -> Model:
    """Return a model with starting weights.

    Parameters
    ----------
    noise : Noise
        Standard normal numbers for the starting weights.
    key : array
        Passed to a custom network.
    levels : array (levels,)
        The quantile levels, increasing.
    real : array (columns,)
        1 for a column of the data, 0 for padding. Weights of padding start at zero and so stay there.
    scaling : array (columns,), optional
        1 for a column that a scale network uses, by default every real one. Its other weights stay at zero.
    """
    head, outputs, bias = _build_head(spec, noise, levels, start, real if scaling is None else scaling)
    body = _build_body(spec, noise, key, outputs, real)
    if spec.network.kind == "custom":
        return Model(body, head)
    layer = _readout(body)
    if spec.initialiser == "neutral":
        weight = start.spread * noise.take(layer.weight.shape)
        weight = weight * real if spec.network.kind == "linear" else weight
        body = eqx.tree_at(_readout, body, Linear(weight, None if layer.bias is None else bias))
    elif spec.negated:
        body = eqx.tree_at(lambda body: _readout(body).weight, body, -layer.weight)
    return Model(body, head)


def _readout(body: Any) -> Linear:
    return body.readout if isinstance(body, LSTM) else body.layers[-1]


def _mlp(
    sizes: tuple[int, ...],
    activation: str,
    dropout: float,
    initialiser: str,
    intercept: bool,
    noise: Noise,
    real: Array,
    spread_bends: bool = False,
) -> MLP:
    layers = []
    for index, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        first, last = index == 0, index == len(sizes) - 2
        weight = draw(initialiser, noise, (fan_out, fan_in), jnp.sum(real) if first else fan_in)
        weight = weight * real if first else weight
        bias = jnp.zeros(fan_out, jnp.float32) if intercept or not last else None
        if first and spread_bends:  # over the data, instead of all through their centre
            bias = noise.take((fan_out,)) * jnp.sqrt(jnp.sum(jnp.square(weight), axis=1))
        layers.append(Linear(weight, bias))
    return MLP(tuple(layers), activation, dropout)


def _build_body(spec: ModelSpec, noise: Noise, key: Array, outputs: int, real: Array) -> Any:
    network = spec.network
    if network.kind == "custom":
        assert network.builder is not None
        return RowWise(network.builder(spec.columns, outputs, key))
    if network.kind == "graph":
        return _build_graph(spec, noise, outputs)
    if network.kind == "grid":
        return _build_raster(spec, noise, outputs)
    if network.kind == "lstm":
        steps, features = network.sequence
        units = network.units
        static = spec.columns - steps * features
        return LSTM(
            *_recurrent(spec, noise, features),
            Linear(
                draw(spec.initialiser, noise, (outputs, units + static), units + static),
                jnp.zeros(outputs, jnp.float32) if spec.intercept else None,
            ),
            steps,
            features,
            network.activation,
            network.dropout,
        )
    if network.kind == "kernel":
        features = spec.columns + 2 * network.units
        return Kernel(
            jnp.full(spec.columns, 0.5) * jnp.log(jnp.maximum(jnp.sum(real), 1.0)),
            (
                Linear(
                    draw(spec.initialiser, noise, (outputs, features), features),
                    jnp.zeros(outputs, jnp.float32) if spec.intercept else None,
                ),
            ),
            network.units,
            network.dropout,
        )
    sizes = (spec.columns, *network.hidden, outputs)
    start = (network.activation, network.dropout, spec.initialiser, spec.intercept)
    spread = network.kind == "mlp" and isinstance(spec.head, LocationScale) and spec.initialiser == "neutral"
    return _mlp(sizes, *start, noise, real, spread_bends=spread)


def _recurrent(spec: ModelSpec, noise: Noise, features: int) -> tuple[Array, Array, Array]:
    """Return the weights of an LSTM's gates: of inputs, of the state, and biases."""
    units = spec.network.units
    forget = jnp.repeat(jnp.array([0.0, 1.0, 0.0, 0.0], jnp.float32), units)
    return (
        draw(spec.initialiser, noise, (4 * units, features), features),
        draw(spec.initialiser, noise, (4 * units, units), units),
        forget if spec.initialiser in ("neutral", "glorot") else jnp.zeros_like(forget),
    )


def _build_graph(spec: ModelSpec, noise: Noise, outputs: int) -> Graph:
    network = spec.network
    units, (steps, features), (count, attributes) = network.units, network.sequence, network.neighbours
    static = spec.columns - steps * features - count * (steps + attributes)
    return Graph(
        Linear(draw("glorot", noise, (units, attributes), attributes), jnp.zeros(units, jnp.float32)),
        Linear(draw("glorot", noise, (units, units), units), jnp.ones(units, jnp.float32)),
        *_recurrent(spec, noise, features + units),
        _layers(spec, noise, (units + static, *network.hidden, outputs)),
        network.sequence,
        network.neighbours,
        network.activation,
        network.dropout,
    )


def _build_raster(spec: ModelSpec, noise: Noise, outputs: int) -> Raster:
    network = spec.network
    units, (steps, _), (count, attributes) = network.units, network.sequence, network.neighbours
    static = spec.columns - count * (steps + attributes)
    channels = [steps + attributes, *[units] * (isqrt(count) // 2 - 1)]
    filters = tuple(
        Linear(draw("glorot", noise, (units, 9 * each), 9 * each), jnp.zeros(units, jnp.float32))
        for each in channels
    )
    return Raster(
        filters,
        _layers(spec, noise, (units + static, *network.hidden, outputs)),
        network.sequence,
        network.neighbours,
        network.activation,
        network.dropout,
    )


def _layers(spec: ModelSpec, noise: Noise, sizes: tuple[int, ...]) -> tuple[Linear, ...]:
    real = jnp.ones(sizes[0], jnp.float32)
    return _mlp(sizes, "relu", 0.0, spec.initialiser, spec.intercept, noise, real).layers


def _build_head(
    spec: ModelSpec, noise: Noise, levels: Array, start: Start, real: Array
) -> tuple[Any, int, Array]:
    """Return the head, its number of raw outputs, and the output bias of a neutral start."""
    raw_scale = jnp.reshape(inverse_softplus(start.scale), (1,))
    if isinstance(spec.head, str):
        free = HEADS[spec.head]
        return free(), free.outputs(spec.levels), free.neutral_bias(levels, start)
    location = jnp.reshape(jnp.asarray(start.location, jnp.float32), (1,))
    if isinstance(spec.head, TobitShape):
        shape = jnp.zeros(2, jnp.float32) if spec.head.sinh_arcsinh else None
        if spec.head.scale == "network":
            return GaussianHead(None, shape, False), 2, jnp.concatenate([location, raw_scale])
        fixed = spec.head.scale == "fixed"
        own = jnp.reshape(jnp.asarray(start.scale, jnp.float32), (1,)) if fixed else raw_scale
        return GaussianHead(own, shape, fixed), 1, location
    kind = spec.head.scale
    if kind == "auto":
        kind = "network" if spec.network.kind in ("linear", "mlp") else "shared"
    raw_scale = jnp.reshape(LINKS[spec.head.link].raw(start.scale), (1,))
    gaps, shape = start_gaps(spec.fixed_levels), jnp.zeros(2, jnp.float32)
    static = (spec.fixed_levels, spec.head.link)
    if kind == "shared":
        return LocationScaleHead(gaps, shape, None, None, *static), 2, jnp.concatenate([location, raw_scale])
    if kind == "constant":
        return LocationScaleHead(gaps, shape, raw_scale, None, *static), 1, location
    hidden = spec.head.scale_hidden if kind == "network" else ()
    scale = _mlp((spec.columns, *hidden, 1), "relu", 0.0, "glorot", True, noise, real)
    last = scale.layers[-1]
    small = Linear(0.1 * last.weight if hidden else jnp.zeros_like(last.weight), raw_scale)
    scale = eqx.tree_at(lambda network: network.layers[-1], scale, small)
    return LocationScaleHead(gaps, shape, None, scale, *static), 1, location
