"""What a planner reads out of a city's history."""

import numpy as np
import pytest

from unmet.datasets.city import make_city
from unmet.planning import (
    hour_class,
    hourly_exposure,
    hourly_returns,
    rates_by_class,
    usual_rates,
    visit_windows,
)


@pytest.fixture(scope="module")
def city():
    return make_city("village", days=9, start="2024-03-06", seed=2)  # a Wednesday; the clock goes forward


def test_exposure_second_by_second(city):
    found = hourly_exposure(city)
    for place in (0, 5, 11):
        mine = city.stock.place == place
        change, stock = city.stock.second[mine], city.stock.available[mine]
        level = np.repeat(stock, np.diff(np.append(change, city.hours.seconds)))
        assert found[place] == pytest.approx((level > 0).reshape(-1, 3600).mean(axis=1))
    assert 0 <= found.min() < found.max() == 1
    assert 1 - found.mean() == pytest.approx(city.share_empty)


def test_where_nobody_was_turned_away_demand_was_served():
    city = make_city("village", days=3, spill=False)
    always = hourly_exposure(city) == 1
    assert (city.truth.served[always] == city.truth.latent[always]).all()


def test_returns_are_the_rides_that_ended(city):
    found = hourly_returns(city)
    assert found.sum() == (city.rides.end < city.hours.seconds).sum()
    one = (city.rides.destination == 4) & (city.rides.end // 3600 == 30)
    assert found[4, 30] == one.sum()


def test_classes_follow_the_local_clock(city):
    classes = hour_class(city)
    assert (classes % 24 == city.hours.hour).all()
    assert ((classes >= 24) == city.hours.weekend).all()


def test_rates_by_hand():
    classes = np.arange(96) % 48
    count, open_ = np.zeros((2, 96)), np.ones((2, 96))
    count[0, [5, 53]] = 3, 1
    open_[0, 53] = 0.25
    plain = rates_by_class(count, open_, classes, prior=0.0)
    assert plain[0, 5] == pytest.approx(4 / 1.25)
    assert plain[0, 6] == 0
    shrunk = rates_by_class(count, open_, classes, prior=1.0)
    pattern = 4 / 3.25  # of the whole city in that hour
    level = 4 / (1.25 * pattern)
    assert shrunk[0, 5] == pytest.approx((4 + level * pattern) / 2.25)


@pytest.fixture(scope="module")
def town():
    return make_city("town", places=20, days=35, weather=False, events=0, spill=False)


def test_exposure_brings_the_rates_nearer_to_the_truth(town):
    late = town.hours.day >= 28
    served = usual_rates(town, town.truth.served, 28)
    aware = usual_rates(town, town.truth.served, 28, exposure=hourly_exposure(town))
    assert served.shape == town.rate.shape
    bias = [abs(rates[:, late].sum() / town.rate[:, late].sum() - 1) for rates in (served, aware)]
    assert bias[1] < 0.5 * bias[0]


def test_nothing_from_the_first_day_on_is_read(town):
    changed = town.truth.served.copy()
    changed[:, town.hours.day >= 20] = 99
    before, after = (usual_rates(town, count, 20) for count in (town.truth.served, changed))
    assert (before == after).all()
    with pytest.raises(ValueError, match="first_day"):
        usual_rates(town, changed, 0)


def test_windows_run_from_clock_to_clock(city):
    index = visit_windows(city, 3, 4, 24)
    assert index.shape == (6, 24)
    assert (city.hours.hour[index[:, 0]] == 4).all()
    assert (city.hours.day[index[:, 0]] == np.arange(3, 9)).all()
    assert (np.diff(index[:-1], axis=1) == 1).all()
    assert (city.hours.hour[index[1:]] == np.arange(4, 28) % 24).all()  # a clock is changed in the first
    later = visit_windows(city, 7, 26, 30)
    assert (city.hours.hour[later] == np.arange(26, 56) % 24).all()
    assert later.max() < len(city.hours)
