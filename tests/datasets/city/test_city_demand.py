"""Demand follows the model that docs/explanation/simulated-city.md states."""

import numpy as np
import pytest

from unmet.datasets.city import make_city, make_shocks
from unmet.datasets.city._weather import autoregression


def test_rate_has_the_mean_asked_for_and_counts_follow_it():
    city = make_city("town", days=30, demand=1.7, seed=2)
    assert city.rate.mean() == pytest.approx(1.7)
    assert city.truth.latent.mean() == pytest.approx(1.7, rel=0.02)
    # Variance of a count around its rate: λ + φ λ².
    excess = (city.truth.latent - city.rate) ** 2
    assert excess.mean() == pytest.approx((city.rate + 0.25 * city.rate**2).mean(), rel=0.05)


@pytest.mark.parametrize("shocks", ["independent", "persistent"])
def test_shocks_have_mean_one_and_the_variance_asked_for(shocks):
    settings = make_city("village", days=1, shocks=shocks, dispersion=0.4).settings
    drawn = make_shocks(settings, (2000, 300))
    assert drawn.mean() == pytest.approx(1.0, abs=0.01)
    assert drawn.var() == pytest.approx(0.4, rel=0.05)
    logs = np.log(drawn)
    carried = np.corrcoef(logs[:, :-1].ravel(), logs[:, 1:].ravel())[0, 1]
    assert carried == pytest.approx(0.8 if shocks == "persistent" else 0.0, abs=0.01)


def test_no_dispersion_gives_poisson_counts():
    city = make_city("town", days=30, dispersion=0.0, seed=2)
    assert ((city.truth.latent - city.rate) ** 2).mean() == pytest.approx(city.rate.mean(), rel=0.04)


def test_autoregression_by_hand():
    assert autoregression(np.array([1.0, 0.0, 2.0]), 0.6).tolist() == pytest.approx([1.0, 0.6, 1.96])


def test_commuters_leave_homes_in_the_morning_and_offices_in_the_evening():
    city = make_city("town", days=28, seed=1)
    weekday = ~city.hours.weekend
    morning, evening = (weekday & (city.hours.hour == hour) for hour in (8, 17))
    homes, offices = (city.map.kind == kind for kind in (0, 1))
    latent = city.truth.latent
    assert latent[homes][:, morning].mean() > 3 * latent[offices][:, morning].mean() / 2
    assert latent[offices][:, evening].mean() > 3 * latent[offices][:, morning].mean()
    assert latent[:, weekday & (city.hours.hour == 3)].mean() < 0.2 * latent.mean()


def test_rain_keeps_people_away_and_weather_can_be_switched_off():
    city = make_city("town", days=60, seed=1, events=0)
    assert city.weather is not None
    wet = city.weather.rain > 0.5
    assert 0.02 < wet.mean() < 0.3
    dry_city = make_city("town", days=60, seed=1, events=0, weather=False)
    ratio = (city.rate / dry_city.rate)[0]
    assert ratio[wet].mean() < 0.7 * ratio[~wet].mean()


def test_events_raise_demand_nearby():
    calm, lively = (make_city("village", days=30, seed=1, events=number, weather=False) for number in (0, 20))
    assert calm.events == ()
    event = lively.events[0]
    raised = lively.rate / calm.rate
    assert raised[event.place, event.first_hour] > 1.3 * np.median(raised)


def test_nobody_rides_to_where_they_are_and_rides_take_minutes():
    rides = make_city("village", days=20, seed=1, docks=12.0).rides  # a full dock may send riders back
    assert (rides.origin != rides.destination).all()
    assert (rides.end - rides.start).min() >= 120
    assert (rides.end - rides.start).max() < 86_400


def test_days_of_23_and_25_hours():
    assert len(make_city("village", days=1, start="2024-03-10").hours) == 23
    autumn = make_city("village", days=1, start="2024-11-03")
    assert len(autumn.hours) == 25
    assert autumn.hours.hour.tolist()[:4] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"size": "hamlet"}, "size"),
        ({"places": 1}, "places"),
        ({"days": 0}, "days"),
        ({"days": 1.5}, "days"),
        ({"seed": -1}, "seed"),
        ({"vehicles": 0}, "vehicles"),
        ({"demand": 0.0}, "demand"),
        ({"demand": float("nan")}, "demand"),
        ({"rival": 1.0}, "rival"),
        ({"shocks": "odd"}, "shocks"),
        ({"dispersion": -1.0}, "dispersion"),
        ({"persistence": 1.0}, "persistence"),
        ({"walk": 0.0}, "walk"),
        ({"docks": 1.0}, "docks"),
        ({"start": "yesterday"}, "start"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"zone": "Asia/Kolkata"}, "zone"),
        ({"centre": (100.0, 0.0)}, "centre"),
    ],
)
def test_wrong_settings_are_named(wrong, word):
    with pytest.raises(ValueError, match=word):
        make_city(**{"size": "village", **wrong})
