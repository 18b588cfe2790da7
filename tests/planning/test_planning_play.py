"""Targets played in the city."""

import numpy as np
import pytest

from unmet.datasets.city import even_targets, make_city, morning_targets, replay
from unmet.planning import (
    Played,
    allocate,
    count_played,
    expected_lost,
    gap_closed,
    play_targets,
    play_three,
    visit_targets,
)


@pytest.fixture(scope="module")
def city():
    return make_city("village", days=12, seed=4, rival=True, start="2024-04-01")


def test_its_own_targets_lose_what_the_city_lost(city):
    played = play_targets(city, morning_targets(city), first_day=5, clocks=(2,))
    assert played == count_played(city, 5)
    late = city.hours.day >= 5
    assert played.lost == (city.truth.lost - city.truth.rival)[:, late].sum()
    assert played.requests == (city.truth.latent - city.truth.rival)[:, late].sum()
    assert 0 < played.moved <= len(city.moves)
    assert played.service_level == pytest.approx(1 - played.lost / played.requests)


def test_targets_that_starve_half_the_places_lose_more(city):
    own = morning_targets(city)
    starved = np.where(np.arange(12) % 2, 0, own)
    one, other = (play_targets(city, targets, first_day=2, clocks=(2,)) for targets in (own, starved))
    assert one.requests == other.requests
    assert other.lost > 1.1 * one.lost


def test_targets_of_a_visit_are_the_allocation_for_its_window(city):
    random = np.random.default_rng(1)
    rate, returns = random.gamma(1, 1, city.rate.shape), random.gamma(1, 1, city.rate.shape)
    found = visit_targets(city, rate, 4.0, returns, first_day=8, clocks=(2, 14))
    assert found.shape == (4, 2, 12)
    day = np.flatnonzero(city.hours.day == 9)
    for visit, hours in enumerate((day[4:16], np.arange(day[16], day[16] + 12))):
        curves = expected_lost(rate[:, hours], 4.0, returns[:, hours], capacity=city.capacity)
        best = allocate(city.settings.vehicles, curves, capacity=city.capacity)
        assert (found[1, visit] == best).all()


def test_equal_days_get_equal_targets_and_shapes_matter(city):
    rate = np.tile(city.rate[:, :24], 12)
    found = visit_targets(city, rate, 4.0, 0.3, first_day=9, clocks=(3,))
    assert (found == found[0]).all()
    shapes = np.where(np.arange(12) < 6, 0.5, 50.0)[:, None]
    spread = visit_targets(city, np.full_like(rate, 0.4), shapes, 0.3, first_day=11, clocks=(3,))[0, 0]
    assert len(set(spread[:6].tolist())) <= 3
    assert (spread.sum() == city.settings.vehicles) & (spread <= city.capacity).all()


@pytest.mark.parametrize("clocks", [(), (14, 2), (2, 2)])
def test_clocks_that_do_not_rise_are_refused(city, clocks):
    with pytest.raises(ValueError, match="clocks"):
        visit_targets(city, 1.0, first_day=8, clocks=clocks)


def test_the_gap_by_hand():
    a, b, c = (Played(1000, lost, 0, 0) for lost in (100, 70, 60))
    assert gap_closed(a, b, c) == pytest.approx(0.75)
    assert np.isnan(gap_closed(c, b, a))
    with pytest.raises(ValueError, match="same city"):
        gap_closed(a, b, Played(999, 60, 0, 0))


def test_three_plays_of_a_small_town_whose_vans_knew_nothing():
    town = make_city("town", places=20, days=40, seed=2)
    town = replay(town, even_targets(town))
    steps: list[float] = []
    played = play_three(town, shape=4.0, first_day=26, progress=steps.append)
    assert list(played) == ["observed", "estimated", "true"]
    assert steps == [0.25, 0.5, 0.75, 1]  # three targets, and the replays
    assert len({one.requests for one in played.values()}) == 1
    assert played["true"].lost < played["observed"].lost < count_played(town, 26).lost


def test_the_estimate_given_is_the_one_played(city):
    played = play_three(city, city.rate, 4.0, first_day=8)
    assert abs(played["estimated"].lost - played["true"].lost) <= 0.1 * played["true"].lost


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rates_corrected_for_exposure_close_most_of_the_gap(seed):
    town = make_city("town", days=90, seed=seed)
    town = replay(town, even_targets(town))
    assert 0.10 <= town.share_empty <= 0.20
    played = play_three(town, shape=4.0, first_day=62)
    assert played["true"].lost < 0.97 * played["observed"].lost
    assert gap_closed(**played) >= 0.4
