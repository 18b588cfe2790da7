"""How many requests few vehicles serve, measured from pickups at each stock."""

import numpy as np
import pytest

from unmet.mobility.panel._served_share import LEVELS, fit_served


def city(served: np.ndarray, seed: int = 0, spread: float = 0.0) -> tuple[np.ndarray, ...]:
    """Return time and rides by stock of 30 places over 40 days; places differ in hours, days and levels."""
    rng = np.random.default_rng(seed)
    hours = np.arange(40 * 24)
    cell, day = hours % 24, hours // 24
    rate = rng.gamma(4, 0.25, (30, 1)) * (1 + np.sin(2 * np.pi * cell / 24)) * rng.gamma(9, 1 / 9, 40)[day]
    if spread:
        rate = rate * rng.gamma(1 / spread, spread, (30, 40))[:, day]
    # Stock is high in busy hours, so that a rate by stock alone would mislead.
    mean = 2 + 12 * np.sin(2 * np.pi * cell / 24) ** 2
    stock = np.clip(rng.poisson(mean, rate.shape), 1, LEVELS) - 1
    time = np.zeros((30, LEVELS, len(hours)))
    np.put_along_axis(time, stock[:, None], 1.0, axis=1)
    return time, time * rng.poisson(rate * served[stock])[:, None], cell, day


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_the_share_that_refuses_a_vehicle_is_found(share: float):
    true = 1 - share ** np.arange(1, LEVELS + 1)
    found = fit_served(*city(true, spread=0.1))
    assert found == pytest.approx(true, abs=0.06)
    assert found[-1] == 1


def test_those_who_refuse_one_vehicle_may_refuse_others():
    more = np.arange(LEVELS)
    true = 1 - np.cumprod((0.6 + 0.15 * more) / (1 + 0.15 * more))
    true /= true[-1]
    found = fit_served(*city(true))
    assert found == pytest.approx(true, abs=0.08)
    assert found[1] < 1 - (1 - found[0]) ** 2 - 0.02


def test_a_share_that_grows_up_to_many_vehicles_is_given_relative_to_many():
    more = np.arange(LEVELS)
    true = 1 - np.cumprod((0.87 + more) / (1 + more))  # as in the Bay Area
    true /= true[-1]
    found = fit_served(*city(true))
    assert found == pytest.approx(true, abs=0.1)
    assert found[7] < 0.93  # eight vehicles are not many yet


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_where_every_vehicle_serves_nobody_is_refused(spread: float):
    assert (fit_served(*city(np.ones(LEVELS), seed=2, spread=spread)) == 1).all()


def busy_hours(refusal: float, spread: float = 0.5) -> tuple[np.ndarray, ...]:
    """Return time and rides of places whose hours begin with one to six vehicles and have own levels.

    A busy hour uses up its vehicles, so that stock is low because demand is high.
    """
    rng = np.random.default_rng(7)
    places, hours = 25, np.arange(40 * 24)
    time, rides = np.zeros((places, LEVELS, len(hours))), np.zeros((places, LEVELS, len(hours)))
    level = rng.gamma(1 / spread, spread, (places, len(hours)))
    begins = rng.integers(1, 7, level.shape)
    for place, hour in np.ndindex(level.shape):
        left = 1.0
        for stock in range(begins[place, hour], 0, -1):
            wait = rng.exponential(1 / (2 * level[place, hour] * (1 - refusal**stock) + 1e-9))
            time[place, stock - 1, hour] += min(wait, left)
            left -= wait
            if left <= 0:
                break
            rides[place, stock - 1, hour] += 1
    return time, rides, hours % 24, hours // 24


def test_busy_hours_that_use_up_their_vehicles_do_not_hide_who_refuses():
    assert 1 - fit_served(*busy_hours(0.4))[0] == pytest.approx(0.4, abs=0.04)
    assert (fit_served(*busy_hours(0.0)) == 1).all()
