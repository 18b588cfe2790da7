"""Convolutional network over the cells of a map around each row's place."""

from math import isqrt

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from unmet.networks._graph import split_around
from unmet.networks._layers import ACTIVATIONS, Linear, drop


class Raster(eqx.Module):
    """A row is a place at a moment, with its own sequence and the series of the square of cells around it.

    Steps and attributes of a cell are channels. Convolutions of 3 × 3 cells without padding shrink the
    square to its middle, so the result is that of the same convolutions over the whole map, computed only
    where there is a place. Hidden layers take it, the own sequence and the static columns.

    Columns: own sequence (steps × features), series (cells × steps), cells (cells × attributes), static.
    Cells run row by row through a square with an odd side.
    """

    filters: tuple[Linear, ...]  # each (units, 9 · channels)
    layers: tuple[Linear, ...]
    sequence: tuple[int, int] = eqx.field(static=True)
    neighbours: tuple[int, int] = eqx.field(static=True)
    activation: str = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __call__(self, x: Array, key: Array | None = None) -> Array:
        x = drop(x, self.dropout, key)
        own, series, cells, static = split_around(x, self.sequence, self.neighbours)
        rows, side = x.shape[1], isqrt(self.neighbours[0])
        square = jnp.concatenate([series, cells], axis=1).reshape(side, side, -1, rows)
        activation = ACTIVATIONS[self.activation]
        for layer in self.filters:
            smaller = side - 2
            windows = [
                square[down : down + smaller, right : right + smaller]
                for down in range(3)
                for right in range(3)
            ]
            stacked = jnp.concatenate(windows, axis=2)
            square = activation(jax.vmap(jax.vmap(layer))(stacked))
            side = smaller
        x = jnp.concatenate([square[0, 0], own.reshape(-1, rows), static])
        for layer in self.layers[:-1]:
            x = ACTIVATIONS["relu"](layer(x))
        return self.layers[-1](x)
