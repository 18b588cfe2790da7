"""A measure of several models by share of censored rows, with a band over repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.plotting._colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One look per line. Markers and dashes differ as well as colours, so that lines differ in grey print.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "black", "marker": "x", "dashes": (1.2, 1.2)},
    {"color": BLUE, "marker": "o", "dashes": (6, 2)},
    {"color": VERMILION, "marker": "s", "dashes": ()},
    {"color": SKY, "marker": "^", "dashes": (6, 1.5, 1.2, 1.5), "markerfacecolor": "white"},
    {"color": ORANGE, "marker": "D", "dashes": (3, 1.5), "markerfacecolor": "white"},
    {"color": GREEN, "marker": "v", "dashes": (8, 1.5, 1.2, 1.5, 1.2, 1.5)},
    {"color": PURPLE, "marker": "P", "dashes": (2, 2)},
)


def plot_grid_lines(
    ax: Axes,
    *,
    x: ArrayLike,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    looks: Sequence[int] | None = None,
    target: float | None = None,
    title: str | None = None,
) -> Axes:
    """Draw named lines (mean, low, high), each of the shape of x, with a band from low to high.

    NaN values are left out. `looks` gives each line a look from 0 to 6, so that it keeps its look from
    figure to figure; by default in order. `target` is drawn as a horizontal line. Returns the axis.
    """
    at = np.asarray(x, float)
    if target is not None:
        ax.axhline(target, color=GREY, linewidth=1.4, zorder=1, label=f"aim: {target:g}")
    if len(lines) > len(_LOOKS):
        raise ValueError(f"lines must be at most {len(_LOOKS)} to be distinct, got {len(lines)}")
    numbers = range(len(lines)) if looks is None else looks
    if len(set(numbers)) != len(lines) or not set(numbers) <= set(range(len(_LOOKS))):
        raise ValueError(f"looks must give each line a different number from 0 to {len(_LOOKS) - 1}")
    for (name, (mean, low, high)), number in zip(lines.items(), numbers):
        look = _LOOKS[number]
        middle, bottom, top = (np.asarray(part, float) for part in (mean, low, high))
        for part, what in ((middle, "mean"), (bottom, "low"), (top, "high")):
            if part.shape != at.shape:
                raise ValueError(f"lines: {what} of {name!r} must have shape {at.shape}, not {part.shape}")
        ax.fill_between(at, bottom, top, color=look["color"], alpha=0.1, linewidth=0, zorder=2)
        ax.plot(at, middle, linewidth=1.4, markersize=4, label=name, zorder=3, **look)
    if title:
        ax.set_title(title, loc="left")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return ax
