"""Parts of a program that XLA computes once."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from unmet.networks._apart import apart

STEPS, SIZE = 10, 64


def step(x: Array) -> Array:
    return x * (1 - x)


def operations(step: Callable[[Array], Array]) -> float:
    """Return the cost of a chain of steps whose results are all used."""

    def chain(x: Array) -> list[Array]:
        used = []
        for _ in range(STEPS):
            x = step(x)
            used.append(x + 1)
        return used

    return float(jax.jit(chain).lower(jnp.ones(SIZE)).compile().cost_analysis()["flops"])


def test_steps_of_a_chain_do_not_repeat_those_before_them():
    once = 3 * STEPS * SIZE
    assert operations(apart(step)) == once
    assert operations(step) > 1.5 * once, "XLA keeps the results itself: `apart` is no longer needed"


def test_results_are_those_of_the_function():
    x = jnp.linspace(-1, 1, SIZE)
    assert (apart(step)(x) == jax.jit(step)(x)).all()
    assert (jax.vmap(apart(step))(x[:, None])[:, 0] == jax.jit(step)(x)).all()
