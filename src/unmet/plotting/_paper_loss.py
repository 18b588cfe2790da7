"""The tilted loss by residual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmet.losses import tilted_loss
from unmet.plotting._colours import BLUE, GREEN, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ((VERMILION, (0, (1, 1.2))), (GREEN, "-"), (BLUE, (0, (5, 2))))


def plot_tilted_loss(ax: Axes, *, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Axes:
    """Draw ρ_θ(r) by residual r = y − q̂ for up to three levels, and return the axis."""
    if not 1 <= len(quantiles) <= len(_STYLES):
        raise ValueError(f"quantiles must be one to three levels, not {quantiles!r}")
    residual = np.linspace(-2, 2, 401)
    for level, (colour, dashes) in zip(quantiles, _STYLES):
        loss = np.asarray(tilted_loss(residual, np.zeros_like(residual), level))
        ax.plot(residual, loss, color=colour, linestyle=dashes, linewidth=2, label=f"θ = {level:g}")
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_xlim(-2, 2)
    ax.set_ylim(0, None)
    ax.set_xlabel("residual  r = y − q̂  (units of y)")
    ax.set_ylabel("tilted loss  ρ(r)  (units of y)")
    ax.annotate("estimate too high", (0.13, 0.96), xycoords="axes fraction", va="top", fontsize="small")
    ax.annotate(
        "estimate too low", (0.87, 0.96), xycoords="axes fraction", va="top", ha="right", fontsize="small"
    )
    # White background, or the line at zero would run through the words.
    ax.legend(loc="center", bbox_to_anchor=(0.5, 0.72), framealpha=1, edgecolor="white")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return ax
