"""Rides of a whole fleet and of a reduced one, with the parts of an experiment marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unmet.plotting._colours import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_fleet(
    ax: Axes,
    *,
    days: ArrayLike,
    latent: ArrayLike,
    observed: ArrayLike,
    parts: Sequence[tuple[str, int]],
    label: str,
) -> Axes:
    """Draw latent and observed counts and the first day of each part, and return the axis.

    Parameters
    ----------
    parts : name and row of the first day of each part, in order; a dashed line marks each start.
    label : name of the observed counts.
    """
    at = np.asarray(days, "datetime64[D]")
    ax.plot(at, np.asarray(latent, float), color=BLUE, linewidth=1.0, label="latent: the whole fleet")
    ax.plot(
        at, np.asarray(observed, float), color=VERMILION, linewidth=1.0, linestyle=(0, (3, 1)), label=label
    )
    ax.set_ylim(0, None)
    ax.set_xlim(at[0], at[-1])
    for name, row in parts:
        ax.axvline(at[row], color="black", linewidth=1.0, linestyle="--")
        ax.annotate(f" {name}", (at[row], 1), xycoords=("data", "axes fraction"), va="top", fontsize="small")
    ax.set_ylabel("rides a day")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return ax
