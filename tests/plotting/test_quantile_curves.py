"""Curves over one column: what is drawn, where it is shaded, and that it is drawn the same way twice."""

import io

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from unmet.plotting import plot_quantile_curves

ORANGE, GREEN, BLUE = "#E69F00", "#009E73", "#0072B2"  # Okabe and Ito

X = np.array([0.0, 1.0, 2.0])
ESTIMATED = np.array([[-1.0, 0.0, 1.0], [-1.0, 0.5, 2.0], [-1.0, 1.0, 3.0]])
TRUE = ESTIMATED - 0.25
OPTIONS = {"x": X, "estimated": ESTIMATED, "true": TRUE, "quantiles": (0.05, 0.5, 0.95), "threshold": 0.0}


def axis():
    figure = Figure()
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def shaded(ax):
    (band,) = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    return band.get_y(), band.get_y() + band.get_height()


def test_estimates_are_solid_and_the_truth_is_dashed():
    ax = axis()
    assert plot_quantile_curves(ax, **OPTIONS, side="left", title="one") is ax
    solid = [line for line in ax.lines if str(line.get_label()).startswith("estimated")]
    assert [line.get_label() for line in solid] == ["estimated 5%", "estimated 50%", "estimated 95%"]
    assert [to_hex(line.get_color()).upper() for line in solid] == [ORANGE, GREEN, BLUE]
    np.testing.assert_array_equal([line.get_ydata() for line in solid], ESTIMATED.T)
    dashed = [line for line in ax.lines if line.is_dashed() and len(line.get_xdata()) == 3]
    np.testing.assert_array_equal([line.get_ydata() for line in dashed], TRUE.T)
    assert [text.get_text() for text in ax.texts] == ["5%", "50%", "95%"]
    assert ax.get_title("left") == "one"
    assert ax.get_xlim() == (0.0, 2.0)


def test_the_unseen_side_is_shaded():
    for side in ("left", "right"):
        ax = axis()
        ax.set_ylim(-3, 5)
        plot_quantile_curves(ax, **OPTIONS, side=side)
        assert shaded(ax) == ((-3, 0) if side == "left" else (0, 5))
        assert ax.get_ylim() == (-3, 5)
    bare = plot_quantile_curves(axis(), **{**OPTIONS, "threshold": None})
    assert not bare.patches


def test_points_and_labels_are_optional():
    ax = plot_quantile_curves(
        axis(), x=X, estimated=ESTIMATED, quantiles=(0.1, 0.5, 0.9), points=(X, X + 1), labels=False
    )
    assert not ax.texts
    (dots,) = [line for line in ax.lines if line.get_label() == "observed"]
    assert dots.get_ydata().tolist() == [1, 2, 3]
    assert not any(line.is_dashed() for line in ax.lines)


def test_more_curves_than_colours_keep_their_order():
    ax = plot_quantile_curves(
        axis(), x=X, estimated=np.tile(np.arange(5.0), (3, 1)), quantiles=(0.1, 0.3, 0.5, 0.7, 0.9)
    )
    colours = [to_hex(line.get_color()).upper() for line in ax.lines]
    assert colours[::2] == [ORANGE, GREEN, BLUE]
    assert len(set(colours)) == 5
    one = plot_quantile_curves(axis(), x=X, estimated=ESTIMATED[:, :1], quantiles=(0.5,))
    assert to_hex(one.lines[0].get_color()).upper() == GREEN


def test_the_same_bytes_twice():
    pictures = []
    for _ in range(2):
        ax = plot_quantile_curves(axis(), **OPTIONS)
        held = io.BytesIO()
        ax.figure.savefig(held, format="png", metadata={"Software": None})
        pictures.append(held.getvalue())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"x": [0.0, 0.0, 1.0]}, "x must"),
        ({"x": [0.0]}, "x must"),
        ({"estimated": ESTIMATED[:, :2]}, "estimated must"),
        ({"true": TRUE[:2]}, "true must"),
        ({"side": "up"}, "side must"),
    ],
)
def test_wrong_input_is_named(changed, named):
    with pytest.raises(ValueError, match=named):
        plot_quantile_curves(axis(), **{**OPTIONS, **changed})
