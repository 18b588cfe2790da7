"""One epoch of one network: gradient steps, then the decision to continue."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from unmet.training._objective import stopping_loss, training_loss
from unmet.training._problem import Problem, Rows
from unmet.training._spec import ProgramSpec

# Adam's epsilon is outside the square root. Its place changes LSTM results by up to 5%.
ADAM = optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8, eps_root=0.0)
# Early-stopping rows are evaluated in blocks of this size to bound memory.
_STOP_BLOCK = 2**16


class State(NamedTuple):
    """A network in training."""

    weights: Array
    optimiser: Any
    best: Array | None  # None without early stopping
    best_loss: Array
    wait: Array
    epoch: Array
    active: Array
    key: Array


def epoch(state: State, problem: Problem, spec: ProgramSpec) -> tuple[State, Array, Array]:
    """Return the state after one pass over the training rows, with training and stopping losses."""
    key, weights, optimiser = state.key, state.weights, state.optimiser
    random = spec.batches > 1 or spec.model.network.dropout > 0
    if random:
        key, key_shuffle, key_drop = jax.random.split(key, 3)
    else:
        key_shuffle = key_drop = None
    if spec.model.network.dropout == 0:
        key_drop = None

    if spec.batches == 1:
        rate = _rate(state.epoch.astype(jnp.float32), problem, spec)
        weights, optimiser, loss = _step(weights, optimiser, problem.train, problem, spec, rate, key_drop)
    else:
        offsets = jax.random.randint(key_shuffle, (spec.segments,), 0, spec.batches)

        def body(index: Array, carry: tuple[Array, Any, Array]) -> tuple[Array, Any, Array]:
            weights, optimiser, total = carry
            rows = _batch(problem.train, index, offsets, spec)
            key = None if key_drop is None else jax.random.fold_in(key_drop, index)
            rate = _rate(state.epoch + index.astype(jnp.float32) / spec.batches, problem, spec)
            weights, optimiser, loss = _step(weights, optimiser, rows, problem, spec, rate, key)
            return weights, optimiser, total + loss

        carry = (weights, optimiser, jnp.float32(0))
        weights, optimiser, total = jax.lax.fori_loop(0, spec.batches, body, carry)
        loss = total / spec.batches

    count = state.epoch + 1
    if problem.stop is None:
        watched = loss
        best, best_loss, wait = None, loss, state.wait
        going = count < problem.max_epochs
    else:
        watched = _watch(weights, problem, spec)
        better = watched < state.best_loss
        best = _choose(better, weights, state.best)
        best_loss = jnp.where(better, watched, state.best_loss)
        wait = jnp.where(better, 0, state.wait + 1)
        going = (count < problem.max_epochs) & (wait < problem.patience)
    after = State(weights, optimiser, best, best_loss, wait, count, going, key)
    # A network alone trains only while it is active; keeping its old state would cost copies of it.
    return (after if spec.slots == 1 else _choose(state.active, after, state)), loss, watched


def _rate(epochs: Array, problem: Problem, spec: ProgramSpec) -> Array:
    """Return the learning rate after so many epochs. It falls within an epoch too: a large table has few."""
    rate = problem.hyper.learning_rate
    if spec.schedule == "cosine":
        rate = rate * 0.5 * (1 + jnp.cos(jnp.pi * (epochs / problem.max_epochs.astype(jnp.float32))))
    return rate


def _step(
    weights: Array,
    optimiser: Any,
    rows: Rows,
    problem: Problem,
    spec: ProgramSpec,
    rate: Array,
    key: Array | None,
) -> tuple[Array, Any, Array]:
    gradient, loss = jax.grad(training_loss, has_aux=True)(weights, rows, problem, spec, key)
    shrink = jnp.minimum(1.0, problem.hyper.clip_norm * jax.lax.rsqrt(gradient @ gradient))
    update, optimiser = ADAM.update(gradient * shrink, optimiser)
    return weights - rate * update, optimiser, loss


def _batch(rows: Rows, index: Array, offsets: Array, spec: ProgramSpec) -> Rows:
    """Return mini-batch `index` of this epoch. Each of its segments comes from a different batch.

    Rows are in random order. Shifting each segment over the batches by its own offset mixes them as well as
    a permutation of the rows, and costs a few contiguous copies instead of a sort. They are made in a loop:
    written out, they took a quarter of the time that it takes to compile the program.
    """
    size = spec.rows // spec.batches
    width = size // spec.segments

    def copy(segment: Array, batch: Rows) -> Rows:
        begin = ((index + offsets[segment]) % spec.batches) * size + segment * width

        def put(array: Array, into: Array) -> Array:
            part = jax.lax.dynamic_slice_in_dim(array, begin, width, axis=-1)
            return jax.lax.dynamic_update_slice_in_dim(into, part, segment * width, axis=-1)

        return jax.tree.map(put, rows, batch)

    empty = jax.tree.map(lambda array: jnp.zeros((*array.shape[:-1], size), array.dtype), rows)
    batch = jax.lax.fori_loop(0, spec.segments, copy, empty)
    return batch._replace(weight=batch.weight / jnp.maximum(jnp.sum(batch.weight), 1e-30))


def _watch(weights: Array, problem: Problem, spec: ProgramSpec) -> Array:
    assert problem.stop is not None
    if spec.stop_rows <= _STOP_BLOCK:
        return stopping_loss(weights, problem.stop, problem, spec)
    blocks = -(-spec.stop_rows // _STOP_BLOCK)
    size = spec.stop_rows // blocks  # padded shapes this large divide evenly enough; the rest follows
    total = jnp.float32(0)
    for begin in range(0, spec.stop_rows, size):
        part = jax.tree.map(lambda array, begin=begin: array[..., begin : begin + size], problem.stop)
        total += stopping_loss(weights, part, problem, spec)
    return total


def _choose(condition: Array, one: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)
