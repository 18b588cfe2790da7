"""Replay a city with vans that follow other targets, to see what would have been lost."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from unmet.datasets.city._city import City, share_out, take_rides
from unmet.datasets.city._demand import make_requests
from unmet.datasets.city._fleet import even_stock, make_fleet
from unmet.datasets.city._rebalancing import CLOCK
from unmet.datasets.city._simulation import night_targets, simulate_each
from unmet.datasets.city._truth import count_truth, follow_stock


def morning_targets(city: City) -> np.ndarray:
    """Return the vehicles per place that the city's own vans aim for every night; also its opening stock."""
    return make_fleet(city.settings, city.map, city.hours, city.rate).target


def even_targets(city: City) -> np.ndarray:
    """Return the same number of vehicles everywhere, as far as docks allow: targets that ignore demand."""
    return even_stock(city.settings.vehicles, city.capacity)


def replay(
    city: City,
    targets: ArrayLike,
    *,
    first_day: int = 0,
    clocks: Sequence[int] = (CLOCK,),
    progress: Callable[[float], None] | None = None,
) -> City:
    """Replay a city with the same requests, fleet, docks and vans, but other targets of the vans.

    Requests come from the same random numbers, so only the targets change the lost rides. Until the first
    vans of ``first_day`` everything is as in ``city``.

    Parameters
    ----------
    targets : array (P,), (days, P) or (days, clocks, P)
        Vehicles wanted at each place after the vans: always the same, or one set per local day from
        ``first_day`` on, or one per day and departure of the vans. Their sum must not exceed the fleet, and
        no target may exceed the docks of its place.
    first_day : int
        Number of the local day, from 0, from which vans follow the targets.
    clocks : sequence of int
        Local hours at which vans leave from ``first_day`` on. They work up to three hours each time.

    Returns
    -------
    City
        With ``targets`` set. ``replay(city, morning_targets(city))`` has the same rides as ``city``.
    """
    [again] = replay_each(city, [targets], first_day=first_day, clocks=clocks, progress=progress)
    return again


def replay_each(
    city: City,
    targets: Iterable[ArrayLike],
    *,
    first_day: int = 0,
    clocks: Sequence[int] = (CLOCK,),
    progress: Callable[[float], None] | None = None,
) -> Iterator[City]:
    """Replay a city with each of several targets, as :func:`replay` does. The days before are played once."""
    if not city.settings.rebalancing:
        raise ValueError("city has no vans to follow targets: make it with rebalancing=True")
    fleet = make_fleet(city.settings, city.map, city.hours, city.rate)
    own = night_targets(city.settings, city.hours, fleet.target)
    before = own if city.targets is None else city.targets
    before = {hour: wanted for hour, wanted in before.items() if city.hours.day[hour] < first_day}
    plans = []
    for wanted in targets:
        followed = dict(before)
        for day, of_day in enumerate(_checked(city, np.asarray(wanted), first_day, clocks), start=first_day):
            for clock, of_visit in zip(clocks, of_day):
                # When the clock goes forward the hour may be missing; when it goes back it occurs twice.
                for hour in np.flatnonzero((city.hours.day == day) & (city.hours.hour == clock)).tolist():
                    followed[hour] = of_visit.tolist()
        plans.append(dict(sorted(followed.items())))
    ours, theirs = share_out(city.settings, make_requests(city.settings, city.map, city.hours, city.rate))
    outcomes = simulate_each(city.settings, city.map, city.hours, fleet, ours, plans, progress)
    for followed, outcome in zip(plans, outcomes):
        yield replace(
            city,
            truth=count_truth(city.rate.shape, ours, outcome, theirs),
            rides=take_rides(outcome),
            moves=outcome.moves,
            home=outcome.home,
            stock=follow_stock(city.hours, fleet, outcome),
            targets=followed,
        )


def _checked(city: City, targets: np.ndarray, first_day: int, clocks: Sequence[int]) -> np.ndarray:
    """Return checked targets for every day from ``first_day`` on and every clock (days, clocks, P)."""
    places, days = len(city.map), city.settings.days
    if not 0 <= first_day < days:
        raise ValueError(f"first_day must lie between 0 and {days - 1}, got {first_day}")
    if len(set(clocks)) != len(clocks) or not clocks or not set(clocks) <= set(range(24)):
        raise ValueError(f"clocks must be different hours from 0 to 23, got {clocks}")
    whole = (days - first_day, len(clocks), places)
    if targets.shape not in ((places,), (whole[0], places), whole):
        raise ValueError(
            f"targets must have the shape ({places},), ({whole[0]}, {places}) or {whole}: places; days from "
            f"first_day on and places; days, clocks and places. Got {targets.shape}"
        )
    if not np.issubdtype(targets.dtype, np.integer):
        raise ValueError(f"targets must be whole numbers of vehicles (integers), got {targets.dtype}")
    if (targets < 0).any() or (targets > city.capacity).any():
        raise ValueError("targets must lie between 0 and the docks of the place (city.capacity)")
    if (most := int(targets.sum(axis=-1).max())) > city.settings.vehicles:
        raise ValueError(f"targets add up to {most} vehicles, the fleet has {city.settings.vehicles}")
    return np.broadcast_to(targets[:, None] if targets.ndim == 2 else targets, whole)
