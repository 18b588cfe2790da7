"""The multi-output network: inputs, optional dropout, hidden layers, one output per quantile."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from unmet.plotting._colours import BLUE, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Layer → (position, heights of its nodes, dashed border). The gap in each layer is for the dots.
_LAYERS = {
    "input": (0.0, (3, 2, 0), False),
    "optional\ndropout": (1.4, (3, 2, 0), True),
    "hidden\nlayers": (3.0, (3.5, 2.5, 1.5, -0.5), False),
    "outputs": (4.6, (3, 2, 0), False),
}


def plot_architecture(ax: Axes) -> Axes:
    """Draw the paper's multi-output network and the loss on its outputs, and return the axis."""
    layers = list(_LAYERS.values())
    for one, other in pairwise(layers):
        straight = one[1] == other[1] and other[2]
        for row, begin in enumerate(one[1]):
            for column, end in enumerate(other[1]):
                if not straight or row == column:
                    ax.plot([one[0], other[0]], [begin, end], color=GREY, linewidth=0.7, zorder=1)
    for label, (x, heights, dashed) in _LAYERS.items():
        for y in heights:
            _node(ax, x, y, dashed)
        ax.text(x, (heights[-1] + heights[-2]) / 2, "⋮", ha="center", va="center", fontsize=14)
        ax.text(x, 4.25, label, ha="center", va="bottom")
    ax.add_patch(_box(2.6, -1.0, 0.8, 5.0))
    for name, y in (("1", 3.0), ("2", 2.0), ("K", 0.0)):
        _arrow(ax, 4.79, y, 5.45, y)
        ax.text(5.52, y, f"$\\hat q_{{\\theta_{name}}}$", va="center", color=BLUE, fontsize=13)
    for name, y in (("x_1", 3.0), ("x_2", 2.0), ("x_p", 0.0)):
        ax.text(-0.3, y, f"${name}$", ha="right", va="center", fontsize=13)
    ax.text(
        6.35,
        1.5,
        "loss: sum over rows and\nlevels of the tilted loss of\n$y$ against $\\max(\\tau, \\hat q)$,\nor "
        "$\\min(\\tau, \\hat q)$ when\ncensored from the right",
        va="center",
        color=VERMILION,
    )
    ax.set_xlim(-0.8, 8.9)
    ax.set_ylim(-1.2, 5.2)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _node(ax: Axes, x: float, y: float, dashed: bool) -> None:
    from matplotlib.patches import Circle

    style = (0, (3, 2)) if dashed else "-"
    ax.add_patch(Circle((x, y), 0.19, facecolor="white", edgecolor="black", linestyle=style, zorder=3))


def _box(x: float, y: float, width: float, height: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, fill=False, edgecolor="black", linewidth=0.8, zorder=2)


def _arrow(ax: Axes, x: float, y: float, to_x: float, to_y: float) -> None:
    style = {"arrowstyle": "->", "color": "black", "linewidth": 0.8}
    ax.annotate("", (to_x, to_y), (x, y), arrowprops=style)
