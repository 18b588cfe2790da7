"""LSTM over the leading columns; static columns join its last state."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from unmet.networks._apart import apart
from unmet.networks._layers import Linear, drop
from unmet.networks._polynomial import fast_tanh


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

    The gradient is written out by hand, so that each step back is computed once. Steps are unrolled, because
    a compiled loop costs more than a step.
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
        squashed = fast_tanh(0.5 * gates[: 3 * units])
        enter, forget, leave = _opened(squashed)
        candidate = gates[3 * units :]
        if activation == "tanh":
            candidate = fast_tanh(candidate)
        before, cell = cell, forget * cell + enter * candidate
        shown = fast_tanh(cell) if activation == "tanh" else cell
        steps.append((squashed, candidate, before, shown, hidden))
        hidden = leave * shown
    return hidden, steps


def _opened(squashed: Array) -> list[Array]:
    """Return the gates σ(v) = (1 + tanh(v/2)) / 2 from tanh(v/2): one function serves all."""
    return jnp.split(0.5 + 0.5 * squashed, 3)


def _forward_kept(
    activation: str, inputs: Array, recurrent: Array, bias: Array, sequence: Array
) -> tuple[Array, Any]:
    hidden, steps = _forward(activation, inputs, recurrent, bias, sequence)
    return hidden, (inputs, recurrent, sequence, steps)


def _backward(activation: str, kept: Any, d_hidden: Array) -> tuple[Array, Array, Array, Array]:
    inputs, recurrent, sequence, steps = kept

    def slope(value: Array) -> Array | float:
        return 1 - value * value if activation == "tanh" else 1.0

    @apart
    def into_cell(d_cell: Array, d_hidden: Array, squashed: Array, shown: Array) -> Array:
        leave = _opened(squashed)[2]
        return d_cell + d_hidden * leave * slope(shown)

    @apart
    def into_gates(
        d_cell: Array, d_hidden: Array, squashed: Array, candidate: Array, before: Array, shown: Array
    ) -> tuple[Array, Array]:
        enter, forget, leave = _opened(squashed)
        d_gates = [
            d_cell * candidate * enter * (1 - enter),
            d_cell * before * forget * (1 - forget),
            d_hidden * shown * leave * (1 - leave),
            d_cell * enter * slope(candidate),
        ]
        return jnp.concatenate(d_gates), d_cell * forget

    turned = apart(jnp.transpose)(recurrent)  # a product with a turned matrix is slower
    d_cell = jnp.zeros_like(d_hidden)
    d_inputs, d_recurrent = jnp.zeros_like(inputs), jnp.zeros_like(recurrent)
    d_bias, d_sequence = jnp.zeros(len(inputs), inputs.dtype), []
    ones = jnp.ones(sequence.shape[2], sequence.dtype)
    for step in reversed(range(len(steps))):
        squashed, candidate, before, shown, hidden = steps[step]
        d_cell = into_cell(d_cell, d_hidden, squashed, shown)
        d_gates, d_cell = into_gates(d_cell, d_hidden, squashed, candidate, before, shown)
        d_inputs = d_inputs + d_gates @ sequence[step].T
        d_bias = d_bias + d_gates @ ones
        d_sequence.append(inputs.T @ d_gates)
        if step > 0:  # the first step has no state before it
            d_recurrent = d_recurrent + d_gates @ hidden.T
            d_hidden = turned @ d_gates
    return d_inputs, d_recurrent, d_bias, jnp.stack(d_sequence[::-1])


last_state.defvjp(_forward_kept, _backward)
