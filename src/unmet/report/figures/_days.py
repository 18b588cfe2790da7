"""All places day by day: what was seen, what was wanted, and the gap."""

from collections.abc import Sequence
from math import isfinite

from markupsafe import Markup

from unmet.report._data import Day
from unmet.report.figures._svg import Frame, short, whole_ticks
from unmet.results import Words
from unmet.results.numbers import MONTHS, number

_RIDES = Words()


def days_figure(days: Sequence[Day], width: float, kind: str, words: Words = _RIDES) -> Markup:
    """Observed rides as a line, demand as a line with its 90% band, lost rides as the area between."""
    height = 270 if width > 500 else 210
    shown = [day for day in days if day.known] or list(days)
    upper = max(max(day.high if isfinite(day.high) else day.demand for day in shown) * 1.06, 1.0)
    frame = Frame(width, height, (0, max(1, len(days) - 1)), (0, upper), top=30)
    frame.y_axis(4 if width < 500 else 5, title=f"{words.noun} a {words.block}")
    stretches = _runs([day.known for day in days])
    for start, stop in stretches:
        part = days[start:stop]
        frame.area(range(start, stop), [day.low for day in part], [day.high for day in part], "band band-90")
    for start, stop in _runs([not isfinite(day.high) for day in days]):
        left, right = frame.x(max(0, start - 0.5)), frame.x(min(len(days) - 1, stop - 0.5))
        tall = frame.y(0) - frame.top
        frame.add(
            f'<rect class="hatched" x="{short(left)}" y="{short(frame.top)}" '
            f'width="{short(max(2, right - left))}" height="{short(tall)}"/>'
        )
    for start, stop in stretches:  # days of which too little is known are a gap
        xs, part = range(start, stop), days[start:stop]
        frame.area(xs, [day.observed for day in part], [day.demand for day in part], "lost-area")
        frame.line(xs, [day.demand for day in part], "line demand-line")
        frame.line(xs, [day.observed for day in part], "line observed-line")
        if stop - start == 1:
            frame.dot(start, part[0].demand, "demand-dot", 2)
    for start, stop in _runs([not day.known for day in days]):
        if stop - start >= 2:
            middle = frame.x((start + stop - 1) / 2)
            frame.text(middle, frame.top + 14, "unknown", anchor="middle")
    frame.x_labels((n, _date(days[n].date)) for n in whole_ticks(len(days), 4 if width < 500 else 9))
    total = sum(day.observed for day in days)
    gap = sum(day.demand for day in days) - total
    missing = sum(not day.known for day in days)
    label = (
        f"Line chart of {len(days)} {words.block}s{f', {missing} of them unknown' if missing else ''}: "
        f"{number(total)} {words.noun} observed, {number(gap)} more wanted. The table below holds every "
        f"{words.block}."
    )
    return frame.svg(label, kind)


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Runs of days that are flagged, as (first, one past the last)."""
    found: list[tuple[int, int]] = []
    for n, flag in enumerate(flags):
        if not flag:
            continue
        if found and found[-1][1] == n:
            found[-1] = (found[-1][0], n + 1)
        else:
            found.append((n, n + 1))
    return found


def _date(text: str) -> str:
    return f"{int(text[8:10])} {MONTHS[int(text[5:7]) - 1]}"
