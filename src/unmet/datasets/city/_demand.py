"""Demand: rates by place and hour, counts around them, and single requests."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._hours import Hours
from unmet.datasets.city._map import Map
from unmet.datasets.city._profiles import LEAVING, SEEKING
from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings
from unmet.datasets.city._weather import Weather, autoregression

_REACH = 1500.0  # metres at which a destination's pull has fallen to 1/e
_SPEED = 3.3  # metres a second, door to door
_DETOUR = 1.3  # streets are longer than the straight line
SHORTEST, LONGEST = 150, 3 * 3600  # seconds a ride lasts


@dataclass(frozen=True)
class Event:
    """A special event: for some hours, places around it see up to ``strength`` times the demand."""

    place: int
    first_hour: int
    hours: int
    strength: float


@dataclass(frozen=True)
class Requests:
    """One entry per request, in order of time: place, second, destination, seconds the ride takes."""

    place: np.ndarray
    second: np.ndarray
    destination: np.ndarray
    ride: np.ndarray


def make_events(settings: CitySettings, map_: Map, hours: Hours) -> tuple[Event, ...]:
    """Draw special events: an evening or an afternoon at a place, preferably a leisure place."""
    random = generator(settings.seed, "events")
    count = int(random.poisson(settings.events * settings.days / 30))
    weight = np.where(map_.kind == 2, 5.0, 1.0) * map_.attraction
    events = []
    for _ in range(count):
        place = int(random.choice(len(map_), p=weight / weight.sum()))
        day = int(random.integers(settings.days))
        clock = int(random.choice([14, 19, 20]))
        begin = int(np.flatnonzero((hours.day == day) & (hours.hour == clock))[0])
        events.append(
            Event(place, begin, int(random.integers(2, 5)), round(float(random.uniform(1.5, 4.0)), 2))
        )
    return tuple(sorted(events, key=lambda event: (event.first_hour, event.place)))


def make_rate(
    settings: CitySettings, map_: Map, hours: Hours, weather: Weather | None, events: tuple[Event, ...]
) -> np.ndarray:
    """Return expected requests (P, H) before shocks, scaled to a mean of ``settings.demand``.

    rate = attraction · leaving(kind, weekend, hour) · season(day) · weather(hour) · events(place, hour),
    season(day) = exp(0.25 cos(2π (day − 200) / 365.25)).
    """
    rate = map_.attraction[:, None] * LEAVING[hours.weekend.astype(int), :, hours.hour].T[map_.kind]
    rate = rate * np.exp(0.25 * np.cos(2 * np.pi * (hours.day_of_year - 200) / 365.25))
    if weather is not None:
        rate = rate * weather.factor()
    for event in events:
        near = np.exp(-map_.distance[event.place] / 400.0)
        rate[:, event.first_hour : event.first_hour + event.hours] *= (
            1.0 + (event.strength - 1.0) * near[:, None]
        )
    return rate * (settings.demand / rate.mean())


def make_shocks(settings: CitySettings, shape: tuple[int, int]) -> np.ndarray:
    """Return factors with mean 1 and variance φ = dispersion for every place and hour.

    Independent shocks are Gamma(1/φ, scale φ). Persistent shocks are exp(s z − s²/2), where z is an AR(1)
    over hours with unit variance and s² = log(1 + φ). Both have the same mean and variance.
    """
    if settings.dispersion == 0:
        return np.ones(shape)
    random = generator(settings.seed, "shocks")
    if settings.shocks == "independent":
        return random.gamma(1.0 / settings.dispersion, settings.dispersion, shape)
    square = np.log1p(settings.dispersion)
    slow = autoregression(random.standard_normal(shape), settings.persistence)
    return np.exp(np.sqrt(square) * slow - square / 2)


def make_requests(settings: CitySettings, map_: Map, hours: Hours, rate: np.ndarray) -> Requests:
    """Draw Poisson counts with mean rate × shock, and the second, destination and ride of each request."""
    mean = rate * make_shocks(settings, rate.shape)
    counts = generator(settings.seed, "counts").poisson(mean)
    random = generator(settings.seed, "requests")
    place = np.repeat(np.arange(len(map_), dtype=np.int32), counts.sum(axis=1))
    hour = np.repeat(np.tile(np.arange(len(hours), dtype=np.int32), len(map_)), counts.ravel())
    second = hour * np.int32(3600) + random.integers(0, 3600, len(hour), dtype=np.int32)
    order = np.argsort(second, kind="stable")
    place, hour, second = place[order], hour[order], second[order]
    destination = _destinations(settings, map_, hours, place, hour)
    metres = map_.distance[place, destination] * _DETOUR
    pace = np.exp(generator(settings.seed, "rides").normal(0.0, 0.3, len(place)))
    ride = np.clip(90.0 + metres / _SPEED * pace, SHORTEST, LONGEST).astype(np.int32)
    return Requests(place, second, destination, ride)


def pull(map_: Map, weekend: int, hour: int) -> np.ndarray:
    """Return the chance (P, P) that a ride from row i goes to column j at this hour; zero on the diagonal.

    pull(i, j) ∝ attraction(j) · seeking(kind(j), weekend, hour) · exp(−distance(i, j) / 1500 m)
    """
    weight = map_.attraction * SEEKING[weekend, :, hour][map_.kind]
    chance = weight[None, :] * np.exp(-map_.distance / _REACH)
    np.fill_diagonal(chance, 0.0)
    return chance / chance.sum(axis=1, keepdims=True)


def _destinations(
    settings: CitySettings, map_: Map, hours: Hours, place: np.ndarray, hour: np.ndarray
) -> np.ndarray:
    """Draw the destination of each request, one class of hours (weekend × hour of day) at a time."""
    draw = generator(settings.seed, "destinations").random(len(place))
    clock = (hours.weekend.astype(np.int32) * 24 + hours.hour.astype(np.int32))[hour]
    order = np.argsort(clock, kind="stable")
    edges = np.searchsorted(clock[order], np.arange(49))
    destination = np.empty(len(place), dtype=np.int32)
    count = len(map_)
    for key in range(48):
        rows = order[edges[key] : edges[key + 1]]
        if len(rows) == 0:
            continue
        cumulative = np.cumsum(pull(map_, key // 24, key % 24), axis=1)
        cumulative[:, -1] = 1.0
        # Lay rows end to end, each shifted by its number, so that one search serves all origins.
        line = (cumulative + np.arange(count)[:, None]).ravel()
        found = np.searchsorted(line, place[rows] + draw[rows], side="right") - place[rows] * count
        found = np.minimum(found, count - 1)
        # Rounding may hit the origin itself, whose share is zero. Take its neighbour in the list.
        destination[rows] = np.where(found == place[rows], (found + 1) % count, found)
    return destination
