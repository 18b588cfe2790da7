"""When rides are lost: weekdays against hours of the day."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from unmet.report._data import Weekday
from unmet.report.figures._svg import breaks, class_of, short, wrap
from unmet.results.numbers import WEEKDAYS, number


@dataclass(frozen=True)
class WeekMap:
    """Two drawings of the same table, and the upper ends of its colour classes."""

    wide: Markup
    narrow: Markup
    ends: list[float]
    worst: str


def week_map(week: Weekday, noun: str = "rides") -> WeekMap:
    """Colour 7 × 24 cells by lost rides per hour; days are rows where there is room, else columns."""
    most = max(max(row) for row in week.lost)
    ends = breaks(most if most > 0 else 1.0)
    day, hour = max(((d, h) for d in range(7) for h in range(24)), key=lambda at: week.lost[at[0]][at[1]])
    worst = f"{WEEKDAYS[day]} {hour:02d}:00"
    return WeekMap(_draw(week, ends, worst, noun, True), _draw(week, ends, worst, noun, False), ends, worst)


def _draw(week: Weekday, ends: list[float], worst: str, noun: str, wide: bool) -> Markup:
    across, down = (39.0, 28.0) if wide else (40.0, 17.0)
    left, top = (48.0 if wide else 40.0), 20.0
    parts = []
    for day in range(7):
        for hour in range(24):
            column, row = (hour, day) if wide else (day, hour)
            lost, wanted = week.lost[day][hour], week.demand[day][hour]
            title = f"{WEEKDAYS[day]} {hour:02d}:00: {number(lost)} of {number(wanted)} {noun} lost an hour"
            parts.append(
                f'<rect class="cell s{class_of(lost, ends)}" x="{short(left + column * across)}" '
                f'y="{short(top + row * down)}" width="{short(across - 2)}" height="{short(down - 2)}" '
                f'rx="2"><title>{escape(title)}</title></rect>'
            )
    for day in range(7):
        if wide:
            x, y, anchor = left - 8, top + day * down + down / 2 - 1, "end"
        else:
            x, y, anchor = left + day * across + across / 2 - 1, top - 9, "middle"
        parts.append(_label(x, y, WEEKDAYS[day], anchor))
    for hour in range(0, 24, 3):
        if wide:
            x, y, anchor = left + hour * across + across / 2 - 1, top - 9, "middle"
        else:
            x, y, anchor = left - 8, top + hour * down + down / 2 - 1, "end"
        parts.append(_label(x, y, f"{hour:02d}", anchor))
    width, height = (left + 24 * across, top + 7 * down) if wide else (left + 7 * across, top + 24 * down)
    label = f"Heat map of lost {noun} by weekday and hour; most are lost {worst}."
    return wrap(width, height, label, "wide" if wide else "narrow", parts)


def _label(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text class="tick" x="{short(x)}" y="{short(y)}" dy=".32em" text-anchor="{anchor}">{words}</text>'
    )
