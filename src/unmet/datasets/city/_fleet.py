"""The fleet before the first request: morning targets and docks per place."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._demand import pull
from unmet.datasets.city._hours import Hours
from unmet.datasets.city._map import Map
from unmet.datasets.city._settings import CitySettings


@dataclass(frozen=True)
class Fleet:
    """``target`` vehicles per place in the early morning (also the opening stock) and docks, ``capacity``."""

    target: np.ndarray
    capacity: np.ndarray


def make_fleet(settings: CitySettings, map_: Map, hours: Hours, rate: np.ndarray) -> Fleet:
    """Share vehicles by expected departures from 5 to 12 h, and docks by departures and arrivals."""
    morning = rate[:, (hours.hour >= 5) & (hours.hour < 12)].mean(axis=1)
    arrivals = np.zeros(len(map_))
    for weekend in (0, 1):
        for hour in range(24):
            chosen = (hours.weekend == bool(weekend)) & (hours.hour == hour)
            if chosen.any():
                arrivals += rate[:, chosen].sum(axis=1) @ pull(map_, weekend, hour)
    target = _apportion(settings.vehicles, morning + 0.1 * morning.mean())
    busy = 0.5 * target / settings.vehicles + 0.5 * arrivals / arrivals.sum()
    capacity = np.maximum(np.ceil(settings.docks * settings.vehicles * busy), 6).astype(np.int64)
    return Fleet(target, np.maximum(capacity, target + 2))


def even_stock(vehicles: int, capacity: np.ndarray) -> np.ndarray:
    """Return the same number of vehicles everywhere, as far as docks allow."""
    level, left = np.zeros(len(capacity), dtype=np.int64), vehicles
    while left:
        free = np.flatnonzero(level < capacity)  # there are more docks than vehicles
        each = max(1, left // len(free))
        more = np.minimum(each, capacity[free] - level[free])[:left]
        level[free[: len(more)]] += more
        left -= int(more.sum())
    return level


def _apportion(total: int, weight: np.ndarray) -> np.ndarray:
    """Return whole numbers in proportion to the weights that sum to the total (largest remainders)."""
    exact = total * weight / weight.sum()
    whole = np.floor(exact).astype(np.int64)
    rest = total - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:rest]] += 1
    return whole
