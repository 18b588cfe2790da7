"""The affine layer, its starting weights, activations and dropout."""

from math import prod
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

Initialiser = Literal["neutral", "ones", "normal", "glorot"]
Activation = Literal["relu", "tanh", "softplus", "linear"]
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
    "linear": lambda x: x,
}


class Noise:
    """Standard normal numbers, handed out in order. Without numbers it only counts what is asked for.

    Numbers are drawn outside compiled programs, because drawing inside adds seconds of compilation.
    """

    def __init__(self, numbers: Array | None = None) -> None:
        self.numbers = numbers
        self.used = 0

    def take(self, shape: tuple[int, ...]) -> Array:
        begin, self.used = self.used, self.used + prod(shape)
        if self.numbers is None:
            return jnp.zeros(shape, jnp.float32)
        return self.numbers[begin : self.used].reshape(shape)


def draw(initialiser: str, noise: Noise, shape: tuple[int, int], fan_in: Array | float) -> Array:
    """Return the starting weights of a layer of `shape` (outputs, inputs).

    "ones" gives 1 and "normal" N(0, 1). "glorot", and "neutral" for hidden layers, give N(0, 2 / (inputs +
    outputs)), where `fan_in` counts the inputs that are not padding.
    """
    if initialiser == "ones":
        return jnp.ones(shape, jnp.float32)
    numbers = noise.take(shape)
    if initialiser == "normal":
        return numbers
    return numbers * jnp.sqrt(2.0 / (jnp.asarray(fan_in, jnp.float32) + shape[0]))


# Up to so many outputs, a gradient of the weights takes one product per output.
_FEW = 4


@jax.custom_vjp
def _few(weight: Array, x: Array) -> Array:
    """Return W x for few outputs. The gradient of W is (x gₖ)ₖ: XLA would pack all of x for g xᵀ."""
    return weight @ x


def _few_forward(weight: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    return weight @ x, (weight, x)


def _few_backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    weight, x = kept
    return jnp.stack([x @ one for one in gradient]), weight.T @ gradient


_few.defvjp(_few_forward, _few_backward)


class Linear(eqx.Module):
    """W x + b, for columns x: `(inputs, rows)` → `(outputs, rows)`."""

    weight: Array
    bias: Array | None

    def __call__(self, x: Array) -> Array:
        product = _few(self.weight, x) if len(self.weight) <= _FEW else self.weight @ x
        return product if self.bias is None else product + self.bias[:, None]


def drop(x: Array, rate: float, key: Array | None) -> Array:
    """Apply inverted dropout to x. Without a key, as in prediction, return x."""
    if rate == 0.0 or key is None:
        return x
    kept = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(kept, x / (1.0 - rate), 0.0)
