"""The objective: turn predictions into the number to minimise. Only here do losses meet heads.

One-sided problems here are right-censored; left-censored ones arrive mirrored.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from unmet.losses import (
    censored_tilted_loss,
    doubly_censored_tilted_loss,
    interval_tobit_loss,
    portnoy_loss,
    self_consistent_loss,
    tobit_loss,
)
from unmet.networks import LocationScale, Prediction, unflatten
from unmet.training._problem import Problem, Rows
from unmet.training._spec import ProgramSpec

# A sinh-arcsinh shape this far from the normal one may be so by chance.
_NEAR_NORMAL = 0.1

RowLoss = Callable[[Prediction, Rows, Problem, ProgramSpec], Array]


def _known_thresholds(prediction: Prediction, rows: Rows, problem: Problem, spec: ProgramSpec) -> Array:
    levels = problem.levels[:, None]
    if spec.two_sided:
        return doubly_censored_tilted_loss(
            rows.y, prediction.quantiles, levels, rows.floor, rows.cap, width=spec.smoothing
        )
    return censored_tilted_loss(
        rows.y, prediction.quantiles, levels, rows.cap, side="right", width=spec.smoothing
    )


def _flags(prediction: Prediction, rows: Rows, problem: Problem, spec: ProgramSpec) -> Array:
    return portnoy_loss(
        rows.y,
        prediction.quantiles,
        problem.levels,
        rows.censored != 0,
        problem.hyper.far,
        width=spec.smoothing,
    )


def _intervals(prediction: Prediction, rows: Rows, problem: Problem, spec: ProgramSpec) -> Array:
    # Where a side is open, floor and cap hold a value beyond all data.
    return self_consistent_loss(
        rows.floor, rows.cap, rows.censored, prediction.quantiles, problem.levels, width=spec.smoothing
    )


def _tobit(prediction: Prediction, rows: Rows, problem: Problem, spec: ProgramSpec) -> Array:
    if spec.two_sided:
        shape = (prediction.location, prediction.scale, prediction.skew, prediction.tail)
        return interval_tobit_loss(*_bounds(rows), *shape)[None]
    loss = tobit_loss(
        rows.y,
        prediction.location,
        prediction.scale,
        rows.censored,
        side="right",
        skew=prediction.skew,
        tail=prediction.tail,
    )
    return loss[None]


def _bounds(rows: Rows) -> tuple[Array, Array]:
    """Return bounds on the latent values of two-sided rows."""
    between = rows.censored == 2
    lower = jnp.where(between, rows.floor, jnp.where(rows.censored < 0, -jnp.inf, rows.y))
    return lower, jnp.where(between, rows.cap, jnp.where(rows.censored > 0, jnp.inf, rows.y))


ROW_LOSSES: dict[str, RowLoss] = {
    "quantile": _known_thresholds,
    "portnoy": _flags,
    "intervals": _intervals,
    "tobit": _tobit,
}


def stopping_loss(weights: Array, rows: Rows, problem: Problem, spec: ProgramSpec) -> Array:
    """Return the mean loss over rows and levels, without penalties. Early stopping watches it."""
    model = unflatten(spec.model, weights)
    prediction = model(rows.x, problem.levels)
    head = spec.model.head
    if spec.objective in ("portnoy", "intervals") and isinstance(head, LocationScale) and head.likelihood:
        return _likelihood(head, prediction, rows, problem, spec) @ rows.weight
    losses = ROW_LOSSES[spec.objective](prediction, rows, problem, spec)
    return jnp.mean(losses @ rows.weight)


def _likelihood(
    head: LocationScale, prediction: Prediction, rows: Rows, problem: Problem, spec: ProgramSpec
) -> Array:
    """Return the negative log-likelihood of each row under the head's sinh-arcsinh shape."""
    cost = _tobit(prediction, rows, problem, spec)[0]
    # Not logaddexp: nothing overflows here, and XLA would compile its cases, too.
    return -jnp.log(jnp.exp(-cost) + head.background) if head.background else cost


def training_loss(
    weights: Array, rows: Rows, problem: Problem, spec: ProgramSpec, key: Array | None
) -> tuple[Array, Array]:
    """Return the number to minimise, and the part of it that comes from the data."""
    model = unflatten(spec.model, weights)
    prediction = model(rows.x, problem.levels, key, problem.scaling)
    weight, extra, penalty = rows.weight, 0.0, problem.hyper.l2 * squared_weights(model.body)
    head = spec.model.head
    if isinstance(head, LocationScale):
        if head.weight_rows:
            scale = jax.lax.stop_gradient(prediction.scale)
            weight = weight / jnp.maximum(scale, 0.2 * (scale @ rows.weight))
        if head.likelihood:
            extra = head.likelihood * (_likelihood(head, prediction, rows, problem, spec) @ rows.weight)
        distance = jnp.mean(jnp.square(prediction.anchors - prediction.shape_anchors))
        penalty += problem.hyper.scale_ridge * squared_weights(model.head.scale_network)
        penalty += head.shape_ridge * distance
        penalty += problem.hyper.normal_ridge * distance_from_normal(model.head.raw_shape)
    losses = ROW_LOSSES[spec.objective](prediction, rows, problem, spec)
    data = jnp.mean(losses @ weight) + extra
    return data + penalty, data


def distance_from_normal(raw_shape: Array) -> Array:
    """Return Σ log(1 + (s / 0.1)²) over the two numbers of a sinh-arcsinh shape, which are 0 if it is normal.

    That is the cost of a prior with heavy tails. Normal noise leaves skewness and log tail within 0.1 of
    zero, where this draws them in a hundred times as strongly as a square would; those of skewed and of
    heavy-tailed noise are 0.4 and more, which it hardly moves.
    """
    return jnp.sum(jnp.log1p(jnp.square(raw_shape / _NEAR_NORMAL)))


def squared_weights(module: object) -> Array:
    """Return the sum of squares of all weight matrices of a module, without biases."""
    matrices = [leaf for leaf in jax.tree.leaves(module) if eqx.is_array(leaf) and leaf.ndim >= 2]
    return sum((jnp.sum(jnp.square(matrix)) for matrix in matrices), jnp.float32(0))
