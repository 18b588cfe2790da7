"""Lines over a grid and the fleet's counts: what is drawn is what was given."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from unmet.plotting import plot_fleet, plot_grid_lines


def test_lines_bands_and_the_target():
    ax = Figure().add_subplot()
    mean = np.array([0.5, np.nan, 0.7])
    lines = {"a": (mean, mean - 0.1, mean + 0.1), "b": (mean + 0.1, mean, mean + 0.2)}
    assert plot_grid_lines(ax, x=[0.0, 0.4, 0.9], lines=lines, looks=[2, 0], target=0.9) is ax
    level, first, second = ax.get_lines()
    assert set(level.get_ydata()) == {0.9}
    assert np.array_equal(first.get_ydata(), mean, equal_nan=True)
    assert first.get_marker() != second.get_marker()
    assert [text.get_text() for text in ax.legend().get_texts()] == ["aim: 0.9", "a", "b"]
    other = Figure().add_subplot()
    plot_grid_lines(other, x=[0.0, 0.4, 0.9], lines={"b": lines["b"]})
    assert other.get_lines()[0].get_color() == second.get_color()


def test_wrong_lines_are_refused():
    ax = Figure().add_subplot()
    one = (np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="at most 7"):
        plot_grid_lines(ax, x=np.zeros(3), lines={str(n): one for n in range(8)})
    with pytest.raises(ValueError, match="looks"):
        plot_grid_lines(ax, x=np.zeros(3), lines={"a": one, "b": one}, looks=[1, 1])
    with pytest.raises(ValueError, match="shape"):
        plot_grid_lines(ax, x=np.zeros(2), lines={"a": one})


def test_fleet_marks_its_parts():
    ax = Figure().add_subplot()
    days = np.datetime64("2024-03-04") + np.arange(9)
    parts = [("train", 0), ("test", 6)]
    plot_fleet(ax, days=days, latent=np.arange(9), observed=np.arange(9) / 2, parts=parts, label="seen")
    latent, observed, *marks = ax.get_lines()
    assert (latent.get_ydata() == 2 * observed.get_ydata()).all()
    assert len(marks) == 2
    assert [text.get_text().strip() for text in ax.texts] == ["train", "test"]
