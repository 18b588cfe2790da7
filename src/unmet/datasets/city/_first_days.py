"""The first days of a city, as they were seen before the rest happened."""

from dataclasses import fields, replace

from unmet.datasets.city._city import City, Rides
from unmet.datasets.city._hours import make_hours
from unmet.datasets.city._truth import Stock, Truth
from unmet.datasets.city._weather import Weather


def first_days(city: City, days: int) -> City:
    """The same city up to the end of a local day: what is known when the following days are planned.

    Rides that began by then are kept whole. A city that is made with fewer days would be another one: its
    level of demand is set over all of its days.

    Examples
    --------
    >>> from unmet.datasets import make_city
    >>> city = make_city("village", days=4, seed=1)
    >>> early = first_days(city, 3)
    >>> bool((early.truth.latent == city.truth.latent[:, : len(early.hours)]).all())
    True
    """
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= city.settings.days:
        raise ValueError(f"days must be a whole number from 1 to {city.settings.days}, got {days!r}")
    settings = replace(city.settings, days=days)
    hours = make_hours(settings)
    count, seconds = len(hours), hours.seconds
    begun, changed = city.rides.start < seconds, city.stock.second < seconds
    weather = city.weather
    return replace(
        city,
        settings=settings,
        hours=hours,
        weather=None
        if weather is None
        else Weather(weather.temperature[:count], weather.rain[:count], weather.wind[:count]),
        events=tuple(event for event in city.events if event.first_hour < count),
        rate=city.rate[:, :count],
        truth=Truth(**{field.name: getattr(city.truth, field.name)[:, :count] for field in fields(Truth)}),
        rides=Rides(**{field.name: getattr(city.rides, field.name)[begun] for field in fields(Rides)}),
        moves=city.moves[city.moves[:, 2] < seconds],
        stock=Stock(**{field.name: getattr(city.stock, field.name)[changed] for field in fields(Stock)}),
    )
