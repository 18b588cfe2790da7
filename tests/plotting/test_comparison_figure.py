"""The figure of a comparison: colours that are explained, and an axis for the close methods."""

import pytest

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex

from unmet.plotting import new_figure, plot_comparison
from unmet.plotting._colours import BLUE, GREY, VERMILION


def drawn(above, error):
    names = [f"method {number}" for number in range(len(above))]
    ax = new_figure(6, 3).subplots()
    return plot_comparison(
        ax, methods=names, above_best=above, error=error, recommended="method 1", loss_name="tilted loss"
    )


def test_colours_are_explained():
    ax = drawn([0.0, 0.01, 0.2], [0.0, 0.02, 0.05])
    points = [line for line in ax.get_lines() if line.get_marker() == "o"]
    assert [to_hex(line.get_color()) for line in points] == [to_hex(c) for c in (BLUE, VERMILION, GREY)]
    assert "Orange: recommended" in ax.get_title(loc="left")
    assert ax.get_xlim()[1] > 0.25


def test_methods_far_away_are_marked_with_their_number():
    ax = drawn([0.0, 0.01, 0.03, 0.05, 40.0], [0.0, 0.02, 0.01, 0.01, 2.0])
    assert ax.get_xlim()[1] == pytest.approx(0.2)
    assert [text.get_text() for text in ax.texts] == ["40"]
    assert sum(line.get_marker() == ">" for line in ax.get_lines()) == 1


def test_methods_that_fit_on_the_axis_stay_there():
    ax = drawn([0.0, 0.01, 0.03, 0.05, 0.2], [0.0, 0.02, 0.01, 0.01, 0.02])
    assert not ax.texts


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one entry per method"):
        drawn([0.0, 1.0], [0.0])
