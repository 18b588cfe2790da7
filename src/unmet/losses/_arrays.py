"""NumPy or JAX, whichever the caller uses, and the shape check that every loss shares."""

import sys
from typing import Any

import numpy as np

# An array of either library, or a number. JAX's type cannot be named without importing JAX.
Array = Any

SIDES = ("right", "left")


def namespace(*arrays: Array) -> Any:
    """`jax.numpy` if any argument is a JAX array or tracer, else `numpy`; never imports JAX by itself."""
    jax = sys.modules.get("jax")
    kind = getattr(jax, "Array", None)
    if kind is not None and any(isinstance(array, kind) for array in arrays):
        import jax.numpy as jnp

        return jnp
    return np


def check_shapes(**arrays: Array) -> tuple[int, ...]:
    """The common shape of the named arrays; ValueError that lists the shapes if there is none."""
    return common_shape({name: np.shape(array) for name, array in arrays.items() if array is not None})


def check_level_shapes(quantiles: Array, **arrays: Array) -> None:
    """ValueError unless the named arrays broadcast with one level of quantiles of shape (K, N, ...)."""
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    shape = np.shape(quantiles)
    if common_shape({**shapes, "one level of quantiles": shape[1:]}) != shape[1:]:
        raise ValueError(f"quantiles must have shape (K, N, ...), got {shape} with {shapes}")


def common_shape(shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that all named shapes broadcast to."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes do not broadcast: {listed}") from None


def check_side(side: str) -> None:
    """ValueError unless side is "right" or "left"."""
    if side not in SIDES:
        raise ValueError(f'side must be "right" or "left", got {side!r}')


def levels_first(thetas: Array, quantiles: Array) -> Array:
    """Give (K,) thetas the trailing axes that let them broadcast with quantiles of shape (K, N, ...)."""
    shape = np.shape(thetas)
    rank = np.ndim(quantiles)
    if rank == 0 or not shape or shape[0] != np.shape(quantiles)[0]:
        raise ValueError(
            "quantiles must hold one level per entry of thetas along their first axis, "
            f"got thetas {shape} and quantiles {np.shape(quantiles)}"
        )
    levels = namespace(thetas, quantiles).asarray(thetas)
    return levels.reshape(shape + (1,) * (rank - 1)) if len(shape) == 1 else levels
