"""LSTM over the leading columns; static columns join its last state."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.lax import optimization_barrier

from unmet.networks._layers import Linear, drop


class LSTM(eqx.Module):
    """An affine layer on the last hidden state of an LSTM and the static columns.

    Gates i, f, o and candidate g come from W x_t + U h + b:
    c ← σ(f) c + σ(i) a(g),  h ← σ(o) a(c), where a is tanh (or the identity: activation "linear").
    """

    inputs: Array  # (4 units, features)
    recurrent: Array  # (4 units, units)
    bias: Array  # (4 units,)
    readout: Linear
    steps: int = eqx.field(static=True)
    features: int = eqx.field(static=True)
    activation: str = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __call__(self, x: Array, key: Array | None = None) -> Array:
        x = drop(x, self.dropout, key)
        length = self.steps * self.features
        sequence = x[:length].reshape(self.steps, self.features, x.shape[1])
        hidden = last_state(self.activation, self.inputs, self.recurrent, self.bias, sequence)
        return self.readout(jnp.concatenate([hidden, x[length:]]))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def last_state(activation: str, inputs: Array, recurrent: Array, bias: Array, sequence: Array) -> Array:
    """Return the hidden state (units, rows) after a sequence (steps, features, rows).

    The gradient is written out by hand: it multiplies all steps into the weights at once, in half the time
    of the gradient JAX derives. Steps are unrolled, because a compiled loop costs more than a step.
    """
    return _forward(activation, inputs, recurrent, bias, sequence)[0]


def _forward(
    activation: str, inputs: Array, recurrent: Array, bias: Array, sequence: Array
) -> tuple[Array, list[Any]]:
    units = recurrent.shape[1]
    cell = hidden = jnp.zeros((units, sequence.shape[2]), sequence.dtype)
    steps = []
    for step, x in enumerate(sequence):
        gates = inputs @ x + bias[:, None]
        if step > 0:
            gates = gates + recurrent @ hidden
        # σ(v) = (1 + tanh(v/2)) / 2, so all gates use one function. Barriers keep the compiler from
        # recomputing it at every use.
        squashed = optimization_barrier(0.5 + 0.5 * jnp.tanh(0.5 * gates[: 3 * units]))
        enter, forget, leave = jnp.split(squashed, 3)
        candidate = gates[3 * units :]
        if activation == "tanh":
            candidate = optimization_barrier(jnp.tanh(candidate))
        before, cell = cell, forget * cell + enter * candidate
        shown = jnp.tanh(cell) if activation == "tanh" else cell
        cell, shown = optimization_barrier((cell, shown))
        steps.append((squashed, candidate, before, shown, hidden))
        hidden = leave * shown
    return hidden, steps


def _forward_kept(
    activation: str, inputs: Array, recurrent: Array, bias: Array, sequence: Array
) -> tuple[Array, Any]:
    hidden, steps = _forward(activation, inputs, recurrent, bias, sequence)
    return hidden, (inputs, recurrent, sequence, steps)


def _backward(activation: str, kept: Any, d_hidden: Array) -> tuple[Array, Array, Array, Array]:
    inputs, recurrent, sequence, steps = kept
    d_cell = jnp.zeros_like(d_hidden)
    changes, states = [], []  # last step first
    for step in reversed(range(len(steps))):
        squashed, candidate, before, shown, hidden = steps[step]
        enter, forget, leave = jnp.split(squashed, 3)
        curved = activation == "tanh"
        d_cell = d_cell + d_hidden * leave * ((1 - shown * shown) if curved else 1)
        d_gates = jnp.concatenate(
            [
                d_cell * candidate * enter * (1 - enter),
                d_cell * before * forget * (1 - forget),
                d_hidden * shown * leave * (1 - leave),
                d_cell * enter * ((1 - candidate * candidate) if curved else 1),
            ]
        )
        d_gates, d_cell = optimization_barrier((d_gates, d_cell * forget))
        changes.append(d_gates)
        states.append(hidden)
        if step > 0:
            d_hidden = recurrent.T @ d_gates
    rows = sequence.shape[2]
    together = jnp.concatenate(changes, axis=1)  # (4 units, steps · rows)
    seen = jnp.moveaxis(sequence[::-1], 1, 0).reshape(sequence.shape[1], -1)
    d_inputs = together @ seen.T
    d_recurrent = jnp.zeros_like(recurrent)
    if len(steps) > 1:  # the first step has no state before it
        d_recurrent = together[:, :-rows] @ jnp.concatenate(states[:-1], axis=1).T
    d_sequence = jnp.stack([inputs.T @ change for change in changes[::-1]])
    return d_inputs, d_recurrent, together @ jnp.ones(together.shape[1], together.dtype), d_sequence


last_state.defvjp(_forward_kept, _backward)
