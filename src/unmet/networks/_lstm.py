"""Long short-term memory over the leading columns, static columns beside its last state."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from unmet.networks._layers import ACTIVATIONS, Linear, drop


class LSTM(eqx.Module):
    """The last hidden state of an LSTM, joined with the static columns, through an affine layer.

    With gates i, f, o and candidate g from W x_t + U h + b:
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
        rows = x.shape[1]
        units = self.recurrent.shape[1]
        squash = ACTIVATIONS[self.activation]
        sequence = x[: self.steps * self.features].reshape(self.steps, self.features, rows)
        cell = hidden = jnp.zeros((units, rows), x.dtype)
        for step in range(self.steps):  # unrolled: a compiled loop per step costs more than the step
            gates = self.inputs @ sequence[step] + self.bias[:, None]
            if step > 0:
                gates = gates + self.recurrent @ hidden
            enter, forget, leave = jnp.split(jax.nn.sigmoid(gates[: 3 * units]), 3)
            cell = forget * cell + enter * squash(gates[3 * units :])
            hidden = leave * squash(cell)
        return self.readout(jnp.concatenate([hidden, x[self.steps * self.features :]]))
