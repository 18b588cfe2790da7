"""A simulated city with known demand, including the part that nobody observes."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from unmet.datasets.city._demand import Event, Requests, make_events, make_rate, make_requests
from unmet.datasets.city._fleet import even_stock, make_fleet
from unmet.datasets.city._fronts import Front, front_factor, make_fronts
from unmet.datasets.city._hours import Hours, make_hours
from unmet.datasets.city._map import Map, make_map
from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings, settings_for
from unmet.datasets.city._simulation import Outcome, night_targets, simulate
from unmet.datasets.city._truth import Stock, Truth, count_truth, follow_stock
from unmet.datasets.city._weather import Weather, make_weather


@dataclass(frozen=True)
class Rides:
    """One entry per ride, ordered by start and place: seconds after the first hour, places, vehicle."""

    start: np.ndarray
    end: np.ndarray
    origin: np.ndarray
    destination: np.ndarray
    vehicle: np.ndarray

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class City:
    """A city with its truth. Arrays over places and hours have the shape (P, H).

    Attributes
    ----------
    settings : CitySettings
    map : Map
        Ids, names, coordinates, kinds and attraction of the places.
    hours : Hours
        The hours of the period and their local clock.
    capacity : array (P,)
        Docks per place.
    weather : Weather or None
    events : tuple of Event
    fronts : tuple of Front
    rate : array (P, H)
        Expected requests given calendar, weather and events, before shocks.
    truth : Truth
        latent, served, lost, spilled_out, spilled_in, rival.
    rides : Rides
    moves : array (M, 5)
        Vehicles moved by vans: vehicle, from, second, to, second.
    home : array (V,)
        Place of each vehicle at the start.
    stock : Stock
        Every change of stock.
    targets : dict or None
        Set by ``even`` and by :func:`replay`: hour → vehicles per place that vans leaving at that hour worked
        towards. None if vans followed the city's own targets every night.
    """

    settings: CitySettings
    map: Map
    hours: Hours
    capacity: np.ndarray
    weather: Weather | None
    events: tuple[Event, ...]
    rate: np.ndarray
    truth: Truth
    rides: Rides
    moves: np.ndarray
    home: np.ndarray
    stock: Stock
    targets: dict[int, list[int]] | None = None
    fronts: tuple[Front, ...] = ()

    @property
    def share_empty(self) -> float:
        """Share of station time without a vehicle."""
        until = np.append(self.stock.second[1:], self.hours.seconds)
        until[np.append(np.diff(self.stock.place) != 0, True)] = self.hours.seconds
        span = until - self.stock.second
        return float(span[self.stock.available == 0].sum() / span.sum())

    def write(self, folder: str | PathLike[str], **options: object) -> list[Path]:
        """Write the city's files. See :func:`unmet.datasets.city.write_city` for the options."""
        from unmet.datasets.city._write import write_city

        return write_city(self, folder, **options)  # type: ignore[arg-type]


def make_city(
    size: str = "town",
    *,
    places: int | None = None,
    days: int = 90,
    seed: int = 1,
    vehicles: int | None = None,
    demand: float | None = None,
    spill: bool = True,
    rival: bool | float = False,
    rebalancing: bool = True,
    weather: bool = True,
    shocks: str = "independent",
    dispersion: float = 0.25,
    persistence: float = 0.8,
    start: str = "2024-03-04",
    zone: str = "America/New_York",
    centre: tuple[float, float] = (40.7178, -74.0431),
    walk: float = 300.0,
    docks: float = 2.0,
    events: float = 6.0,
    broken: float = 0.0,
    retiring: float = 0.0,
    van_hours: tuple[int, ...] = (2,),
    fronts: float = 0.0,
    refusal: float = 0.0,
    even: bool = False,
    progress: Callable[[float], None] | None = None,
) -> City:
    """Simulate a city: demand, vehicles that move with rides, and the stock-outs that follow.

    Parameters
    ----------
    size : {"village", "town", "city", "metropolis"}
        Number of places and demand per place. ``places``, ``demand`` and ``vehicles`` override it. Without
        ``vehicles``, the fleet leaves places empty 10–20% of the time.
    rival : bool or float
        A second operator serves this share of the requests. ``True`` means 20%.
    even : bool
        Vans fill all places evenly, as if demand were unknown (:func:`even_targets`).
    progress : callable, optional
        Called with the share of the work done.

    Notes
    -----
    `CitySettings` describes the other parameters; the page "The simulated city" of the docs, the model.

    Examples
    --------
    >>> city = make_city("village", days=2, seed=1)
    >>> truth = city.truth
    >>> bool((truth.served == truth.latent - truth.lost - truth.spilled_out + truth.spilled_in).all())
    True
    """
    settings = settings_for(
        size,
        places=places,
        vehicles=vehicles,
        demand=demand,
        rival=rival,
        days=days,
        seed=seed,
        spill=spill,
        rebalancing=rebalancing,
        weather=weather,
        shocks=shocks,
        dispersion=dispersion,
        persistence=persistence,
        start=start,
        zone=zone,
        centre=centre,
        walk=walk,
        docks=docks,
        events=events,
        broken=broken,
        retiring=retiring,
        van_hours=tuple(van_hours),
        fronts=fronts,
        refusal=refusal,
    )
    if even and not rebalancing:
        raise ValueError("even=True is about vans: it needs rebalancing=True")
    map_, hours = make_map(settings), make_hours(settings)
    sky = make_weather(settings, hours) if settings.weather else None
    happenings = make_events(settings, map_, hours)
    moving = make_fronts(settings, hours)
    rate = make_rate(settings, map_, hours, sky, happenings)
    for front in moving:
        rate = rate * front_factor(front, map_, rate.shape[1])
    fleet = make_fleet(settings, map_, hours, rate)
    ours, theirs = share_out(settings, make_requests(settings, map_, hours, rate))
    alike = even_stock(settings.vehicles, fleet.capacity)
    targets = night_targets(settings, hours, alike) if even else None
    outcome = simulate(settings, map_, hours, fleet, ours, progress, targets)
    return City(
        settings=settings,
        map=map_,
        hours=hours,
        capacity=fleet.capacity,
        weather=sky,
        events=happenings,
        rate=rate,
        truth=count_truth(rate.shape, ours, outcome, theirs),
        rides=take_rides(outcome),
        moves=outcome.moves,
        home=outcome.home,
        stock=follow_stock(hours, fleet, outcome),
        targets=targets,
        fronts=moving,
    )


def share_out(settings: CitySettings, requests: Requests) -> tuple[Requests, tuple[np.ndarray, np.ndarray]]:
    """Return the operator's requests, and place and second of those that the rival serves."""
    theirs = generator(settings.seed, "rival").random(len(requests.place)) < settings.rival
    ours = ~theirs
    kept = Requests(
        requests.place[ours], requests.second[ours], requests.destination[ours], requests.ride[ours]
    )
    return kept, (requests.place[theirs], requests.second[theirs])


def take_rides(outcome: Outcome) -> Rides:
    rode = np.flatnonzero(outcome.origin >= 0)
    order = rode[np.lexsort((outcome.origin[rode], outcome.second[rode]))]
    return Rides(
        start=outcome.second[order],
        end=outcome.end[order],
        origin=outcome.origin[order],
        destination=outcome.destination[order],
        vehicle=outcome.vehicle[order],
    )
