"""What the history of a simulated city tells a planner: returns, exposure, weekly rates."""

import numpy as np

from unmet.datasets.city import City
from unmet.planning._arrays import Floats, Ints

WEEK = 168


def hourly_returns(city: City) -> Ints:
    """Rides that ended at each place in each hour (P, H)."""
    inside = city.rides.end < city.hours.seconds
    flat = city.rides.destination[inside].astype(np.int64) * len(city.hours) + city.rides.end[inside] // 3600
    return np.bincount(flat, minlength=city.rate.size).reshape(city.rate.shape)


def hourly_exposure(city: City) -> Floats:
    """Share of each hour in which a vehicle stood at the place (P, H)."""
    stock, seconds = city.stock, city.hours.seconds
    # All places end to end on one time line; the empty time up to every hour's edge, then its differences.
    key = stock.place.astype(np.int64) * seconds + stock.second
    empty = (stock.available == 0).astype(np.int64)
    span = np.diff(np.append(key, len(city.map) * seconds))
    before = np.concatenate([[0], np.cumsum(span * empty)[:-1]])
    edges = np.arange(city.rate.size + 1, dtype=np.int64) * 3600
    at = np.searchsorted(key, edges, side="right") - 1
    passed = before[at] + empty[at] * (edges - key[at])
    return 1.0 - np.diff(passed).reshape(city.rate.shape) / 3600.0


def hour_of_week(city: City) -> Ints:
    """Local hour of the week of each hour (H,): 0 is Monday, 0 h."""
    local = city.hours.local(3600 * np.arange(len(city.hours), dtype=np.int64))
    return ((local // 3600 + 3 * 24) % WEEK).astype(np.int64)  # POSIX time began on a Thursday


def weekly_rates(count: Floats | Ints, exposure: Floats, week_hour: Ints, *, prior: float = 2.0) -> Floats:
    """Rate of each place and hour of the week (P, 168) from counts and the time in which they could happen.

        rate = (Σ count + prior · m) / (Σ exposure + prior)

    over the weeks, with m what the place's overall rate and its whole city's weekly pattern would suggest: a
    few hours of exposure do not say much by themselves. ``exposure`` 1 everywhere gives plain usage.
    """
    seen = np.zeros((len(count), WEEK))
    open_ = np.zeros((len(count), WEEK))
    np.add.at(seen.T, week_hour, np.asarray(count, dtype=np.float64).T)
    np.add.at(open_.T, week_hour, exposure.T)
    pattern = seen.sum(axis=0) / np.maximum(open_.sum(axis=0), 1e-9)
    # The place's level relative to the city, where it was open.
    level = seen.sum(axis=1) / np.maximum(open_ @ pattern, 1e-9)
    return (seen + prior * level[:, None] * pattern) / (open_ + prior)


def day_windows(city: City, first_day: int, *, clock: int = 4, hours: int = 24) -> Ints:
    """Indices (days, hours) of the hours that the targets of each day serve: from ``clock`` on.

    At the end of the period the last hours stand in for those that are beyond it.
    """
    starts = [
        int(np.flatnonzero((city.hours.day == day) & (city.hours.hour == clock))[0])
        for day in range(first_day, city.settings.days)
    ]
    index = np.array(starts)[:, None] + np.arange(hours)
    return np.where(index < len(city.hours), index, index - 24)
