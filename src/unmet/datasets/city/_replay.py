"""The same city once more, with vans that follow other targets: what would have been lost."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from unmet.datasets.city._city import City, share_out, take_rides
from unmet.datasets.city._demand import make_requests
from unmet.datasets.city._fleet import make_fleet
from unmet.datasets.city._simulation import simulate, van_hours
from unmet.datasets.city._truth import count_truth, follow_stock


def morning_targets(city: City) -> np.ndarray:
    """Vehicles per place that the city's own vans work towards every night; also its opening stock."""
    return make_fleet(city.settings, city.map, city.hours, city.rate).target


def replay(
    city: City,
    targets: ArrayLike,
    *,
    first_day: int = 0,
    progress: Callable[[float], None] | None = None,
) -> City:
    """Play a city again: same requests, fleet, docks and vans; only the vans' morning targets differ.

    Requests come from the same random streams, so a difference in lost rides is the work of the targets. Up
    to the night of ``first_day`` the vans follow the targets of ``city`` and everything is as it was.

    Parameters
    ----------
    targets : array (P,) or (days, P)
        Vehicles wanted at each place when the vans have been; one row for every night, or one row for each
        local day from ``first_day`` on (the vans of a day leave at 2 h of it). They may add up to less than
        the fleet, not to more, and exceed the docks of no place.
    first_day : int
        Number of the local day, from 0, whose vans are the first to follow them.

    Returns
    -------
    City
        With ``targets`` set; ``replay(city, morning_targets(city))`` has the same rides as ``city``.
    """
    if not city.settings.rebalancing:
        raise ValueError("city has no vans that could follow targets: make it with rebalancing=True")
    fleet = make_fleet(city.settings, city.map, city.hours, city.rate)
    nights = _every_night(city, fleet.target, np.asarray(targets), first_day)
    ours, theirs = share_out(city.settings, make_requests(city.settings, city.map, city.hours, city.rate))
    outcome = simulate(city.settings, city.map, city.hours, fleet, ours, progress, nights)
    return replace(
        city,
        truth=count_truth(city.rate.shape, ours, outcome, theirs),
        rides=take_rides(outcome),
        moves=outcome.moves,
        home=outcome.home,
        stock=follow_stock(city.hours, fleet, outcome),
        targets=nights,
    )


def _every_night(city: City, own: np.ndarray, targets: np.ndarray, first_day: int) -> np.ndarray:
    """Targets of every night (nights, P): as they were before ``first_day``, the given ones from then on."""
    places, days = len(city.map), city.settings.days
    if not 0 <= first_day < days:
        raise ValueError(f"first_day must lie between 0 and {days - 1}, got {first_day}")
    if targets.shape not in ((places,), (days - first_day, places)):
        raise ValueError(
            f"targets must have the shape ({places},) or ({days - first_day}, {places}): places, or days "
            f"from first_day on and places; got {targets.shape}"
        )
    if not np.issubdtype(targets.dtype, np.integer):
        raise ValueError(f"targets must be whole numbers of vehicles (integers), got {targets.dtype}")
    if (targets < 0).any() or (targets > city.capacity).any():
        raise ValueError("targets must lie between 0 and the docks of the place (city.capacity)")
    if (most := int(targets.sum(axis=-1).max())) > city.settings.vehicles:
        raise ValueError(f"targets add up to {most} vehicles, the fleet has {city.settings.vehicles}")
    day = city.hours.day[van_hours(city.hours)]  # the night the clock goes forward may have no 2 h
    before = np.tile(own, (len(day), 1)) if city.targets is None else city.targets
    given = np.broadcast_to(targets, (days - first_day, places))
    return np.where((day < first_day)[:, None], before, given[np.maximum(day - first_day, 0)]).astype(
        np.int64
    )
