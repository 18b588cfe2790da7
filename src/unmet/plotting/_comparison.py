"""Losses of several methods beside each other, with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmet.plotting._colours import BLUE, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_comparison(
    ax: Axes,
    *,
    methods: Sequence[str],
    above_best: Sequence[float],
    error: Sequence[float],
    recommended: str,
    loss_name: str,
) -> Axes:
    """Draw how far the loss of each method is above the lowest, and return the axis.

    Bars are one standard error of the difference. The recommended method is red; the methods within one
    standard error of the lowest loss are blue, the others grey.
    """
    above, spread = np.asarray(above_best, float), np.asarray(error, float)
    if not len(methods) == above.size == spread.size:
        raise ValueError("methods, above_best and error must have one entry per method each")
    for place, name in enumerate(methods):
        colour = VERMILION if name == recommended else BLUE if above[place] <= spread[place] else GREY
        ax.errorbar(above[place], place, xerr=spread[place], fmt="o", color=colour, capsize=3)
    ax.set_yticks(range(len(methods)), methods)
    ax.invert_yaxis()
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    ax.set_xlabel(f"{loss_name}, above the lowest (bars: one standard error)")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return ax
