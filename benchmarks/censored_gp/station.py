"""Simulated bike stations with known hourly demand, and masks that hide part of it.

Nothing here is a Gaussian process: demand is a table of hours and kinds of day, days that are busier than
others, weather, events, and groups of riders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TRAIN, UNUSED, TEST = 732, 293, 440
HOURS = TRAIN + UNUSED + TEST
STATIONS = 3
COLUMNS = ("hour", "weekday", "temperature", "rain")
# Relative demand by hour, from midnight: commuters on working days, one long afternoon at weekends.
_WORKDAY = np.array(
    [4, 2, 1, 1, 2, 8, 25, 60, 90, 55, 35, 38, 45, 45, 42, 50, 70, 100, 85, 60, 42, 30, 20, 10], float
)
_WEEKEND = np.array(
    [12, 8, 6, 3, 2, 3, 6, 12, 22, 35, 48, 58, 65, 70, 72, 70, 66, 60, 52, 44, 36, 28, 22, 16], float
)


class Stations(NamedTuple):
    """Columns (hours, 4) and the demand of each station (hours, stations), in order of time."""

    X: Floats
    demand: Floats

    @property
    def train(self) -> slice:
        return slice(0, TRAIN)

    @property
    def test(self) -> slice:
        return slice(HOURS - TEST, HOURS)


def simulate(seed: int, *, busiest: float = 60.0, groups: float = 60.0, shocks: float = 1.0) -> Stations:
    """Return 61 days of hourly demand at three stations that share weather, busy days and events.

    Parameters
    ----------
    busiest
        Mean demand of the first station in its busiest hour.
    groups
        Shape of the gamma noise: counts have variance mean + mean² / groups. Infinite for none.
    shocks
        Size of busy days and events, which no column tells.
    """
    random = np.random.default_rng([seed, 7])
    time = np.arange(HOURS)
    hour, day = time % 24, time // 24
    weekday = (day + int(random.integers(7))) % 7
    days = int(day[-1]) + 1
    warmth = (
        18
        + 4 * np.sin(2 * np.pi * (np.arange(days) + random.uniform(0, 15)) / 15)
        + random.normal(0, 2, days)
    )
    temperature = warmth[day] + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    rain = _rain(random)
    shared = np.where(weekday[:, None] < 5, _WORKDAY[hour][:, None], _WEEKEND[hour][:, None]) / 100
    # Each station is a blend of the two patterns with hours moved a little.
    leisure = np.array([0.1, 0.4, 0.25])
    moved = np.stack([_WEEKEND[(hour - shift) % 24] for shift in (0, 1, -1)], axis=1) / 100
    pattern = (1 - leisure) * shared + leisure * moved
    mood = random.normal(0, 0.1, days)[day]
    event = np.zeros(HOURS)
    for start in random.choice(HOURS - 4, 5, replace=False):
        event[start : start + 4] += random.uniform(0.2, 0.5)
    effect = shocks * (mood + event) + 0.03 * (temperature - 18) - 0.5 * rain
    own = 0.07 * shocks * random.normal(size=(days, STATIONS))[day]
    mean = busiest * np.array([1.0, 0.7, 1.3]) * pattern * np.exp(effect[:, None] + own)
    if np.isfinite(groups):
        mean = mean * random.gamma(groups, 1 / groups, mean.shape)
    demand = random.poisson(mean).astype(float)
    return Stations(np.column_stack([hour, weekday, temperature, rain]).astype(float), demand)


def _rain(random: np.random.Generator) -> Floats:
    """Return 1 in hours of rain: showers of some hours, a tenth of the time."""
    wet, found = False, np.zeros(HOURS)
    for hour in range(HOURS):
        wet = random.uniform() < (0.75 if wet else 0.03)
        found[hour] = wet
    return found


class Masked(NamedTuple):
    """Observed rides and which hours are cut off, (hours, stations) each."""

    rides: Floats
    censored: NDArray[np.bool_]


def mask(demand: Floats, share: float, seed: int) -> Masked:
    """Hide hours at random: of the demand in a cut-off hour, a random share is seen, in whole rides."""
    random = np.random.default_rng([seed, round(100 * share), 11])
    censored = random.uniform(size=demand.shape) < share
    part = np.floor(demand * random.uniform(size=demand.shape))
    return Masked(np.where(censored, part, demand), censored)
