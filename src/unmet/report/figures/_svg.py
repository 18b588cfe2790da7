"""Axes, lines and areas of inline SVG; colours come from the page's classes and follow its theme."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from unmet.results.numbers import number


def short(value: float) -> str:
    """A coordinate with one decimal, the same everywhere.

    Examples
    --------
    >>> short(3.0), short(2.26), short(-0.01)
    ('3', '2.3', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """At most `most` round numbers within [low, high].

    Examples
    --------
    >>> ticks(0, 10), ticks(0, 0.9, 4)
    ([0.0, 2.5, 5.0, 7.5, 10.0], [0.0, 0.25, 0.5, 0.75])
    """
    span = high - low
    if not span > 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    for base in (1, 2, 2.5, 5, 10, 20, 25, 50):
        step = base * power
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return [round(n * step, 10) for n in range(first, last + 1)]
    return [low, high]


def whole_ticks(count: int, most: int) -> list[int]:
    """Numbers 0 … count − 1 in even steps, at most `most` of them."""
    step = max(1, math.ceil(count / most))
    return list(range(0, count, step))


@dataclass
class Frame:
    """A drawing with an x and a y axis; y always grows upwards."""

    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 0  # room for the labels of the y axis, unless given
    right: float = 10
    top: float = 14
    bottom: float = 30
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.left:
            self.left = 14 + 8.6 * max(3, *(len(number(value)) for value in ticks(*self.y_range)))

    def x(self, value: float) -> float:
        low, high = self.x_range
        span = self.width - self.left - self.right
        return self.left + span * (value - low) / ((high - low) or 1)

    def y(self, value: float) -> float:
        low, high = self.y_range
        span = self.height - self.top - self.bottom
        return self.height - self.bottom - span * (value - low) / ((high - low) or 1)

    def add(self, part: str) -> None:
        self.parts.append(part)

    def y_axis(self, most: int = 5, show: Callable[[float], str] = number, title: str = "") -> None:
        for value in ticks(*self.y_range, most):
            at = short(self.y(value))
            self.add(
                f'<line class="grid" x1="{short(self.left)}" x2="{short(self.width - self.right)}" '
                f'y1="{at}" y2="{at}"/>'
                f'<text class="tick" x="{short(self.left - 6)}" y="{at}" dy=".32em" '
                f'text-anchor="end">{escape(show(value))}</text>'
            )
        if title:
            self.add(f'<text class="axis-title" x="0" y="11">{escape(title)}</text>')

    def x_labels(self, labels: Iterable[tuple[float, str]], title: str = "") -> None:
        base = self.height - self.bottom
        for value, text in labels:
            at = self.x(value)
            end = at > self.width - self.right - 24
            start = at < 28
            anchor = "end" if end else "start" if start else "middle"
            self.add(
                f'<line class="tickmark" x1="{short(at)}" x2="{short(at)}" y1="{short(base)}" '
                f'y2="{short(base + 4)}"/><text class="tick" x="{short(at)}" y="{short(base + 17)}" '
                f'text-anchor="{anchor}">{escape(text)}</text>'
            )
        self.add(
            f'<line class="axis" x1="{short(self.left)}" x2="{short(self.width - self.right)}" '
            f'y1="{short(base)}" y2="{short(base)}"/>'
        )
        if title:
            self.add(
                f'<text class="axis-title" x="{short((self.left + self.width - self.right) / 2)}" '
                f'y="{short(self.height - 5)}" text-anchor="middle">{escape(title)}</text>'
            )

    def line(self, xs: Sequence[float], ys: Sequence[float], kind: str) -> None:
        self.add(f'<path class="{kind}" d="{self._path(xs, ys)}"/>')

    def area(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], kind: str) -> None:
        there = self._path(xs, high)
        back = self._path(list(reversed(xs)), list(reversed(low)))
        self.add(f'<path class="{kind}" d="{there}L{back[1:]}Z"/>')

    def _path(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        top, bottom = self.y_range[1], self.y_range[0]
        points = (
            f"{short(self.x(x))} {short(self.y(min(top, max(bottom, y))))}"
            for x, y in zip(xs, ys, strict=True)
        )
        return "M" + "L".join(points)

    def dot(self, x: float, y: float, kind: str, radius: float = 3.5, title: str = "") -> None:
        inner = f"<title>{escape(title)}</title>" if title else ""
        self.add(
            f'<circle class="{kind}" cx="{short(self.x(x))}" cy="{short(self.y(y))}" r="{short(radius)}">'
            f"{inner}</circle>"
        )

    def text(self, x: float, y: float, words: str, kind: str = "note", anchor: str = "start") -> None:
        self.add(
            f'<text class="{kind}" x="{short(x)}" y="{short(y)}" text-anchor="{anchor}">'
            f"{escape(words)}</text>"
        )

    def svg(self, label: str, kind: str) -> Markup:
        """The whole drawing; ``label`` is what a screen reader says."""
        return wrap(self.width, self.height, label, kind, self.parts)


def wrap(width: float, height: float, label: str, kind: str, parts: Iterable[str]) -> Markup:
    """An SVG element with a text alternative; `parts` are safe already."""
    return Markup(
        f'<svg class="{kind}" viewBox="0 0 {short(width)} {short(height)}" role="img" '
        f'aria-label="{escape(label)}" focusable="false">{"".join(parts)}</svg>'
    )


def breaks(largest: float, classes: int = 5) -> list[float]:
    """Upper ends of classes up to `largest`, finer among small values, rounded.

    Examples
    --------
    >>> breaks(1000.0)
    [40.0, 160.0, 360.0, 640.0, 1000.0]
    """
    found: list[float] = []
    for n in range(1, classes):
        value = largest * (n / classes) ** 2
        power = 10.0 ** (math.floor(math.log10(value)) - 1) if value > 0 else 1.0
        rounded = round(round(value / power) * power, 10)
        if not found or rounded > found[-1]:
            found.append(rounded)
    return [*found, largest]


def class_of(value: float, ends: Sequence[float]) -> int:
    """Number of the class that a value falls into; an end belongs to the class below it."""
    return next((n for n, end in enumerate(ends) if value <= end), len(ends) - 1)
