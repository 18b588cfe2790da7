"""The default fleet runs short in 10–20% of station time, so that demos have something to recover."""

import pytest

from unmet.datasets.city import make_city


@pytest.mark.parametrize("size", ["village", "town"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_default_fleet_is_empty_a_tenth_to_a_fifth_of_the_time(size, seed):
    assert 0.10 <= make_city(size, days=30, seed=seed).share_empty <= 0.20


@pytest.mark.slow
@pytest.mark.parametrize("size", ["city", "metropolis"])
def test_larger_cities_too(size):
    assert 0.10 <= make_city(size, days=21).share_empty <= 0.20


@pytest.mark.parametrize("switches", [{"spill": False}, {"shocks": "persistent"}, {"days": 90}], ids=str)
def test_variants_of_the_town_too(switches):
    assert 0.10 <= make_city("town", **{"days": 30, **switches}).share_empty <= 0.20


def test_more_vehicles_run_short_less():
    few, many = (make_city("village", days=20, vehicles=number).share_empty for number in (40, 160))
    assert many < 0.5 * few
