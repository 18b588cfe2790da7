"""A fit that goes on from the one before: what must be the same, and what is kept of it."""

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Side
from unmet.estimators._fitted import Fitted, Member
from unmet.networks import ModelSpec, split


def check_same(
    before: Fitted, model: ModelSpec, members: tuple[tuple[float, ...], ...], columns: int, side: Side
) -> None:
    """Raise ValueError unless a fit can go on from the one before."""
    had = len(before.scaling.x_center)
    changed = None
    if columns != had:
        changed = f"X has {columns} columns and had {had}"
    elif side != before.side:
        changed = f"the side of the censoring is {side!r} and was {before.side!r}"
    elif members != tuple(member.levels for member in before.members):
        changed = "the quantiles, or the number of networks that share the rows, differ"
    elif any(member.spec != model for member in before.members):
        changed = "the network or its head differs"
    if changed is not None:
        raise ValueError(f"warm_start=True goes on from the fit before, but {changed}: set warm_start=False")


def scale_uses(member: Member, columns: int) -> NDArray[np.bool_]:
    """Return the columns that a scale network uses: its weights for others are zero. All without one."""
    weight = split(member.spec, member.weights).get("head.scale_network.layers[0].weight")
    return np.ones(columns, bool) if weight is None else (weight != 0).any(axis=0)[:columns]
