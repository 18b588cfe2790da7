"""All places day by day: what was seen, what was wanted, and the gap."""

from collections.abc import Sequence
from math import isfinite

from markupsafe import Markup

from unmet.report._data import Day
from unmet.report.figures._svg import Frame, short, whole_ticks
from unmet.results.numbers import MONTHS, number


def days_figure(days: Sequence[Day], width: float, kind: str) -> Markup:
    """Observed rides as a line, demand as a line with its 90% band, lost rides as the area between."""
    height = 270 if width > 500 else 210
    upper = max(max(day.high if isfinite(day.high) else day.demand for day in days) * 1.06, 1.0)
    frame = Frame(width, height, (0, max(1, len(days) - 1)), (0, upper), top=30)
    xs = list(range(len(days)))
    seen, wanted = [day.observed for day in days], [day.demand for day in days]
    frame.y_axis(4 if width < 500 else 5, title="rides a day")
    frame.area(xs, [day.low for day in days], [day.high for day in days], "band band-90")
    for start, stop in _unbounded(days):
        left, right = frame.x(max(0, start - 0.5)), frame.x(min(len(days) - 1, stop - 0.5))
        tall = frame.y(0) - frame.top
        frame.add(
            f'<rect class="hatched" x="{short(left)}" y="{short(frame.top)}" '
            f'width="{short(max(2, right - left))}" height="{short(tall)}"/>'
        )
    frame.area(xs, seen, wanted, "lost-area")
    frame.line(xs, wanted, "line demand-line")
    frame.line(xs, seen, "line observed-line")
    frame.x_labels((n, _date(days[n].date)) for n in whole_ticks(len(days), 4 if width < 500 else 9))
    total, gap = sum(seen), sum(wanted) - sum(seen)
    label = (
        f"Line chart of {len(days)} days: {number(total)} rides observed, "
        f"{number(gap)} more wanted. The table below holds every day."
    )
    return frame.svg(label, kind)


def _unbounded(days: Sequence[Day]) -> list[tuple[int, int]]:
    """Runs of days without an upper bound, as (first, one past the last)."""
    found: list[tuple[int, int]] = []
    for n, day in enumerate(days):
        if isfinite(day.high):
            continue
        if found and found[-1][1] == n:
            found[-1] = (found[-1][0], n + 1)
        else:
            found.append((n, n + 1))
    return found


def _date(text: str) -> str:
    return f"{int(text[8:10])} {MONTHS[int(text[5:7]) - 1]}"
