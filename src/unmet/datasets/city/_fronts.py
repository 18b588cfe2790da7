"""Fronts: storms and crowds that move through the city in some hours, and their effect on demand."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._hours import Hours
from unmet.datasets.city._map import Map
from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings

_METRES_PER_DEGREE = 111_195.0


@dataclass(frozen=True)
class Front:
    """A line that crosses the city; demand on it is ``strength`` times the usual.

    Attributes
    ----------
    first_hour : int
        Hour at which it enters.
    angle : float
        Direction in which it moves, radians from east.
    speed, width : float
        Metres an hour, and metres from the line at which the effect has fallen to exp(−1/2).
    strength : float
        Above 1 for a crowd, such as one that leaves a match; below 1 for a storm.
    """

    first_hour: int
    angle: float
    speed: float
    width: float
    strength: float


def make_fronts(settings: CitySettings, hours: Hours) -> tuple[Front, ...]:
    """Draw fronts: they enter between 8 and 18 h, two crowds for each storm."""
    random = generator(settings.seed, "fronts")
    fronts = []
    for _ in range(int(random.poisson(settings.fronts * settings.days / 30))):
        day, clock = int(random.integers(settings.days)), int(random.integers(8, 19))
        begin = int(np.flatnonzero((hours.day == day) & (hours.hour == clock))[0])
        crowd = random.random() < 2 / 3
        strength = random.uniform(2.0, 5.0) if crowd else random.uniform(0.1, 0.4)
        fronts.append(
            Front(
                begin,
                float(random.uniform(0, 2 * np.pi)),
                float(random.uniform(400, 900)),
                float(random.uniform(300, 500)),
                float(strength),
            )
        )
    return tuple(sorted(fronts, key=lambda front: front.first_hour))


def front_factor(front: Front, map_: Map, hours: int) -> np.ndarray:
    """Return the factor on demand (P, hours) of a front, 1 + (strength − 1) exp(−d² / (2 width²)).

    d is the distance of a place from the line in the middle of the hour. The line enters a width before the
    first place it meets, and is gone a width after the last.
    """
    east = (map_.lng - map_.lng.mean()) * np.cos(np.radians(map_.lat.mean())) * _METRES_PER_DEGREE
    north = (map_.lat - map_.lat.mean()) * _METRES_PER_DEGREE
    along = east * np.cos(front.angle) + north * np.sin(front.angle)
    since = np.arange(hours) - front.first_hour + 0.5
    line = along.min() - front.width + front.speed * since
    here = (since > 0) & (line < along.max() + front.width)
    effect = np.exp(-((along[:, None] - line) ** 2) / (2 * front.width**2))
    return np.where(here, 1 + (front.strength - 1) * effect, 1.0)
