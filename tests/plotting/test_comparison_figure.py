"""The figure of a comparison: colours that are explained, and an axis for the close methods."""

import pytest

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex

from unmet.plotting import new_figure, plot_comparison
from unmet.plotting._colours import BLUE, GREY, VERMILION


def drawn(above, error, **more):
    names = [f"method {number}" for number in range(len(above))]
    ax = new_figure(6, 3).subplots()
    return plot_comparison(
        ax,
        methods=names,
        above_best=above,
        error=error,
        recommended="method 1",
        loss_name="tilted loss",
        **more,
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


def test_a_bar_that_leaves_the_axis_ends_in_an_arrow():
    ax = drawn([0.0, 0.01, 0.03, 0.15, 40.0], [0.0, 0.02, 0.01, 0.1, 2.0])
    end = ax.get_xlim()[1]
    arrows = [line for line in ax.get_lines() if line.get_marker() == ">"]
    assert [(float(line.get_xdata()[0]), int(line.get_ydata()[0])) for line in arrows] == [(end, 3), (end, 4)]
    assert [text.get_text() for text in ax.texts] == ["40"]  # the other's place is seen


def test_methods_that_leave_quantiles_open_are_hollow():
    ax = drawn([0.0, 0.01, 0.2], [0.0, 0.02, 0.05], unidentified=["method 2"])
    faces = [to_hex(line.get_markerfacecolor()) for line in ax.get_lines() if line.get_marker() == "o"]
    assert [face == "#ffffff" for face in faces] == [False, False, True]
    assert "Hollow: leaves quantiles open, or its fit warns of itself." in ax.get_title(loc="left")
    assert "Hollow" not in drawn([0.0, 0.01], [0.0, 0.02], unidentified=["other"]).get_title(loc="left")


def test_the_title_names_the_table():
    ax = drawn([0.0, 0.01], [0.0, 0.02], title="a$b$c.csv: 200 rows")
    assert ax.get_title(loc="left").splitlines()[0] == r"a\$b\$c.csv: 200 rows"


def test_a_comparison_draws_its_rows_and_what_is_open():
    from unmet.comparison import Comparison, Line

    lines = [
        Line("Tobit", "X()", 1.0, 0.0, 0.0, 1.0, None, None, None, 0, 0.1),
        Line("Portnoy", "X()", 1.1, 0.1, 0.0, 1.0, None, None, None, 0, 0.1, "not identified above 0.8"),
    ]
    found = Comparison(
        tuple(lines), "Tobit", "Use it.", {}, (), "tilted loss", 1500, ("x",), 0.3, (0.05, 0.95), 5
    )
    title = found.plot(new_figure(6, 3).subplots(), "life.csv").get_title(loc="left")
    assert title.splitlines()[0] == "life.csv: 1,500 rows, 30% of them censored"
    assert "Hollow" in title


def test_methods_that_fit_on_the_axis_stay_there():
    ax = drawn([0.0, 0.01, 0.03, 0.05, 0.2], [0.0, 0.02, 0.01, 0.01, 0.02])
    assert not ax.texts


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one entry per method"):
        drawn([0.0, 1.0], [0.0])
