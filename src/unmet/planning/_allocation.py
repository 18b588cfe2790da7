"""Allocate a fleet to places, and compute lost rides by fleet size."""

import numpy as np
from numpy.typing import ArrayLike

from unmet.planning._arrays import Floats, Ints, amounts, counts, counts_for, curves_of, docks_of
from unmet.planning._stock_value import value_of_vehicles


def allocate(
    fleet: int, curves: ArrayLike, *, capacity: ArrayLike | None = None, least: ArrayLike = 0
) -> Ints:
    """Return the vehicles per place with the fewest expected lost rides in total. The result is exact.

    Vehicles are placed one by one where the next saves most. Because every curve is convex, no other
    allocation loses less (Gross, 1956). The whole fleet is placed; vehicles that save nothing go where the
    fewest stand.

    Parameters
    ----------
    fleet : int
        Vehicles to place.
    curves : array (P, C + 1)
        From :func:`expected_lost`. Curves must fall and be convex.
    capacity : array (P,), optional
        Docks; C by default.
    least : int or array (P,)
        Vehicles that each place gets at least.

    Examples
    --------
    >>> allocate(3, [[2.0, 1.2, 0.6, 0.3], [1.0, 0.3, 0.1, 0.0]])
    array([2, 1])
    """
    worth = value_of_vehicles(curves)
    places, count = worth.shape
    docks = docks_of(capacity, places, count + 1)
    floor = counts_for(least, (places,), "least")
    if (floor > docks).any():
        raise ValueError("least must not exceed capacity: lower it")
    if fleet != int(fleet) or not int(floor.sum()) <= fleet <= int(docks.sum()):
        raise ValueError(
            f"fleet must be a whole number from {int(floor.sum())} (least) to {int(docks.sum())} (docks), "
            f"got {fleet}"
        )
    order = _best_first(worth, docks, floor)[: int(fleet) - int(floor.sum())]
    return floor + np.bincount(order // count, minlength=places) if count else floor.copy()


def fleet_curve(
    curves: ArrayLike, demand: float, *, fleets: ArrayLike | None = None, capacity: ArrayLike | None = None
) -> dict[str, Floats | Ints]:
    """Return expected lost rides and service level by fleet size, each fleet allocated optimally.

    lost(F) = Σᵢ Vᵢ(0) − (sum of the F largest values of a vehicle),     service level = 1 − lost(F) / demand.

    Returns stay as in the curves, although a much larger fleet would have more.

    Parameters
    ----------
    demand : float
        Expected requests of all places over the window.
    fleets : array of int, optional
        Fleet sizes; by default 0, 1, … all docks.

    Returns
    -------
    dict of arrays
        ``fleet``, ``service_level``, ``expected_lost``.
    """
    table = curves_of(curves)
    worth = value_of_vehicles(table)
    docks = docks_of(capacity, *table.shape)
    wanted = float(amounts(demand, "demand"))
    if wanted < table[:, 0].sum() * (1 - 1e-9):
        raise ValueError("demand is less than empty places would lose: give the requests of all places")
    sizes = np.arange(docks.sum() + 1) if fleets is None else counts(fleets, "fleets")
    if sizes.max(initial=0) > docks.sum():
        raise ValueError(f"fleets must not exceed the {docks.sum()} docks, got {sizes.max()}")
    saved = worth.ravel()[_best_first(worth, docks, np.zeros(len(table), dtype=np.int64))]
    lost = np.maximum(table[:, 0].sum() - np.concatenate([[0.0], np.cumsum(saved)]), 0.0)[sizes]
    level = 1.0 - lost / wanted if wanted else np.ones(len(sizes))
    return {"fleet": sizes, "service_level": level, "expected_lost": lost}


def _best_first(worth: Floats, docks: Ints, floor: Ints) -> Ints:
    """Return flat indices into ``worth`` of vehicles to add: by falling worth, then by index."""
    number = np.arange(worth.shape[1])
    free = (number >= floor[:, None]) & (number < docks[:, None])
    candidates = np.flatnonzero(free)
    height = candidates % max(worth.shape[1], 1)
    return candidates[np.lexsort((height, -worth.ravel()[candidates]))]
