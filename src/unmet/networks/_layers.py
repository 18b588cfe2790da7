"""The affine layer, its starting weights, activations and dropout."""

from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

INITIALISERS = ("neutral", "ones", "normal", "glorot")
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
    "linear": lambda x: x,
}


class Noise:
    """Standard normal numbers, handed out in order; without numbers it only counts what is asked for.

    They are drawn outside compiled programs: random bits inside cost seconds of compilation.
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
    """Starting weights of a layer of `shape` (outputs, inputs).

    "ones": 1. "normal": N(0, 1). "glorot" and, for hidden layers, "neutral": normal with variance
    2 / (inputs + outputs), where `fan_in` counts the inputs that are not padding.
    """
    if initialiser == "ones":
        return jnp.ones(shape, jnp.float32)
    numbers = noise.take(shape)
    if initialiser == "normal":
        return numbers
    return numbers * jnp.sqrt(2.0 / (jnp.asarray(fan_in, jnp.float32) + shape[0]))


class Linear(eqx.Module):
    """W x + b, for columns x: `(inputs, rows)` → `(outputs, rows)`."""

    weight: Array
    bias: Array | None

    def __call__(self, x: Array) -> Array:
        product = self.weight @ x
        return product if self.bias is None else product + self.bias[:, None]


def drop(x: Array, rate: float, key: Array | None) -> Array:
    """Inverted dropout of entries of x; without a key (prediction) x itself."""
    if rate == 0.0 or key is None:
        return x
    kept = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(kept, x / (1.0 - rate), 0.0)
