"""Vehicles that break or retire, and vans by day."""

import numpy as np
import pytest

from unmet.datasets.city import make_city

SIZE = {"days": 28, "seed": 3}


def test_without_wear_the_city_is_the_same():
    plain, same = make_city("village", **SIZE), make_city("village", broken=0.0, van_hours=(2,), **SIZE)
    assert np.array_equal(plain.rides.start, same.rides.start)
    assert np.array_equal(plain.stock.available, same.stock.available)


def test_broken_vehicles_stand_and_nobody_rents_them():
    city = make_city("village", broken=0.08, **SIZE)
    assert city.stock.available.min() == 0
    last = np.flatnonzero(np.append(np.diff(city.stock.place) != 0, True))
    under_way = (city.rides.start < city.hours.seconds) & (city.rides.end >= city.hours.seconds)
    standing = city.stock.available[last].sum() + under_way.sum()
    assert 0.01 < 1 - standing / city.settings.vehicles < 0.25
    assert city.truth.lost.sum() > make_city("village", **SIZE).truth.lost.sum()


def test_retired_vehicles_ride_no_more():
    city = make_city("village", retiring=1.0, **SIZE)
    half = city.hours.seconds // 2
    early, late = (np.unique(city.rides.vehicle[rows]) for rows in
                   (city.rides.start < half, city.rides.start >= half))  # fmt: skip
    assert len(late) < 0.8 * len(early)


def test_vans_leave_at_the_hours_given():
    city = make_city("village", van_hours=(2, 13), **SIZE)
    clock = city.hours.hour[city.moves[:, 2] // 3600]
    assert set(np.unique(clock)) <= {2, 3, 4, 13, 14, 15}
    assert (clock >= 13).any()


@pytest.mark.parametrize("wrong", [{"broken": 0.9}, {"retiring": 2.0}, {"van_hours": (24,)}])
def test_impossible_wear_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        make_city("village", days=1, **wrong)
