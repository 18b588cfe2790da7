"""The truth of the simulated city: daily quantiles agree with what is drawn from it again and again."""

from dataclasses import replace

import numpy as np
import pytest

from unmet.datasets import make_city
from unmet.datasets.city import make_requests
from unmet.papers.mobility._city_truth import hub_truths, sum_by_day
from unmet.papers.mobility._demand import CityDemand, hub_demand


def test_days_are_sums_of_hours():
    assert sum_by_day(np.array([0, 0, 1]), np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 4.0]


def test_quantiles_given_the_weather_hold_their_share_of_other_draws():
    city = make_city("village", days=20, seed=2)
    members = np.arange(len(city.map)) < 6
    (truth,) = hub_truths(city, [members], draws=3)
    inside = []
    for seed in range(100, 160):  # the same rates, other shocks and counts
        requests = make_requests(replace(city.settings, seed=seed), city.map, city.hours, city.rate)
        mine = members[requests.place]
        counts = np.bincount(city.hours.day[requests.second[mine] // 3600], minlength=20)
        inside.append((counts >= truth["weather"][:, 0]) & (counts <= truth["weather"][:, 1]))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_quantiles_given_the_calendar_hold_their_share_of_other_cities():
    """With other weather and events the narrow interval fails and the wide one holds."""
    city = make_city("village", days=28, seed=3)
    members = np.ones(len(city.map), bool)
    (truth,) = hub_truths(city, [members], draws=150)
    narrow, wide = truth["weather"], truth["calendar"]
    assert (wide[:, 1] - wide[:, 0]).mean() > 1.5 * (narrow[:, 1] - narrow[:, 0]).mean()
    latent = sum_by_day(city.hours.day, city.truth.latent.sum(axis=0))
    assert 0.6 < np.mean((latent >= wide[:, 0]) & (latent <= wide[:, 1])) <= 1


def test_no_weather_and_no_events_leave_one_truth():
    city = make_city("village", days=7, seed=1, weather=False, events=0)
    (truth,) = hub_truths(city, [np.ones(len(city.map), bool)], draws=5)
    assert np.allclose(truth["weather"], truth["calendar"], rtol=0.02)


def test_shocks_that_carry_over_are_refused():
    city = make_city("village", days=2, seed=1, shocks="persistent")
    with pytest.raises(ValueError, match="independent"):
        hub_truths(city, [np.ones(len(city.map), bool)])


def test_three_hubs_of_a_city_share_its_latent_demand():
    hubs = hub_demand(CityDemand("village", days=30, draws=3))
    city = make_city("village", days=30, seed=1)
    assert [hub.name for hub in hubs] == ["hub-1", "hub-2", "hub-3"]
    assert sum(hub.latent.sum() for hub in hubs) == city.truth.latent.sum()
    assert hubs[0].latent.sum() >= hubs[1].latent.sum() >= hubs[2].latent.sum()
    assert hubs[0].days[0] == np.datetime64("2024-03-04")
    assert len({hub.checksum for hub in hubs}) == 3
