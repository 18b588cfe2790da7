"""Graph network: a convolution over neighbours at each step, an LSTM over the steps."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from unmet.networks._layers import ACTIVATIONS, Linear, drop
from unmet.networks._lstm import last_state


class Graph(eqx.Module):
    """A row is a place at a moment, with its own sequence and the series of its neighbours.

    At step s the neighbours' values x_js are summed with weights that depend on the edge e_j alone,
    g_s = Σ_j k(e_j) x_js,  k(e) = W₂ tanh(W₁ e + b₁) + b₂,
    so that each of the `units` sums learns its own kernel of distance, direction or flow. An LSTM reads
    (own values, g_s); hidden layers take its last state and the static columns. Neighbours enter through a
    sum only: their order does not matter, and places share all weights.

    Columns: own sequence (steps × features), series (neighbours × steps), edges (neighbours × attributes),
    static.

    References
    ----------
    Edge-conditioned convolution: Simonovsky and Komodakis (CVPR 2017). Graph convolution under a recurrent
    core: Zhao and others, T-GCN (IEEE T-ITS 2020).
    """

    edge: Linear  # (units, attributes)
    kernel: Linear  # (units, units)
    inputs: Array  # (4 units, features + units)
    recurrent: Array  # (4 units, units)
    bias: Array  # (4 units,)
    layers: tuple[Linear, ...]
    sequence: tuple[int, int] = eqx.field(static=True)
    neighbours: tuple[int, int] = eqx.field(static=True)
    activation: str = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __call__(self, x: Array, key: Array | None = None) -> Array:
        x = drop(x, self.dropout, key)
        own, series, edges, static = split_around(x, self.sequence, self.neighbours)
        count, attributes, rows = edges.shape
        flat = jnp.moveaxis(edges, 1, 0).reshape(attributes, count * rows)
        kernel = self.kernel(jnp.tanh(self.edge(flat))).reshape(-1, count, rows)
        around = jnp.einsum("ujr,jsr->sur", kernel, series) / count
        hidden = last_state(
            self.activation, self.inputs, self.recurrent, self.bias, jnp.concatenate([own, around], axis=1)
        )
        x = jnp.concatenate([hidden, static])
        for layer in self.layers[:-1]:
            x = ACTIVATIONS["relu"](layer(x))
        return self.layers[-1](x)


def split_around(
    x: Array, sequence: tuple[int, int], neighbours: tuple[int, int]
) -> tuple[Array, Array, Array, Array]:
    """Return the own sequence (steps, features, rows), series (neighbours, steps, rows), edges, static."""
    (steps, features), (count, attributes), rows = sequence, neighbours, x.shape[1]
    ends = [steps * features, steps * features + count * steps]
    ends.append(ends[-1] + count * attributes)
    own, series, edges, static = jnp.split(x, ends)
    return (
        own.reshape(steps, features, rows),
        series.reshape(count, steps, rows),
        edges.reshape(count, attributes, rows),
        static,
    )
