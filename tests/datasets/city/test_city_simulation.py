"""The city's books balance: vehicles, stock and every request, for every combination of switches."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.datasets.city import City, make_city

SWITCHES = [
    {"spill": False},
    {"spill": True},
    {"spill": True, "rival": True},
    {"spill": True, "rival": 0.5, "rebalancing": False},
    {"spill": False, "weather": False, "shocks": "persistent"},
    {"spill": True, "docks": 1.2},
    {"spill": True, "demand": 30.0, "vehicles": 200},
]


def check_vehicles(city: City) -> None:
    """Each vehicle leaves from where it last arrived or was brought, and not before."""
    legs: list[list[tuple[int, int, int, int]]] = [[] for _ in range(city.settings.vehicles)]
    rides = city.rides
    for start, end, origin, destination, vehicle in zip(
        rides.start.tolist(),
        rides.end.tolist(),
        rides.origin.tolist(),
        rides.destination.tolist(),
        rides.vehicle.tolist(),
    ):
        legs[vehicle].append((start, end, origin, destination))
    for vehicle, source, fetched, sink, brought in city.moves.tolist():
        legs[vehicle].append((fetched, brought, source, sink))
    for vehicle, journey in enumerate(legs):
        at, free = int(city.home[vehicle]), 0
        for start, end, origin, destination in sorted(journey):
            assert origin == at
            assert free < start < end
            at, free = destination, end


def check_stock(city: City) -> None:
    """Stock lies between 0 and the docks, changes once a second at most, and by rides and moves alone."""
    stock = city.stock
    assert stock.available.min() >= 0
    assert (stock.available <= city.capacity[stock.place]).all()
    key = stock.place.astype(np.int64) * city.hours.seconds + stock.second
    assert (np.diff(key) > 0).all()
    assert (stock.second < city.hours.seconds).all()
    last = np.append(np.flatnonzero(np.diff(stock.place)), len(stock.place) - 1)
    inside = city.rides.end < city.hours.seconds
    places = len(city.map)
    change = (
        np.bincount(city.rides.destination[inside], minlength=places)
        - np.bincount(city.rides.origin, minlength=places)
        + np.bincount(city.moves[:, 3], minlength=places)
        - np.bincount(city.moves[:, 1], minlength=places)
    )
    opening = np.bincount(city.home, minlength=places)
    assert (stock.available[last] == opening + change).all()


def check_identity(city: City) -> None:
    truth = city.truth
    assert (truth.served == truth.latent - truth.lost - truth.spilled_out + truth.spilled_in).all()
    for field in dataclasses.fields(truth):
        assert getattr(truth, field.name).min() >= 0
    assert (truth.rival <= truth.lost).all()
    assert (truth.lost + truth.spilled_out <= truth.latent).all()
    assert truth.served.sum() == len(city.rides)
    assert truth.spilled_in.sum() == truth.spilled_out.sum()
    hour = city.rides.start // 3600
    counted = np.zeros_like(truth.served)
    np.add.at(counted, (city.rides.origin, hour), 1)
    assert (counted == truth.served).all()


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_books_balance(switches):
    city = make_city("village", **{"days": 6, "seed": 3, **switches})
    check_vehicles(city)
    check_stock(city)
    check_identity(city)
    assert city.truth.lost.sum() > 0
    assert (city.truth.spilled_in.sum() > 0) == city.settings.spill
    assert (city.truth.rival.sum() > 0) == (city.settings.rival > 0)
    assert (len(city.moves) > 0) == city.settings.rebalancing
    assert (city.weather is None) == (not city.settings.weather)


@settings(max_examples=15, deadline=None)
@given(
    places=st.integers(2, 9),
    vehicles=st.integers(1, 40),
    demand=st.floats(0.1, 20.0),
    seed=st.integers(0, 10**6),
    spill=st.booleans(),
    docks=st.floats(1.2, 3.0),
)
def test_books_balance_in_any_city(places, vehicles, demand, seed, spill, docks):
    city = make_city(
        places=places, vehicles=vehicles, demand=demand, days=2, seed=seed, spill=spill, docks=docks
    )
    check_vehicles(city)
    check_stock(city)
    check_identity(city)


def test_losses_happen_only_while_empty():
    """Without spill, an hour in which a place was never empty lost nothing: y = latent."""
    city = make_city("village", days=20, seed=5, spill=False)
    ran_out = hours_with_empty_time(city)
    lost = city.truth.lost > 0
    assert lost.sum() > 100
    assert not (lost & ~ran_out).any()
    assert (city.truth.served <= city.truth.latent).all()


def hours_with_empty_time(city: City) -> np.ndarray:
    """(P, H): was there a moment without a vehicle? A plain loop, apart from the package's code."""
    empty = np.zeros(city.rate.shape, dtype=bool)
    for place in range(len(city.map)):
        mine = city.stock.place == place
        seconds = city.stock.second[mine].tolist() + [city.hours.seconds]
        for begin, end, available in zip(seconds[:-1], seconds[1:], city.stock.available[mine].tolist()):
            if available == 0:
                empty[place, begin // 3600 : (end - 1) // 3600 + 1] = True
    return empty


def test_no_request_goes_unserved_beside_a_vehicle():
    """min(y, threshold) = min(latent, threshold), threshold = stock at the start − vehicles taken away."""
    city = make_city("village", days=20, seed=6, spill=False)
    places, hours = city.rate.shape
    removed = np.zeros((places, hours), dtype=int)
    np.add.at(removed, (city.moves[:, 1], city.moves[:, 2] // 3600), 1)
    known = city.stock.place * (city.hours.seconds + 1) + city.stock.second
    # The stock at the start is the one before anything happens in the first second of the hour.
    asked = np.arange(places)[:, None] * (city.hours.seconds + 1) + 3600 * np.arange(hours)[None, :]
    before = np.maximum(np.searchsorted(known, asked, side="left") - 1, np.searchsorted(known, asked[:, :1]))
    threshold = city.stock.available[before] - removed
    served, latent = city.truth.served, city.truth.latent
    assert (np.minimum(served, threshold) == np.minimum(latent, threshold)).all()
    assert (served < latent).any()


def test_same_seed_same_city_and_other_seed_other_city():
    one, two, other = (make_city("village", days=3, seed=seed) for seed in (1, 1, 2))
    for field in dataclasses.fields(one.rides):
        assert np.array_equal(getattr(one.rides, field.name), getattr(two.rides, field.name))
    assert not np.array_equal(one.truth.latent, other.truth.latent)


def test_switching_spill_changes_supply_not_demand():
    """People want the same whatever happens to them; a second's wait may cross an hour, no more."""
    on, off = (make_city("village", days=10, seed=4, spill=spill) for spill in (True, False))
    assert np.array_equal(on.rate, off.rate)
    assert np.abs(on.truth.latent - off.truth.latent).sum() <= 4
    assert on.truth.lost.sum() < off.truth.lost.sum()


def test_full_docks_send_riders_on():
    """With hardly more docks than vehicles some places fill up, and nobody vanishes."""
    city = make_city("village", days=10, seed=1, docks=1.2, vehicles=150)
    assert (city.stock.available == city.capacity[city.stock.place]).any()
    check_vehicles(city)


def test_progress_ends_at_one():
    seen: list[float] = []
    make_city("village", days=3, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
