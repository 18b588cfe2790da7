"""All weights of a model as one vector, so that the optimiser needs few operations for any model."""

from functools import cache
from math import prod
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from unmet.networks._heads import Start
from unmet.networks._layers import Noise
from unmet.networks._model import Model, ModelSpec, build
from unmet.runs import one_at_a_time


class Layout(NamedTuple):
    """Where each array of a model lies in its vector."""

    names: tuple[str, ...]  # for example body.layers[0].weight
    shapes: tuple[tuple[int, ...], ...]
    size: int
    noise: int  # count of normal numbers that the starting weights use
    tree: Any
    static: Any


@one_at_a_time
@cache
def layout(spec: ModelSpec) -> Layout:
    """Return the layout of a spec's models, without computing any array."""
    noise = Noise()

    def begin() -> Model:
        levels = (jnp.arange(spec.levels, dtype=jnp.float32) + 1) / (spec.levels + 1)
        key = jnp.zeros(2, jnp.uint32)
        return build(spec, noise, key, levels, Start(0.0, 1.0), jnp.ones(spec.columns, jnp.float32))

    model = eqx.filter_eval_shape(begin)
    arrays, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    leaves, tree = jax.tree.flatten(arrays)
    if any(leaf.dtype != np.float32 for leaf in leaves):
        raise ValueError("network must hold float32 arrays only: convert its other arrays")
    paths = jax.tree_util.tree_flatten_with_path(arrays)[0]
    names = tuple(jax.tree_util.keystr(path).lstrip(".") for path, _ in paths)
    shapes = tuple(leaf.shape for leaf in leaves)
    return Layout(names, shapes, sum(map(prod, shapes)), noise.used, tree, static)


def flatten(model: Model) -> Array:
    """Return the vector of a model's weights."""
    arrays = [leaf for leaf in jax.tree.leaves(model) if eqx.is_array(leaf)]
    return jnp.concatenate([jnp.ravel(leaf) for leaf in arrays])


def unflatten(spec: ModelSpec, vector: Array) -> Model:
    """Return the model whose weights are in the vector."""
    plan = layout(spec)
    parts = jax.lax.split(vector, [prod(shape) for shape in plan.shapes])
    arrays = [part.reshape(shape) for part, shape in zip(parts, plan.shapes)]
    return eqx.combine(jax.tree.unflatten(plan.tree, arrays), plan.static)


def split(spec: ModelSpec, vector: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays of the vector by name."""
    plan = layout(spec)
    ends = np.cumsum([prod(shape) for shape in plan.shapes])
    parts = np.split(vector, ends[:-1])
    return {name: part.reshape(shape) for name, part, shape in zip(plan.names, parts, plan.shapes)}
