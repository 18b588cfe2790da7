"""The picture of one place: what is drawn, and that it is drawn the same way twice."""

import io
from datetime import datetime, timedelta

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unmet.plotting import plot_availability

DAY = datetime(2021, 5, 3)
HOURS = [DAY + timedelta(hours=n) for n in range(6)]
SEGMENTS = [
    (HOURS[0], HOURS[1], "available", 3),
    (HOURS[1], HOURS[2], "empty", 0),
    (HOURS[2], HOURS[3], "closed", 2),
    (HOURS[3], HOURS[4], "unknown", 2),
    (HOURS[4], HOURS[5], "empty", 0),
]
OPTIONS = {
    "segments": SEGMENTS,
    "starts": HOURS[:5],
    "pickups": [2, 1, 0, 4, 0],
    "censored": [False, True, False, False, True],
}


def axis():
    figure = Figure()
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def test_everything_is_drawn_and_named():
    ax = axis()
    assert plot_availability(ax, **OPTIONS, title="Alpha") is ax
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == {
        "stock",
        "pickups in the hour",
        "pickups, ran out: a lower bound",
        "empty: demand unseen",
        "closed",
        "not known",
    }
    assert ax.get_title("left") == "Alpha"
    assert ax.get_xlabel() == "local time"
    assert "pickups per hour" in ax.get_ylabel()
    heights = sorted(bar.get_height() for bars in ax.containers for bar in bars)
    assert heights == [-4, -2, -1, 0, 0]
    (line,) = [line for line in ax.lines if line.get_label() == "stock"]
    assert line.get_ydata().tolist() == [3, 0, 2, 2, 0, 0]


def test_the_same_bytes_twice():
    pictures = []
    for _ in range(2):
        ax = axis()
        plot_availability(ax, **OPTIONS)
        held = io.BytesIO()
        ax.figure.savefig(held, format="png", metadata={"Software": None})
        pictures.append(held.getvalue())
    assert pictures[0] == pictures[1]


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="segments"):
        plot_availability(axis(), **{**OPTIONS, "segments": []})
    with pytest.raises(ValueError, match="one entry per period"):
        plot_availability(axis(), **{**OPTIONS, "pickups": [1]})


def test_unknown_figures_are_refused():
    import unmet.plotting

    assert dir(unmet.plotting) == sorted(unmet.plotting.__all__)
    with pytest.raises(AttributeError, match="plot_mood"):
        unmet.plotting.plot_mood
