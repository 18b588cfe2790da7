"""Targets played in the city."""

import numpy as np
import pytest

from unmet.datasets.city import make_city, morning_targets
from unmet.planning import (
    Played,
    allocate,
    compare_targets,
    count_played,
    daily_targets,
    expected_lost,
    gap_closed,
    play_targets,
)


@pytest.fixture(scope="module")
def city():
    return make_city("village", days=12, seed=4, rival=True)


def test_its_own_targets_lose_what_the_city_lost(city):
    played = play_targets(city, morning_targets(city), first_day=5)
    assert played == count_played(city, 5)
    late = city.hours.day >= 5
    assert played.lost == (city.truth.lost - city.truth.rival)[:, late].sum()
    assert played.requests == (city.truth.latent - city.truth.rival)[:, late].sum()
    assert 0 < played.moved <= len(city.moves)
    assert played.service_level == pytest.approx(1 - played.lost / played.requests)


def test_targets_that_starve_half_the_places_lose_more(city):
    own = morning_targets(city)
    starved = np.where(np.arange(12) % 2, 0, own)
    found = compare_targets(city, {"own": own, "starved": starved}, first_day=2)
    assert found["own"].requests == found["starved"].requests
    assert found["starved"].lost > 1.1 * found["own"].lost


def test_daily_targets_are_allocations_of_each_day():
    random = np.random.default_rng(1)
    rate, returns = random.gamma(1, 1, (3, 5, 24)), random.gamma(1, 1, (3, 5, 24))
    capacity = np.array([10, 8, 12, 10, 9])
    found = daily_targets(rate, 4.0, returns, capacity=capacity, fleet=22)
    assert found.shape == (3, 5)
    for day in range(3):
        curves = expected_lost(rate[day], 4.0, returns[day], capacity=capacity)
        assert (found[day] == allocate(22, curves, capacity=capacity)).all()
    with pytest.raises(ValueError, match="days, places, hours"):
        daily_targets(rate[0], capacity=capacity, fleet=22)


def test_the_gap_by_hand():
    a, b, c = (Played(1000, lost, 0, 0) for lost in (100, 70, 60))
    assert gap_closed(a, b, c) == pytest.approx(0.75)
    assert np.isnan(gap_closed(c, b, a))
    with pytest.raises(ValueError, match="same city"):
        gap_closed(a, b, Played(999, 60, 0, 0))
