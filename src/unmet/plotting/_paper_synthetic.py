"""The synthetic data: densities of the latent value and its conditional quantiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.plotting._colours import BLUE, GREY, ORANGE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One look per curve. Dashes differ as well as colours, so that curves differ in grey print.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "dashes": (6, 2)},
    {"color": VERMILION, "dashes": (1.2, 1.2)},
    {"color": ORANGE, "dashes": ()},
    {"color": "black", "dashes": (6, 1.5, 1.2, 1.5)},
)


def plot_densities(
    ax: Axes, *, x: ArrayLike, densities: Mapping[str, ArrayLike], centre: float, title: str | None = None
) -> Axes:
    """Draw named densities of the latent value, shade the censored region below zero, return the axis."""
    at = np.asarray(x, float)
    ax.axvspan(float(at[0]), 0, color=GREY, alpha=0.22, linewidth=0, label="censored: never seen")
    for (name, density), look in zip(densities.items(), _LOOKS):
        ax.plot(at, np.asarray(density, float), linewidth=2, label=name, **look)
    ax.axvline(centre, color="black", linewidth=0.6, label="mean")
    ax.set_xlim(at[0], at[-1])
    ax.set_ylim(0, None)
    ax.set_xlabel("latent value y*")
    if title:
        ax.set_title(title, loc="left")
    _tidy(ax)
    return ax


def plot_true_quantiles(
    ax: Axes,
    *,
    x: ArrayLike,
    true: ArrayLike,
    quantiles: Sequence[float],
    other: tuple[str, ArrayLike] | None = None,
    title: str | None = None,
) -> Axes:
    """Draw conditional quantiles (n, K) over one column, shade the censored region, return the axis.

    Each level has its own colour and dash. `other` is the name of a second set of curves and the curves,
    which are drawn thin.
    """
    at, lines = np.asarray(x, float), np.asarray(true, float)
    for k, level in enumerate(quantiles):
        ax.plot(at, lines[:, k], linewidth=1.8, label=f"{level:.0%}", **_LOOKS[k])
    if other is not None:
        name, values = other
        thin = ax.plot(at, np.asarray(values, float), color="black", linewidth=0.8)
        thin[0].set_label(name)
    low, high = ax.get_ylim()
    ax.axhspan(min(low, 0.0), 0, color=GREY, alpha=0.22, linewidth=0, zorder=0)
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.set_ylim(low, high)
    ax.set_xlim(at[0], at[-1])
    ax.set_xlabel("x2")
    if title:
        ax.set_title(title, loc="left")
    _tidy(ax)
    return ax


def _tidy(ax: Axes) -> None:
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
