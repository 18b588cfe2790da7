"""The pictures of the explanation pages, drawn when the site is built."""

from __future__ import annotations

from pathlib import Path

import numpy as np

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.6"


def draw_pictures(folder: Path) -> None:
    """Draw every picture that is not there yet."""
    import matplotlib

    matplotlib.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (one_day, distribution, loss, three_fits, blind):
        path = folder / f"{draw.__name__}.png"
        if not path.exists():
            figure = draw()
            figure.savefig(path, dpi=130, facecolor="white", metadata={"Software": None})


def _figure(width: float = 7.0, height: float = 3.2, columns: int = 1):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, columns)
    for ax in np.atleast_1d(axes):
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def one_day():
    """Stock of a station over a morning, with people who come in vain."""
    figure, ax = _figure()
    hours = np.array([7.0, 7.3, 7.6, 7.9, 8.2, 8.9, 9.4, 9.8])
    stock = np.array([4, 3, 2, 1, 0, 1, 0, 2])
    ax.step([*hours, 10.2], [*stock, 2], where="post", color=BLUE)
    for start, end in ((8.2, 8.9), (9.4, 9.8)):
        ax.axvspan(start, end, color=ORANGE, alpha=0.25, linewidth=0)
    ax.plot([8.4, 8.55, 8.75, 9.6], [0.25] * 4, "x", color="black", markersize=8, markeredgewidth=2)
    ax.annotate(
        "came in vain:\nno record", (8.55, 0.3), (8.3, 2.3), arrowprops={"arrowstyle": "-"}, fontsize=9
    )
    ax.set(xlabel="hour of the day", ylabel="bikes at the station", ylim=(0, 4.4), yticks=range(5))
    return figure


def distribution():
    """Demand, and the part of it that the records hold."""
    figure, ax = _figure()
    x = np.linspace(0, 24, 400)
    density = np.exp(-((x - 12) ** 2) / 32)
    ax.plot(x, density, color=BLUE)
    ax.fill_between(x, density, where=x <= 14, color=BLUE, alpha=0.2, linewidth=0)
    ax.fill_between(x, density, where=x >= 14, color=ORANGE, alpha=0.3, linewidth=0)
    ax.vlines(14, 0, 1.05, color=ORANGE, linewidth=3)
    ax.text(14.3, 1.0, "14 bikes: all of the orange\nis recorded as 14", fontsize=9)
    ax.set(xlabel="rides wanted", ylabel="how often", yticks=[])
    return figure


def loss():
    """The tilted loss of a plain and of a cut-off row."""
    figure, (left, right) = _figure(7.4, 3.0, 2)
    q = np.linspace(0, 20, 400)
    for ax, cap, title in ((left, np.inf, "nothing cut off, y = 10"), (right, 10.0, "cut off at 10, y = 10")):
        for theta, colour in ((0.5, BLUE), (0.9, ORANGE)):
            r = 10 - np.minimum(q, cap)
            ax.plot(q, np.maximum(theta * r, (theta - 1) * r), color=colour, label=f"θ = {theta}")
        ax.set(title=title, xlabel="predicted quantile", ylim=(-0.4, 9))
    left.set_ylabel("loss")
    left.legend(frameon=False)
    return figure


def three_fits():
    """Least squares on all rows, on the uncut rows, and the censored median."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 10, 250)
    wanted = 4 + 1.4 * x + rng.normal(0, 2.5, 250)
    y = np.minimum(wanted, 13)
    cut = wanted >= 13
    figure, ax = _figure(7, 3.6)
    ax.plot(x[~cut], y[~cut], ".", color=GREY)
    ax.plot(x[cut], y[cut], "^", color=ORANGE, markersize=4)
    line = np.array([0, 10.0])
    for rows, style, name in ((slice(None), ":", "all rows"), (~cut, "--", "cut-off rows left out")):
        slope, start = np.polyfit(x[rows], y[rows], 1)
        ax.plot(line, start + slope * line, style, color=ORANGE, label=name)
    from unmet import LinearCensoredQuantiles

    model = LinearCensoredQuantiles(method="powell", quantiles=(0.5,), random_state=0)
    model.fit(x[:, None], y, threshold=13.0)
    ax.plot(line, model.predict(line[:, None]), color=BLUE, label="censored median")
    ax.plot(line, 4 + 1.4 * line, color="black", linewidth=1, label="truth")
    ax.set(xlabel="x", ylabel="recorded", ylim=(0, 20))
    ax.legend(frameon=False, ncols=2, loc="lower right")
    return figure


def blind():
    """Two demands that no record can tell apart."""
    figure, ax = _figure()
    x = np.linspace(0, 30, 500)
    one = np.exp(-((x - 10) ** 2) / 18)
    other = np.where(x < 13, one, one[np.searchsorted(x, 13)] * np.exp(-(x - 13) / 9))
    ax.plot(x, one, color=BLUE, label="demand A")
    ax.plot(x, other, "--", color=ORANGE, label="demand B")
    ax.axvspan(13, 30, color=GREY, alpha=0.25, linewidth=0)
    ax.text(19, 0.75, "never more than 13 bikes:\nnobody saw this part", fontsize=9)
    ax.set(xlabel="rides wanted", ylabel="how often", yticks=[])
    ax.legend(frameon=False, loc="upper left")
    return figure
