"""True quantiles of the daily demand of a hub, known only in the simulated city."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmet.papers.mobility._grid_models import QUANTILES

if TYPE_CHECKING:
    from unmet.datasets import City

Floats = NDArray[np.float64]
_NODES = 9


def hub_truths(city: "City", hubs: list[NDArray[np.bool_]], draws: int = 400) -> list[dict[str, Floats]]:
    """Return quantiles at .05 and .95 of the daily requests of each hub, shape (days, 2), of two kinds.

    "weather": given the calendar, the day's weather and its events. Requests of a place and hour have mean λ
    and variance λ + φ λ² (so the city is made) and are independent, so their sum over a day is close to
    normal with the summed mean and variance.

    "calendar": given the calendar alone: the mixture of these over `draws` other weathers and sets of events
    drawn by the same rules. It is what can be known before the day, except for what earlier days tell.

    Parameters
    ----------
    hubs : the members of each hub, as masks over the places.
    """
    if city.settings.shocks != "independent":
        raise ValueError("the truth of a day is known for shocks='independent' only")
    from scipy.special import ndtri

    levels = ndtri(np.array(QUANTILES))
    nodes = ndtri((np.arange(_NODES) + 0.5) / _NODES)
    mixed = _other_days(city, hubs, draws)
    truths = []
    for members, (middle, width) in zip(hubs, mixed):
        rate = city.rate[members]
        mean, spread = _moments(city, rate.sum(axis=0), (rate**2).sum(axis=0))
        samples = (middle + nodes[:, None, None] * width).reshape(-1, len(mean))
        calendar = np.quantile(samples, QUANTILES, axis=0).T
        truths.append(
            {"weather": mean[:, None] + spread[:, None] * levels, "calendar": np.ascontiguousarray(calendar)}
        )
    return truths


def _other_days(city: "City", hubs: list[NDArray[np.bool_]], draws: int) -> list[tuple[Floats, Floats]]:
    """Return mean and standard deviation of the days of each hub under other weathers and events.

    Both have the shape (draws, days).
    """
    from unmet.datasets.city import make_events, make_rate, make_weather

    # Only weather and events change from draw to draw; the scale of the rate is that of this city. The first
    # hour is in the middle of the night, when there is no event.
    plain = make_rate(city.settings, city.map, city.hours, None, ())
    now = 1.0 if city.weather is None else city.weather.factor()[0]
    plain = plain * (city.rate[0, 0] / (plain[0, 0] * now))
    sums = [(plain[members].sum(axis=0), (plain[members] ** 2).sum(axis=0)) for members in hubs]
    shape = (draws, city.settings.days)
    found = [(np.empty(shape), np.empty(shape)) for _ in hubs]
    for draw in range(draws):
        settings = replace(city.settings, seed=1_000_003 + draw)
        sky = np.ones(1) if city.weather is None else make_weather(settings, city.hours).factor()
        more = np.zeros((len(hubs), len(city.hours)))
        for event in make_events(settings, city.map, city.hours):
            hours = slice(event.first_hour, event.first_hour + event.hours)
            near = (event.strength - 1.0) * np.exp(-city.map.distance[event.place] / 400.0)
            gain = near[:, None] * plain[:, hours]
            more[:, hours] += np.stack([gain[members].sum(axis=0) for members in hubs])
        for number, (total, square) in enumerate(sums):
            moments = _moments(city, (total + more[number]) * sky, square * sky**2)
            found[number][0][draw], found[number][1][draw] = moments
    return found


def _moments(city: "City", rate: Floats, square: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of daily requests, from hourly sums of λ and λ² over places."""
    mean = sum_by_day(city.hours.day, rate)
    return mean, np.sqrt(mean + city.settings.dispersion * sum_by_day(city.hours.day, square))


def sum_by_day(day: NDArray[np.int64], hourly: Floats) -> Floats:
    """Return sums over the hours of each local day."""
    return np.bincount(day, weights=hourly).astype(np.float64)
