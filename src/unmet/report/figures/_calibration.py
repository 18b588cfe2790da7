"""Nominal against achieved: how often demand stayed below each quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unmet.report.figures._svg import Frame, short
from unmet.results.numbers import known, number, percent


@dataclass(frozen=True)
class Achieved:
    """Points (nominal, achieved): one series per band before calibration, one series after it."""

    before: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    after: tuple[tuple[float, float], ...]


def achieved(calibration: dict[str, Any]) -> Achieved:
    """Read the points from what calibration wrote.

    A band says which level of the model has to be used so that demand stays below it with a nominal
    frequency; so the model's own level is the nominal one before calibration, and that frequency is what it
    achieved. After calibration the two tails give the points at 0.05 and 0.95, unless every level is listed.
    """
    before = []
    for band in calibration.get("bands", ()):
        points = tuple(
            (float(level), float(nominal))
            for level, nominal in zip(band.get("level", ()), band.get("nominal", ()))
            if known(level)
        )
        if points:
            before.append((band_name(band), points))
    coverage = calibration.get("coverage", {})
    after = tuple(
        (float(entry["nominal"]), float(entry["after"]))
        for entry in coverage.get("levels", ())
        if known(entry.get("after"))
    )
    if not after and known(coverage.get("lower_tail")) and known(coverage.get("upper_tail")):
        after = ((0.05, float(coverage["lower_tail"])), (0.95, 1 - float(coverage["upper_tail"])))
    return Achieved(tuple(before), after)


def band_name(band: dict[str, Any]) -> str:
    """Predicted rides per period that a band holds."""
    low, high = band.get("low"), band.get("high")
    if not known(high):
        return f"{number(low or 0)} or more"
    return f"{number(low or 0)} to {number(high)}"


def calibration_figure(points: Achieved, width: float, kind: str) -> Markup:
    """A square with the diagonal: on it, promises are kept."""
    frame = Frame(width, width, (0, 1), (0, 1), left=44, right=14, top=30, bottom=44)
    shares = (0, 0.25, 0.5, 0.75, 1)
    frame.y_axis(5, lambda value: percent(value, 0), "achieved")
    for value in shares:
        at = short(frame.x(value))
        frame.add(f'<line class="grid" x1="{at}" x2="{at}" y1="{frame.top}" y2="{short(frame.y(0))}"/>')
    frame.line([0, 1], [0, 1], "ideal")
    for name, series in points.before:
        frame.line([x for x, _ in series], [y for _, y in series], "line before-line")
        for x, y in series:
            words = f"before, {name}: level {percent(x)}, achieved {percent(y)}"
            frame.dot(x, y, "before-dot", 3, words)
    if points.after:
        _after(frame, points.after)
    frame.x_labels(((value, percent(value, 0)) for value in shares), "nominal")
    label = "Calibration plot of nominal against achieved levels; points on the diagonal are right."
    return frame.svg(label, kind)


def _after(frame: Frame, series: Sequence[tuple[float, float]]) -> None:
    if len(series) > 2:
        frame.line([x for x, _ in series], [y for _, y in series], "line demand-line")
    for x, y in series:
        frame.dot(x, y, "after-dot", 4.5, f"after: nominal {percent(x)}, achieved {percent(y)}")
