"""How many rides are lost with how many vehicles."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from unmet.report.figures._svg import Frame, short, ticks
from unmet.results.numbers import counted, number, percent


def fleet_figure(rows: Sequence[dict[str, Any]], width: float, kind: str, now: float | None) -> Markup:
    """Expected lost rides against the fleet, with a mark at `now`, the vehicles usually placed."""
    height = 240 if width > 500 else 210
    fleets = [row["fleet"] for row in rows]
    losses = [row["expected_lost"] for row in rows]
    frame = Frame(
        width, height, (min(fleets), max(fleets)), (0, max(*losses, 1e-9) * 1.08), top=30, bottom=44
    )
    frame.y_axis(4, title="expected lost rides")
    frame.line(fleets, losses, "line lost-line")
    for row in rows:
        words = f"{counted(row['fleet'], 'vehicle')}: {number(row['expected_lost'])} lost"
        if row.get("service_level") is not None:
            words += f", {percent(row['service_level'])} served"
        frame.dot(row["fleet"], row["expected_lost"], "lost-dot", 2.8, words)
    if now is not None and min(fleets) <= now <= max(fleets):
        at = frame.x(now)
        frame.add(
            f'<line class="now" x1="{short(at)}" x2="{short(at)}" y1="{short(frame.top)}" '
            f'y2="{short(frame.height - frame.bottom)}"/>'
        )
        right = at < width * 0.6
        words = f"usual: {number(now)}"
        frame.text(at + (6 if right else -6), frame.top + 10, words, "note", "start" if right else "end")
    frame.x_labels(
        ((value, number(value)) for value in ticks(min(fleets), max(fleets), 4 if width < 500 else 7)),
        "vehicles in the fleet",
    )
    label = f"Line chart: {number(losses[0])} rides lost with {counted(fleets[0], 'vehicle')}, "
    return frame.svg(label + f"{number(losses[-1])} with {number(fleets[-1])}.", kind)
