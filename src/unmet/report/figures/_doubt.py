"""How lost rides depend on the share of ambiguous time that was empty."""

from markupsafe import Markup

from unmet.report.figures._svg import Frame, ticks
from unmet.results import Doubt
from unmet.results.numbers import number, percent


def doubt_figure(doubt: Doubt, width: float, kind: str) -> Markup:
    """Lost rides against that share, with a band where it is assumed to lie."""
    height = 240 if width > 500 else 210
    shares = [100 * share for share, _ in doubt.curve]
    losses = [lost for _, lost in doubt.curve]
    top = max(*losses, 1e-9) * 1.08
    frame = Frame(width, height, (0, 100), (0, top), top=30, bottom=44)
    if doubt.empty is not None:
        ends = [100 * doubt.empty.low, 100 * doubt.empty.high]
        frame.area(ends, [0, 0], [top, top], "band band-90")
        frame.text(frame.x(sum(ends) / 2), frame.top + 12, "assumed", "note", "middle")
    frame.y_axis(4, title="lost rides")
    frame.line(shares, losses, "line lost-line")
    for share, lost in zip(shares, losses):
        words = f"{percent(share / 100, 0)} empty: {number(lost, 0)} rides lost"
        frame.dot(share, lost, "lost-dot", 2.8, words)
    frame.x_labels(
        ((value, f"{value:.0f}%") for value in ticks(0, 100, 5)), "share of the ambiguous time that was empty"
    )
    label = f"Line chart: {number(losses[0], 0)} rides lost if a vehicle always stood there, "
    return frame.svg(label + f"{number(losses[-1], 0)} if none ever did.", kind)
