"""Choice of NumPy or JAX by the caller's arrays, and the shape checks that all losses share."""

import sys
from typing import Any

import numpy as np

from unmet.censoring import Side

# An array of either library, or a number. Naming JAX's type would mean importing JAX.
Array = Any


def namespace(*arrays: Array) -> Any:
    """Return `jax.numpy` if any argument is a JAX array or tracer, else `numpy`. Never imports JAX first."""
    jax = sys.modules.get("jax")
    kind = getattr(jax, "Array", None)
    if kind is not None and any(isinstance(array, kind) for array in arrays):
        import jax.numpy as jnp

        return jnp
    return np


def check_shapes(**arrays: Array) -> tuple[int, ...]:
    """Return the common shape of the named arrays, or raise a ValueError that lists their shapes."""
    return common_shape({name: np.shape(array) for name, array in arrays.items() if array is not None})


def check_level_shapes(quantiles: Array, **arrays: Array) -> None:
    """Raise ValueError unless the arrays broadcast with one level of quantiles of shape (K, N, ...)."""
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    shape = np.shape(quantiles)
    if common_shape({**shapes, "one level of quantiles": shape[1:]}) != shape[1:]:
        raise ValueError(f"quantiles must have shape (K, N, ...), got {shape} with {shapes}")


def common_shape(shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that all named shapes broadcast to."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes do not broadcast: {listed}") from None


def check_side(side: Side) -> None:
    """Raise ValueError unless side is "right" or "left"."""
    if side not in ("right", "left"):
        raise ValueError(f'side must be "right" or "left", got {side!r}')


def levels_first(thetas: Array, quantiles: Array) -> Array:
    """Add trailing axes to (K,) thetas so that they broadcast with quantiles of shape (K, N, ...)."""
    shape = np.shape(thetas)
    rank = np.ndim(quantiles)
    if rank == 0 or not shape or shape[0] != np.shape(quantiles)[0]:
        raise ValueError(
            "quantiles must hold one level per entry of thetas along their first axis, "
            f"got thetas {shape} and quantiles {np.shape(quantiles)}"
        )
    levels = namespace(thetas, quantiles).asarray(thetas)
    return levels.reshape(shape + (1,) * (rank - 1)) if len(shape) == 1 else levels
