"""Losses of several methods beside each other, with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmet.plotting._colours import BLUE, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The axis ends at this many times the end of the close methods' bars, if others lie far beyond.
_REACH, _FAR = 5.0, 1.5
_FEWEST_CLOSE = 3


def plot_comparison(
    ax: Axes,
    *,
    methods: Sequence[str],
    above_best: Sequence[float],
    error: Sequence[float],
    recommended: str,
    loss_name: str,
    unidentified: Sequence[str] = (),
    title: str = "",
) -> Axes:
    """Draw how far the loss of each method is above the lowest, and return the axis.

    Bars are one standard error of the difference. The recommended method is orange; the methods within one
    standard error of the lowest loss are blue, the others grey. Where methods far away would squeeze the
    close ones, the axis ends before them: an arrow with their number marks them. An arrow ends a bar that
    leaves the axis, too. Methods in `unidentified`, which leave quantiles open or warn of their fit, have a
    hollow marker.
    """
    above, spread = np.asarray(above_best, float), np.asarray(error, float)
    if not len(methods) == above.size == spread.size:
        raise ValueError("methods, above_best and error must have one entry per method each")
    end = _end(above, spread)
    for place, name in enumerate(methods):
        colour = VERMILION if name == recommended else BLUE if above[place] <= spread[place] else GREY
        face = "white" if name in unidentified else colour
        if above[place] > end:
            ax.plot(end, place, ">", color=colour, markerfacecolor=face, clip_on=False)
            ax.annotate(
                f"{above[place]:.3g}",
                (end, place),
                xytext=(-8, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                color=colour,
            )
        else:
            ax.errorbar(
                above[place],
                place,
                xerr=spread[place],
                fmt="o",
                color=colour,
                markerfacecolor=face,
                capsize=3,
            )
            if above[place] + spread[place] > end:
                ax.plot(end, place, ">", color=colour, clip_on=False)
    if np.isfinite(end):
        ax.set_xlim(left=min(0.0, float((above - spread)[above <= end].min())) - 0.03 * end, right=end)
    ax.set_yticks(range(len(methods)), methods)
    ax.invert_yaxis()
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    ax.set_xlabel(f"{loss_name}, above the lowest (bars: one standard error)")
    caption = "Orange: recommended. Blue: within one standard error of the lowest. Grey: above."
    if any(name in unidentified for name in methods):
        caption += "\nHollow: leaves quantiles open, or its fit warns of itself."
    title = title.replace("$", r"\$")  # a name, not a formula
    ax.set_title(f"{title}\n{caption}" if title else caption, fontsize="medium", loc="left")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return ax


def _end(above: NDArray[np.float64], spread: NDArray[np.float64]) -> float:
    """Return where the axis ends; infinity if all methods fit on it."""
    bars = above + spread
    if above.size <= _FEWEST_CLOSE:
        return float(np.inf)
    close = np.concatenate([bars[above <= spread], np.sort(bars)[:_FEWEST_CLOSE]])
    end = _REACH * float(close.max())
    return end if end > 0 and above.max() > _FAR * end else float(np.inf)
