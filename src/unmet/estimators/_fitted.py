"""A fitted model as data: only what prediction and saving need."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unmet.censoring import Side, mirror_levels
from unmet.estimators._scaling import Scaling
from unmet.networks import ModelSpec, unflatten
from unmet.runs import one_at_a_time, refuse_fork

# Rows are predicted in blocks of one fixed shape, so a prediction never depends on neighbouring rows.
_BLOCK = 512


@dataclass(frozen=True)
class Member:
    """One trained network and the levels it predicts."""

    spec: ModelSpec
    levels: tuple[float, ...]
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class Fitted:
    """Networks that together predict all levels in the user's units."""

    members: tuple[Member, ...]
    scaling: Scaling
    monotone: bool
    parametric: bool
    side: Side  # of the data; with "left" the networks predict −y

    @property
    def mirrored(self) -> bool:
        return self.side == "left"

    @property
    def levels(self) -> tuple[float, ...]:
        """All fitted levels of y, increasing."""
        return mirror_levels(self._levels) if self.mirrored else self._levels

    @property
    def _levels(self) -> tuple[float, ...]:
        parts = (self.members[0],) if self._averaged else self.members
        return tuple(level for member in parts for level in member.levels)

    @property
    def _averaged(self) -> bool:
        """Whether the networks predict the same levels, so that their mean is the prediction."""
        return len(self.members) > 1 and self.members[0].levels == self.members[1].levels

    def quantiles(self, X: NDArray[np.float64], wanted: tuple[float, ...]) -> NDArray[np.float64]:
        """Return predicted quantiles, shape (rows, wanted)."""
        refuse_fork()
        x = self.scaling.inputs(X)
        if self.mirrored:
            wanted = mirror_levels(wanted)
        if self.parametric:  # a distribution answers for any level
            values = _predict(self.members[0], x, wanted)
        else:
            parts = [_predict(member, x, member.levels) for member in self.members]
            values = np.mean(parts, axis=0) if self._averaged else np.concatenate(parts)
            values = at_levels(values, self._levels, wanted)
        if self.monotone:  # only rounding could disturb the order
            values = np.maximum.accumulate(values, axis=0)
        restored = self.scaling.restore(values)
        return -restored[::-1].T if self.mirrored else restored.T


def at_levels(values: NDArray[Any], levels: tuple[float, ...], wanted: tuple[float, ...]) -> NDArray[Any]:
    """Return rows of `values` at the wanted levels, interpolated linearly in normal scores."""
    position = {level: index for index, level in enumerate(levels)}
    if all(level in position for level in wanted):
        return values[[position[level] for level in wanted]]
    scores = ndtri(np.asarray(levels))
    place = np.interp(ndtri(np.asarray(wanted)), scores, np.arange(len(levels)))
    lower = np.minimum(place.astype(int), max(len(levels) - 2, 0))
    share = (place - lower)[:, None].astype(values.dtype)
    upper = np.minimum(lower + 1, len(levels) - 1)
    between = values[lower] + share * (values[upper] - values[lower])
    return np.where(share == 1, values[upper], between)  # a fitted level is never rounded


def _predict(member: Member, x: NDArray[np.float32], levels: tuple[float, ...]) -> NDArray[np.float32]:
    rows = x.shape[1]
    padded = np.zeros((member.spec.columns, -(-rows // _BLOCK) * _BLOCK), np.float32)
    padded[: len(x), :rows] = x
    run = _program(member.spec, len(levels))
    asked = np.asarray(levels, np.float32)
    out = np.empty((len(levels), padded.shape[1]), np.float32)
    for begin in range(0, padded.shape[1], _BLOCK):
        out[:, begin : begin + _BLOCK] = run(member.weights, padded[:, begin : begin + _BLOCK], asked)
    return out[:, :rows]


@one_at_a_time
@cache
def _program(spec: ModelSpec, levels: int) -> Any:
    def run(weights: Any, x: Any, asked: Any) -> Any:
        return unflatten(spec, weights)(x, asked).quantiles

    return jax.jit(run)
