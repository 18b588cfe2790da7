"""Compiled programs: start networks in slots, and train all slots until enough have finished."""

from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from unmet.networks import Noise, Start, build, flatten
from unmet.runs import enable_compile_cache, one_at_a_time
from unmet.training._epoch import ADAM, State, epoch
from unmet.training._problem import Hyper, Problem, sizes, views
from unmet.training._shapes import refilled
from unmet.training._spec import ProgramSpec

# Most epochs in one call.
CHUNK = 256
# XLA uses vectors of 256 bits, because wider ones slow the clock of some processors. Its matrix products use
# the widest all the same.
_WIDE = {"xla_cpu_prefer_vector_width": 512}


class Program(NamedTuple):
    """The two compiled functions of a spec. Both take and return a stack of states, one per slot."""

    start: (
        Any  # (states, floats, integers, slots to fill, their floats, integers) → (states, floats, integers)
    )
    advance: Any  # (states, floats, integers, limit, enough) → (states, losses, epochs done)


def start_one(problem: Problem, spec: ProgramSpec) -> State:
    """Return a network before its first epoch."""
    hyper = problem.hyper
    start = Start(hyper.location, hyper.scale, hyper.spread)
    columns = (problem.real, problem.scaling)
    model = build(spec.model, Noise(problem.noise), problem.key, problem.levels, start, *columns)
    weights = flatten(model)
    return State(
        weights=weights,
        optimiser=ADAM.init(weights),
        best=None if problem.stop is None else weights,
        best_loss=jnp.float32(jnp.inf),
        wait=jnp.int32(0),
        epoch=jnp.int32(0),
        active=jnp.bool_(True),
        key=problem.key,
    )


def unpack(spec: ProgramSpec, floats: Array, integers: Array) -> Problem:
    """Return the parts of a problem inside a compiled program."""
    problem = views(spec, floats, integers)
    return problem._replace(
        hyper=Hyper(*problem.hyper),
        max_epochs=problem.max_epochs.astype(jnp.int32),
        patience=problem.patience.astype(jnp.int32),
    )


@one_at_a_time
@cache
def program(spec: ProgramSpec) -> Program:
    """Return the compiled functions of a spec. They are made once per process and cached on disk."""
    enable_compile_cache()

    over_slots = jax.vmap if spec.slots > 1 else _alone
    over_fresh = jax.vmap if refilled(spec.slots) > 1 else _alone

    def start(
        states: State, floats: Array, integers: Array, index: Array, new_floats: Array, new_integers: Array
    ) -> tuple[State, Array, Array]:
        begun = over_fresh(lambda f, i: start_one(unpack(spec, f, i), spec))(new_floats, new_integers)
        if spec.slots == 1:
            return begun, new_floats, new_integers

        # One slot after the other, in place: XLA's scatter is many times slower.
        def put(number: Array, held: Any) -> Any:
            def replace(old: Array, new: Array) -> Array:
                one = jax.lax.dynamic_slice_in_dim(new, number, 1)
                return jax.lax.dynamic_update_slice_in_dim(old, one, index[number], 0)

            return jax.tree.map(replace, held, (begun, new_floats, new_integers))

        return jax.lax.fori_loop(0, len(index), put, (states, floats, integers))

    def advance(
        states: State, floats: Array, integers: Array, limit: Array, enough: Array
    ) -> tuple[State, Array, Array]:
        problems = over_slots(lambda f, i: unpack(spec, f, i))(floats, integers)
        losses = jnp.zeros((CHUNK, 2, spec.slots), jnp.float32)

        def going(carry: tuple[Array, State, Array]) -> Array:
            count, states, _ = carry
            return (count < limit) & (jnp.sum(states.active) > enough)

        def body(carry: tuple[Array, State, Array]) -> tuple[Array, State, Array]:
            count, states, losses = carry
            states, loss, watched = over_slots(lambda s, p: epoch(s, p, spec))(states, problems)
            losses = jax.lax.dynamic_update_slice(losses, jnp.stack([loss, watched])[None], (count, 0, 0))
            return count + 1, states, losses

        count, states, losses = jax.lax.while_loop(going, body, (jnp.int32(0), states, losses))
        return states, losses, count

    donated = (0, 1, 2) if spec.slots > 1 else ()  # a refill changes some slots and copies none
    return Program(jax.jit(start, donate_argnums=donated), jax.jit(advance, compiler_options=_WIDE))


def _alone(function: Any) -> Any:
    """Do what `jax.vmap` does for one slot, with plain matrix products: batches of one are slower."""

    def run(*arguments: Any) -> Any:
        out = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: leaf[None], out)

    return run


def empty_states(spec: ProgramSpec) -> State:
    """Return the states of empty slots."""
    return jax.tree.map(lambda s: np.zeros((spec.slots, *s.shape), s.dtype), state_shapes(spec))


@cache
def state_shapes(spec: ProgramSpec) -> State:
    """Return the shapes of a network's state. Tracing them anew would slow every small fit."""
    length, count = sizes(spec)
    vectors = jax.ShapeDtypeStruct((length,), np.float32), jax.ShapeDtypeStruct((count,), np.uint32)
    return jax.eval_shape(lambda f, i: start_one(unpack(spec, f, i), spec), *vectors)
