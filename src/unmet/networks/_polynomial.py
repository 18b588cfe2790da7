"""Polynomials, and functions that are cheaper by them than XLA's own."""

import jax.numpy as jnp
import numpy as np
from jax import Array

# Powers of x² in tanh x = x p(x²)/q(x²), least worst relative error on |x| ≤ 8, beyond which tanh is 1.
_ABOVE = (0.999999854, 0.129256603, 0.00295102094, 1.14283942e-05)
_BELOW = (1.0, 0.462588759, 0.0238155424, 0.000238668776, 2.45920182e-07)
_ONE = 8.0


def polynomial(powers: tuple[float, ...], x: Array) -> Array:
    """Return the polynomial with these coefficients, constant first."""
    found = jnp.full_like(x, powers[-1])
    for power in powers[-2::-1]:
        found = found * x + np.float32(power)
    return found


def fast_tanh(x: Array) -> Array:
    """Return tanh within 5e-7 of its size and never beyond ±1, without a derivative of its own.

    XLA's own takes half as many operations again, for the last bits and values near zero.
    """
    x = jnp.clip(x, -_ONE, _ONE)
    square = jnp.square(x)
    return x * polynomial(_ABOVE, square) / polynomial(_BELOW, square)
