"""What a planner learns from the history of a simulated city: returns, exposure, usual rates."""

import numpy as np

from unmet.datasets.city import City
from unmet.planning._arrays import Floats, Ints

CLASSES = 48
_RECENT = 14  # days whose level is assumed to last


def hourly_returns(city: City) -> Ints:
    """Return the rides that ended at each place in each hour (P, H)."""
    inside = city.rides.end < city.hours.seconds
    flat = city.rides.destination[inside].astype(np.int64) * len(city.hours) + city.rides.end[inside] // 3600
    return np.bincount(flat, minlength=city.rate.size).reshape(city.rate.shape)


def hourly_exposure(city: City) -> Floats:
    """Return the share of each hour in which the place had a vehicle (P, H)."""
    stock, seconds = city.stock, city.hours.seconds
    # Put all places end to end on one time line: empty time up to each edge of an hour, then differences.
    key = stock.place.astype(np.int64) * seconds + stock.second
    empty = (stock.available == 0).astype(np.int64)
    span = np.diff(np.append(key, len(city.map) * seconds))
    before = np.concatenate([[0], np.cumsum(span * empty)[:-1]])
    edges = np.arange(city.rate.size + 1, dtype=np.int64) * 3600
    at = np.searchsorted(key, edges, side="right") - 1
    passed = before[at] + empty[at] * (edges - key[at])
    return 1.0 - np.diff(passed).reshape(city.rate.shape) / 3600.0


def hour_class(city: City) -> Ints:
    """Return the class of each hour (H,): local hour 0–23 on weekdays, 24–47 at weekends."""
    return (city.hours.hour + 24 * city.hours.weekend).astype(np.int64)


def rates_by_class(count: Floats | Ints, exposure: Floats, classes: Ints, *, prior: float = 3.0) -> Floats:
    """Return rates by place and class of hours (P, 48), from counts and exposure.

        rate = (Σ count + prior · m) / (Σ exposure + prior)

    over the hours of a class, where m is the rate that the level of the place and the pattern of the city
    suggest: a few hours of exposure say little by themselves. ``exposure`` 1 everywhere gives plain usage.
    """
    seen = np.zeros((len(count), CLASSES))
    open_ = np.zeros((len(count), CLASSES))
    np.add.at(seen.T, classes, np.asarray(count, dtype=np.float64).T)
    np.add.at(open_.T, classes, exposure.T)
    pattern = seen.sum(axis=0) / np.maximum(open_.sum(axis=0), 1e-9)
    level = seen.sum(axis=1) / np.maximum(open_ @ pattern, 1e-9)
    return (seen + prior * level[:, None] * pattern) / np.maximum(open_ + prior, 1e-9)


def usual_rates(
    city: City, count: Floats | Ints, first_day: int, *, exposure: Floats | None = None, prior: float = 3.0
) -> Floats:
    """Return usual rates in every hour (P, H) from the days before ``first_day``: pattern × recent level.

    The pattern comes from :func:`rates_by_class` after dividing out the level of each day, which is the
    city's total relative to its pattern. The level is that of the last two weeks. With ``exposure``, time in
    which a place was empty does not count; without it, usage counts as demand.
    """
    if not 0 < first_day <= city.settings.days:
        raise ValueError(f"first_day must lie between 1 and {city.settings.days}, got {first_day}")
    classes, day = hour_class(city), city.hours.day
    past = day < first_day
    total = np.asarray(count, dtype=np.float64)[:, past].sum(axis=0)
    members = np.bincount(classes[past], minlength=CLASSES)
    mean = np.bincount(classes[past], total, CLASSES) / np.maximum(members, 1)
    level = np.bincount(day[past], total) / np.maximum(np.bincount(day[past], mean[classes[past]]), 1e-9)
    open_ = np.ones(city.rate.shape) if exposure is None else exposure
    rates = rates_by_class(count[:, past], open_[:, past] * level[day[past]], classes[past], prior=prior)
    return rates[:, classes] * level[-_RECENT:].mean()


def visit_windows(city: City, first_day: int, clock: int, hours: int) -> Ints:
    """Return indices (days, hours) of the hours from ``clock`` on, for each local day from ``first_day``.

    A ``clock`` of 24 or more is an hour of the next day. Hours beyond the end of the period are replaced by
    those a day earlier.
    """
    # Count back from noon, which every day has, so that days of 23 or 25 hours do no harm.
    noon = np.flatnonzero(city.hours.hour == 12)[first_day:]
    index = noon[:, None] + (clock - 12) + np.arange(hours)
    return np.where(index < len(city.hours), index, index - 24 * (1 + (index - len(city.hours)) // 24))
