"""Fully connected network: affine layers with activations between them."""

import equinox as eqx
from jax import Array

from unmet.networks._layers import ACTIVATIONS, Linear, drop


class MLP(eqx.Module):
    """x → W_L a(… a(W_1 x + b_1) …) + b_L. Without hidden layers this is the linear network."""

    layers: tuple[Linear, ...]
    activation: str = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __call__(self, x: Array, key: Array | None = None) -> Array:
        x = drop(x, self.dropout, key)
        for layer in self.layers[:-1]:
            x = ACTIVATIONS[self.activation](layer(x))
        return self.layers[-1](x)
