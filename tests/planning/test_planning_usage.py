"""What a planner reads out of a city's history."""

import numpy as np
import pytest

from unmet.datasets.city import make_city
from unmet.planning import day_windows, hour_of_week, hourly_exposure, hourly_returns, weekly_rates


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


def test_hour_of_week_follows_the_local_clock(city):
    hours = hour_of_week(city)
    assert hours[0] == 2 * 24
    assert (hours % 24 == city.hours.hour).all()
    assert ((hours >= 120) == city.hours.weekend).all()


def test_weekly_rates_by_hand():
    hours = np.arange(336) % 168
    count, open_ = np.zeros((2, 336)), np.ones((2, 336))
    count[0, [5, 173]] = 3, 1
    open_[0, 173] = 0.25
    plain = weekly_rates(count, open_, hours, prior=0.0 + 1e-12)
    assert plain[0, 5] == pytest.approx(4 / 1.25)
    assert plain[0, 6] == pytest.approx(0, abs=1e-9)
    shrunk = weekly_rates(count, open_, hours, prior=1.0)
    pattern = 4 / 3.25  # of the whole city in that hour
    level = 4 / (1.25 * pattern)
    assert shrunk[0, 5] == pytest.approx((4 + level * pattern) / 2.25)


def test_exposure_brings_the_rates_nearer_to_the_truth():
    city = make_city("town", places=20, days=28, weather=False, events=0, spill=False)
    hours = hour_of_week(city)
    truth = weekly_rates(city.rate, np.ones_like(city.rate), hours, prior=1e-9)
    served = weekly_rates(city.truth.served, np.ones_like(city.rate), hours)
    aware = weekly_rates(city.truth.served, hourly_exposure(city), hours)
    bias = [abs(rates.sum() / truth.sum() - 1) for rates in (served, aware)]
    assert bias[1] < 0.4 * bias[0]


def test_windows_run_from_four_to_four(city):
    index = day_windows(city, 3)
    assert index.shape == (6, 24)
    assert (city.hours.hour[index[:, 0]] == 4).all()
    assert (city.hours.day[index[:, 0]] == np.arange(3, 9)).all()
    assert index.max() < len(city.hours)
    assert (np.diff(index[:-1], axis=1) == 1).all()
