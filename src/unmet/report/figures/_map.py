"""A map without tiles: places where they lie, larger and darker the more rides they lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from unmet.report.figures._svg import breaks, class_of, short, ticks, wrap
from unmet.results import PlaceTotals
from unmet.results.numbers import about, between, number, percent

_WIDTH = 640.0
_MARGIN = 34.0
_METRES_PER_DEGREE = 111_195.0


@dataclass(frozen=True)
class PlaceMap:
    """The drawing, the upper ends of its classes, and the numbers of places that are not on it."""

    svg: Markup
    ends: list[float]
    absent: list[int]


def place_map(places: Sequence[PlaceTotals], noun: str = "rides") -> PlaceMap | None:
    """Draw places by latitude and longitude; None if none has both.

    Places very far from all others (a station at 0°, 0°) would shrink the rest to a dot: they are left off.
    """
    on = [n for n, place in enumerate(places) if place.lat is not None and place.lng is not None]
    if not on:
        return None
    lat = np.array([places[n].lat for n in on], dtype=float)
    lng = np.array([places[n].lng for n in on], dtype=float)
    middle = float(np.median(lat))
    east = (lng - np.median(lng)) * _METRES_PER_DEGREE * math.cos(math.radians(middle))
    north = (lat - middle) * _METRES_PER_DEGREE
    away = np.hypot(east, north)
    near = away <= max(5_000.0, 8 * float(np.quantile(away, 0.75)))
    chosen = [n for n, keep in zip(on, near) if keep]
    x, y, height, per_unit = _project(east[near], north[near])
    ends = breaks(max(places[n].lost.mean for n in chosen) or 1.0)
    parts = [_ground(height, per_unit)]
    largest = _largest_radius(len(chosen), height)
    # The large ones first, so that small ones stay on top and can be pointed at.
    for at in sorted(range(len(chosen)), key=lambda at: -places[chosen[at]].lost.mean):
        parts.append(_circle(places[chosen[at]], chosen[at], float(x[at]), float(y[at]), ends, largest))
    parts.append(_scale_bar(height, per_unit))
    label = f"Map of {len(chosen)} places, coloured and sized by lost {noun}. North is up. A table follows."
    absent = sorted(set(range(len(places))) - set(chosen))
    return PlaceMap(wrap(_WIDTH, height, label, "map", parts), ends, absent)


def _project(east: np.ndarray, north: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Drawing coordinates, the height of the drawing and metres per unit."""
    inner = _WIDTH - 2 * _MARGIN
    wide, tall = max(float(np.ptp(east)), 200.0), max(float(np.ptp(north)), 200.0)
    height = min(max(inner * tall / wide, 0.6 * inner), 1.1 * inner) + 2 * _MARGIN + 24
    per_unit = max(wide / inner, tall / (height - 2 * _MARGIN - 24))
    x = _WIDTH / 2 + (east - (east.max() + east.min()) / 2) / per_unit
    y = (height - 24) / 2 - (north - (north.max() + north.min()) / 2) / per_unit
    return x, y, height, per_unit


def _largest_radius(count: int, height: float) -> float:
    return min(24.0, max(6.0, 0.42 * math.sqrt(_WIDTH * height / max(1, count))))


def _circle(place: PlaceTotals, n: int, x: float, y: float, ends: list[float], largest: float) -> str:
    share = min(1.0, max(0.0, place.lost.mean / ends[-1]))
    radius = 3.0 + (largest - 3.0) * math.sqrt(share)
    words = (
        f"{place.name}: {about(place.lost)} lost (90% {between(place.lost)}), "
        f"{number(place.observed)} observed, empty {percent(place.empty)} of the time"
    )
    circle = (
        f'<circle class="place s{class_of(place.lost.mean, ends)}" data-place="{n}" cx="{short(x)}" '
        f'cy="{short(y)}" r="{short(radius)}"><title>{escape(words)}</title></circle>'
    )
    if not place.lost.identified:
        circle += f'<circle class="over" cx="{short(x)}" cy="{short(y)}" r="{short(radius)}"/>'
    return circle


def _bar_length(per_unit: float) -> float:
    """Metres: the roundest length near a fifth of the width."""
    return max(ticks(0, _WIDTH * per_unit / 4, 2))


def _ground(height: float, per_unit: float) -> str:
    """A faint grid whose meshes are as long as the scale bar."""
    mesh = _bar_length(per_unit) / per_unit
    lines = [f'<rect class="ground" x="0" y="0" width="{short(_WIDTH)}" height="{short(height)}" rx="8"/>']
    for n in range(1, math.ceil(_WIDTH / mesh)):
        lines.append(
            f'<line class="mesh" x1="{short(n * mesh)}" x2="{short(n * mesh)}" y1="0" y2="{short(height)}"/>'
        )
    for n in range(1, math.ceil(height / mesh)):
        lines.append(
            f'<line class="mesh" x1="0" x2="{short(_WIDTH)}" y1="{short(n * mesh)}" y2="{short(n * mesh)}"/>'
        )
    return "".join(lines)


def _scale_bar(height: float, per_unit: float) -> str:
    metres = _bar_length(per_unit)
    words = f"{number(metres / 1000)} km" if metres >= 1000 else f"{number(metres)} m"
    end, base = 16 + metres / per_unit, height - 14
    return (
        f'<path class="scale-bar" d="M16 {short(base - 5)}V{short(base)}H{short(end)}V{short(base - 5)}"/>'
        f'<text class="scale-text" x="{short(end + 7)}" y="{short(base)}">{words}</text>'
    )
