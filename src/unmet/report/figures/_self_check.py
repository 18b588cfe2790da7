"""Rides that the run hid from itself, against its estimate of them, place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from markupsafe import Markup

from unmet.report.figures._svg import Frame, breaks, short
from unmet.results import Interval
from unmet.results.numbers import about, between, number


@dataclass(frozen=True)
class HiddenRides:
    """One place: rides hidden there, a known truth, and their estimate."""

    name: str
    hidden: float
    estimate: Interval

    @property
    def held(self) -> bool:
        return self.estimate.low <= self.hidden <= self.estimate.high


def self_check_figure(places: Sequence[HiddenRides], width: float, kind: str) -> Markup:
    """A square with the diagonal, both axes by square roots: on the diagonal an estimate is exact."""
    largest = max(max(place.hidden, place.estimate.high) for place in places) or 1.0
    top = sqrt(largest)
    frame = Frame(width, width, (0, top), (0, top), left=54, right=14, top=30, bottom=44)
    marks = [0.0, *breaks(largest)]
    frame.add('<text class="axis-title" x="0" y="11">estimated</text>')
    for value in marks:
        across, up = short(frame.x(sqrt(value))), short(frame.y(sqrt(value)))
        frame.add(
            f'<line class="grid" x1="{across}" x2="{across}" y1="{frame.top}" y2="{short(frame.y(0))}"/>'
        )
        frame.add(
            f'<line class="grid" x1="{short(frame.left)}" x2="{short(frame.x(top))}" y1="{up}" y2="{up}"/>'
            f'<text class="tick" x="{short(frame.left - 6)}" y="{up}" dy=".32em" text-anchor="end">'
            f"{number(value, 0)}</text>"
        )
    frame.line([0, top], [0, top], "ideal")
    for place in places:
        at = sqrt(place.hidden)
        ends = [sqrt(max(0.0, end)) for end in (place.estimate.low, place.estimate.high)]
        frame.line([at, at], ends, "line before-line" if place.held else "line lost-line")
        words = (
            f"{place.name}: {number(place.hidden, 0)} hidden, about {about(place.estimate)} estimated "
            f"({between(place.estimate)})"
        )
        frame.dot(at, sqrt(place.estimate.mean), "after-dot" if place.held else "lost-dot", 4, words)
    frame.x_labels(((sqrt(value), number(value, 0)) for value in marks), "hidden")
    missed = sum(not place.held for place in places)
    label = (
        f"Estimated against hidden rides of {len(places)} places; on the diagonal an estimate is exact. "
        f"The 90% intervals of {missed} places miss."
    )
    return frame.svg(label, kind)
