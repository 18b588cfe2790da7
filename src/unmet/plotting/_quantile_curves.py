"""Estimated and true quantiles along one column, with the censored region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.plotting._colours import BLACK, BLUE, GREEN, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lowest, middle, highest. They differ in darkness when printed grey, and each curve is labelled at its end.
_COLOURS = (ORANGE, GREEN, BLUE)


def plot_quantile_curves(
    ax: Axes,
    *,
    x: ArrayLike,
    estimated: ArrayLike,
    quantiles: Sequence[float],
    true: ArrayLike | None = None,
    threshold: float | None = None,
    side: str = "right",
    points: tuple[ArrayLike, ArrayLike] | None = None,
    title: str | None = None,
    labels: bool = True,
) -> Axes:
    """Draw quantile curves over one column, and return the axis.

    Estimates are solid and bright, the truth is dashed and dark, with one colour per level. The censored
    side of the threshold is shaded.

    Parameters
    ----------
    x : (n,), increasing.
    estimated, true : (n, K), in the order of `quantiles`; the truth is optional.
    threshold : where observations are cut off; None shades nothing.
    side : "right" if values above the threshold are unseen, "left" if those below are.
    points : (x, y) of rows to draw as dots behind the curves.
    labels : write the level at the right end of each estimated curve.
    """
    at = np.asarray(x, float)
    curves = np.asarray(estimated, float)
    levels = [float(level) for level in quantiles]
    wanted = (at.size, len(levels))
    if at.ndim != 1 or at.size < 2 or (np.diff(at) <= 0).any():
        raise ValueError("x must be a line of at least two increasing values")
    if curves.shape != wanted:
        raise ValueError(f"estimated must have one row per x and one column per quantile, shape {wanted}")
    if side not in ("left", "right"):
        raise ValueError(f'side must be "left" or "right", got {side!r}')
    if points is not None:
        ax.plot(*points, "o", color=GREY, markersize=2.6, markeredgewidth=0, zorder=1, label="observed")
    for k, level in enumerate(levels):
        colour = _colour(k, len(levels))
        ax.plot(at, curves[:, k], color=colour, linewidth=2, zorder=3, label=f"estimated {level:.0%}")
        if labels:
            _name(ax, at, curves[:, k], f"{level:.0%}", _darker(colour))
    if true is not None:
        truth = np.asarray(true, float)
        if truth.shape != wanted:
            raise ValueError(f"true must have the shape of estimated, {wanted}")
        for k in range(len(levels)):
            colour = _darker(_colour(k, len(levels)))
            ax.plot(at, truth[:, k], color=colour, linewidth=1.2, dashes=(4, 2), zorder=4)
        ax.plot([], [], color=BLACK, linewidth=1.2, dashes=(4, 2), label="true")  # one entry for the legend
    ax.set_xlim(at[0], at[-1])
    if threshold is not None:
        low, high = ax.get_ylim()
        begin, end = (
            (threshold, max(high, threshold)) if side == "right" else (min(low, threshold), threshold)
        )
        ax.axhspan(begin, end, color=GREY, alpha=0.22, linewidth=0, zorder=0, label="censored: never seen")
        ax.axhline(threshold, color=GREY, linewidth=0.8, zorder=2)
        ax.set_ylim(low, high)
    if title:
        ax.set_title(title, loc="left")
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return ax


def _colour(index: int, count: int) -> Any:
    """Return one of three colours for three curves, or a mixture of two for more."""
    from matplotlib.colors import to_rgb

    place = 1.0 if count == 1 else 2 * index / (count - 1)
    lower = min(int(place), 1)
    first, second = (np.array(to_rgb(colour)) for colour in _COLOURS[lower : lower + 2])
    return tuple(first + (place - lower) * (second - first))


def _darker(colour: Any) -> Any:
    return tuple(0.5 * part for part in colour)


def _name(ax: Axes, x: Any, y: Any, text: str, colour: Any) -> None:
    """Write the level just outside the axis, at the height where the curve ends."""
    ax.annotate(
        text,
        (x[-1], y[-1]),
        xytext=(4, 0),
        textcoords="offset points",
        color=colour,
        va="center",
        fontsize="small",
        annotation_clip=True,
    )
